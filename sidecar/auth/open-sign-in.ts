import type { Clock } from '../shared/clock.js';
import type { Config } from '../shared/config/load.js';
import { SignIn, type SignInOptions } from './sign-in.js';

/** Sign-in as the configuration has it; undefined where nobody signs in. */
export function openSignIn(
  config: Config,
  options: Pick<SignInOptions, 'onAway' | 'onBack' | 'timeoutMs'> & { readonly clock: Pick<Clock, 'now'> },
): SignIn | undefined {
  const { AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = config;
  // The one is never without the other.
  if (issuer === undefined || audience === undefined) return undefined;
  const signIn = new SignIn({
    issuer,
    audience,
    keysUrl: config.AUTH_JWKS_URL,
    rolesClaim: config.AUTH_ROLES_CLAIM,
    tenantsClaim: config.AUTH_TENANTS_CLAIM,
    roleMap: config.AUTH_ROLE_MAP,
    ...options,
  });
  signIn.prefetch();
  return signIn;
}
