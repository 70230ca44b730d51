import { ROLES, type Role } from '../shared/roles.js';
import { RoleMissingError, TenantRefusedError } from './errors.js';
import type { RouteRule } from './route-rules.js';
import type { SignedIn } from './sign-in.js';

/** Who sends a request, and what they may do. */
export interface Caller extends SignedIn {
  /** Whether the Authorization of the request is for the broker; an access token is for the gateway. */
  readonly forwardsAuthorization: boolean;
  readonly client: Client;
}

/** Where a request comes from, for records; empty where they do not say it. */
export interface Client {
  readonly clientAddress?: string;
  readonly userAgent?: string;
}

/** Those of a caller for whom the gateway in front vouches, or of everybody where nobody has to sign in. */
export const ALL_ROLES: ReadonlySet<Role> = new Set(ROLES);

/** @throws RoleMissingError */
export function requireRole({ name, roles }: Caller, rule: RouteRule): void {
  if (rule.roles === 'open' || rule.roles.length === 0 || rule.roles.some((role) => roles.has(role))) return;
  const own = roles.size === ALL_ROLES.size ? ['admin' as const] : roles;
  throw new RoleMissingError(name, own, rule.roles);
}

/**
 * Refuses what is of tenants that a caller may not work on.
 *
 * @param tenants of what is asked for; `""` is the default one
 * @param what it is, as in "The purge is of a tenant …"
 * @throws TenantRefusedError
 */
export function requireTenants(caller: Caller, tenants: readonly string[], what: string): void {
  if (caller.tenants === undefined) return;
  if (tenants.every((tenant) => caller.tenants?.has(tenant) === true)) return;
  throw new TenantRefusedError(
    `${what} is of a tenant that the access token of ${caller.name} does not name. Nothing was done.`,
  );
}

/** The tenants that the headers of a request name, each of which a broker may go by; without one, the default tenant. */
export function tenantsOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): readonly string[] {
  const named = [headers['ngsild-tenant'], headers['fiware-service']].flatMap((value) => value ?? []);
  return named.length === 0 ? [''] : named;
}
