import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../shared/clock.js';
import type { Config } from '../shared/config/load.js';
import type { Role } from '../shared/roles.js';
import { claimAt, nameIn, rolesIn, tenantsIn } from './claims.js';
import { SignInUnavailableError, TokenRefusedError } from './errors.js';
import { ProviderDocuments } from './provider-documents.js';
import { ProviderKeys } from './provider-keys.js';

export interface SignInOptions {
  /** As tokens name it. */
  readonly issuer: string;
  readonly audience: string;
  readonly keysUrl?: URL | undefined;
  /** Where the roles and the tenants are in a token: see claimAt(). No claim of tenants: all of them are allowed. */
  readonly rolesClaim: string;
  readonly tenantsClaim?: string | undefined;
  readonly roleMap?: ReadonlyMap<string, Role | undefined> | undefined;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** For one look at the provider, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /** See ProviderKeysOptions. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/** Who has signed in. */
export interface SignedIn {
  readonly name: string;
  /** With those that they include. */
  readonly roles: ReadonlySet<Role>;
  /** Undefined: all. */
  readonly tenants: ReadonlySet<string> | undefined;
  /** How long the token is accepted from now on. */
  readonly validForMs: number;
}

/** Signatures that only the provider can make: no `none`, and nothing that a public key could sign (HS256). */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Kinds of tokens (`typ`) that say who sends a request (RFC 9068); others, such as proofs and logout tokens, do not. */
const TYPES: ReadonlySet<string | undefined> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

/** What Keycloak calls its other tokens, in the claim `typ`. It signs them with the same key. */
const OTHER_KINDS: ReadonlySet<unknown> = new Set(['ID', 'Refresh', 'Offline', 'Logout']);

/** Claims that only ID tokens have (OpenID Connect Core 1.0 § 3.3.2.11). */
const OF_ID_TOKENS = ['at_hash', 'c_hash'];

/** How far the clocks of provider and gateway may be apart, in seconds. */
const CLOCK_SKEW_S = 30;

/** Checks access tokens of one OpenID provider, by its keys. */
export class SignIn {
  readonly #options: SignInOptions;
  readonly #documents: ProviderDocuments;
  readonly #keys: ProviderKeys;

  constructor(options: SignInOptions) {
    this.#options = options;
    const { clock, onAway, onBack } = options;
    this.#documents = new ProviderDocuments(options);
    this.#keys = new ProviderKeys({ read: () => this.#documents.keys(), clock, onAway, onBack });
  }

  /** Reads the keys ahead of the first token. */
  prefetch(): void {
    this.#keys.prefetch();
  }

  /** Whether a token says, unproven, that it is of this provider; others may be meant for the broker. */
  isOurs(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#options.issuer;
    } catch {
      return false;
    }
  }

  /**
   * Who a token stands for.
   *
   * @throws TokenRefusedError, SignInUnavailableError
   */
  async verify(token: string): Promise<SignedIn> {
    const { rolesClaim, tenantsClaim, roleMap, clock } = this.#options;
    const claims = await this.#claimsOf(token);
    return {
      name: nameIn(claims),
      roles: rolesIn(claimAt(claims, rolesClaim), roleMap),
      tenants: tenantsClaim === undefined ? undefined : tenantsIn(claimAt(claims, tenantsClaim)),
      validForMs: Math.max(0, ((claims.exp ?? 0) + CLOCK_SKEW_S) * 1000 - clock.now()),
    };
  }

  close(): Promise<void> {
    return this.#documents.close();
  }

  async #claimsOf(token: string): Promise<JWTPayload> {
    const { issuer, audience, clock } = this.#options;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys.find, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
        clockTolerance: CLOCK_SKEW_S,
        currentDate: new Date(clock.now()),
      });
      if (!TYPES.has(protectedHeader.typ?.toLowerCase()) || isForClients(payload))
        throw new TokenRefusedError('It is of another kind than access tokens.');
      return payload;
    } catch (error) {
      if (error instanceof SignInUnavailableError || error instanceof TokenRefusedError) throw error;
      // Errors of jose hold the claims, which must not get into a log: none is kept as a cause.
      throw new TokenRefusedError(reasonOf(error));
    }
  }
}

/** Whether a token tells a client who has signed in, or gets it new tokens: no service may take it. */
function isForClients(claims: JWTPayload): boolean {
  return OTHER_KINDS.has(claims['typ']) || OF_ID_TOKENS.some((name) => Object.hasOwn(claims, name));
}

/** Why a token was refused. Whatever else went wrong with it, nobody is let in. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'It has expired.';
  if (error instanceof errors.JWTClaimValidationFailed)
    return REASONS_BY_CLAIM[error.claim] ?? 'A claim is wrong.';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'It is not signed in a way that is accepted here.';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'Its signature is wrong.';
  if (error instanceof errors.JWKSNoMatchingKey) return 'The provider has no such key.';
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'It does not say which key of the provider signed it.';
  return 'It is not a signed JSON Web Token.';
}

const REASONS_BY_CLAIM: Readonly<Record<string, string | undefined>> = {
  iss: 'It is of another issuer.',
  aud: 'It is for another audience.',
  nbf: 'It is not valid yet.',
  exp: 'It does not say when it expires.',
};

/** Sign-in as the configuration has it; undefined where nobody signs in. */
export function openSignIn(
  config: Config,
  options: Pick<SignInOptions, 'clock' | 'onAway' | 'onBack' | 'timeoutMs'>,
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
