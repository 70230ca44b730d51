import { ROLES, type Role } from '../shared/roles.js';
import { RoleMissingError, TenantRefusedError } from './errors.js';
import type { Identity } from './token-verifier.js';

/**
 * How a route is restricted to the tenants of a token:
 *
 * - `asked`: the request names its tenants, in a header or its body; other tenants are refused;
 * - `listed`: only items of these tenants are shown or counted;
 * - `purge`, `scan`, `retentionPolicy`, `writePolicy`: the path names such an item, and its tenant decides.
 */
type TenantRule = 'asked' | 'listed' | TenantResource;
export type TenantResource = 'purge' | 'scan' | 'retentionPolicy' | 'writePolicy';

export interface RouteRule {
  /**
   * The caller needs one of these roles. If the list is empty, any signed-in caller is allowed. `open` allows everybody,
   * because brokers, monitoring systems, and browsers before they have signed in use such a route.
   */
  readonly roles: readonly Role[] | 'open';
  /** Empty if the route's items have no tenant. */
  readonly tenants: readonly TenantRule[];
  /** Whether the route needs the gateway token, if there is one and sign-in is off. */
  readonly needsToken: boolean;
}

const OPEN: RouteRule = { roles: 'open', tenants: [], needsToken: false };
const SIGNED_IN: RouteRule = { roles: [], tenants: [], needsToken: true };

/** Models are the same for all tenants, and clients that only read them need no token. */
const READS_MODELS: RouteRule = { roles: ['viewer'], tenants: [], needsToken: false };
const WRITES_MODELS = ruleFor('modeller');

const viewer = (...tenants: readonly TenantRule[]) => ruleFor('viewer', tenants);
const modeller = (...tenants: readonly TenantRule[]) => ruleFor('modeller', tenants);
const purger = (...tenants: readonly TenantRule[]) => ruleFor('purger', tenants);
/** Scans judge stored data by models, so they serve both those who write models and those who delete data. */
const scanner = (...tenants: readonly TenantRule[]): RouteRule => ({
  ...purger(...tenants),
  roles: ['modeller', 'purger'],
});

function ruleFor(role: Role, tenants: readonly TenantRule[] = []): RouteRule {
  return { roles: [role], tenants, needsToken: true };
}

/**
 * Every route of the gateway, and who may use it if sign-in is on. HEAD follows GET. Requests passed to the broker are not
 * listed.
 */
export const ROUTE_RULES: Readonly<Record<string, RouteRule>> = {
  'GET /': OPEN,
  'GET /console': OPEN,
  'GET /console/*': OPEN,
  'GET /health/live': OPEN,
  'GET /health/ready': OPEN,
  'GET /metrics': OPEN,
  'GET /api/v2/status': OPEN,
  'GET /api/v2/openapi.json': OPEN,
  'GET /api/v2/me': SIGNED_IN,

  'DELETE /ngsi-ld/v1/entities': purger('asked'),
  'DELETE /ngsi-ld/v1/entities/': purger('asked'),
  'DELETE /ngsi-ld/v1/temporal/entities': purger('asked'),
  'DELETE /ngsi-ld/v1/temporal/entities/': purger('asked'),

  'GET /api/v2/purges': viewer('listed'),
  'POST /api/v2/purges': purger('asked'),
  'GET /api/v2/purges/:purge': viewer('purge'),
  'PATCH /api/v2/purges/:purge': purger('purge'),
  'POST /api/v2/purges/:purge/cancel': purger('purge'),
  'GET /api/v2/purges/:purge/events': viewer('purge'),
  'GET /api/v2/purges/:purge/ids': viewer('purge'),
  'DELETE /api/v2/purges/:purge/ids': purger('purge'),
  // An archive holds deleted data, which not everybody who may see records may be allowed to read from the broker.
  'GET /api/v2/purges/:purge/archive': purger('purge'),
  'DELETE /api/v2/purges/:purge/archive': purger('purge'),
  'POST /api/v2/purges/:purge/restore': purger('purge'),

  'GET /api/v2/scans': viewer('listed'),
  'POST /api/v2/scans': scanner('asked'),
  'GET /api/v2/scans/:scan': viewer('scan'),
  'PATCH /api/v2/scans/:scan': scanner('scan'),
  'POST /api/v2/scans/:scan/cancel': scanner('scan'),
  'GET /api/v2/scans/:scan/events': viewer('scan'),
  'GET /api/v2/scans/:scan/entities': viewer('scan'),

  'GET /api/v2/retention-policies': viewer('listed'),
  'POST /api/v2/retention-policies': purger('asked'),
  'POST /api/v2/retention-policies/preview': purger('asked'),
  'GET /api/v2/retention-policies/:retentionPolicy': viewer('retentionPolicy'),
  'PUT /api/v2/retention-policies/:retentionPolicy': purger('retentionPolicy', 'asked'),
  'DELETE /api/v2/retention-policies/:retentionPolicy': purger('retentionPolicy'),
  // This preview is a dry run with a record.
  'GET /api/v2/retention-policies/:retentionPolicy/preview': purger('retentionPolicy'),
  'POST /api/v2/retention-policies/:retentionPolicy/run': purger('retentionPolicy'),
  'GET /api/v2/retention-policies/:retentionPolicy/runs': viewer('retentionPolicy', 'listed'),

  'GET /api/v2/write-policies': viewer('listed'),
  'POST /api/v2/write-policies': modeller('asked'),
  'GET /api/v2/write-policies/:writePolicy': viewer('writePolicy'),
  'PUT /api/v2/write-policies/:writePolicy': modeller('writePolicy', 'asked'),
  'DELETE /api/v2/write-policies/:writePolicy': modeller('writePolicy'),
  'GET /api/v2/write-checks': viewer('listed'),

  'GET /api/v2/domains': READS_MODELS,
  'POST /api/v2/domains': WRITES_MODELS,
  'GET /api/v2/domains/:domain': READS_MODELS,
  'PUT /api/v2/domains/:domain': WRITES_MODELS,
  'DELETE /api/v2/domains/:domain': WRITES_MODELS,
  // Brokers fetch an @context for every request that names it, and have no token.
  'GET /api/v2/domains/:domain/context': OPEN,
  'OPTIONS /api/v2/domains/:domain/context': OPEN,
  'GET /api/v2/domains/:domain/context/warnings': READS_MODELS,
  'GET /api/v2/models': READS_MODELS,
  'GET /api/v2/domains/:domain/models': READS_MODELS,
  'POST /api/v2/domains/:domain/models': WRITES_MODELS,
  'GET /api/v2/domains/:domain/models/:model': READS_MODELS,
  'PUT /api/v2/domains/:domain/models/:model': WRITES_MODELS,
  'DELETE /api/v2/domains/:domain/models/:model': WRITES_MODELS,
  'GET /api/v2/domains/:domain/models/:model/schema': READS_MODELS,
  'GET /api/v2/domains/:domain/models/:model/openapi': READS_MODELS,
  'GET /api/v2/domains/:domain/models/:model/context': OPEN,
  'OPTIONS /api/v2/domains/:domain/models/:model/context': OPEN,
  'GET /api/v2/domains/:domain/models/:model/versions': READS_MODELS,
  'GET /api/v2/domains/:domain/models/:model/versions/diff': READS_MODELS,
  'GET /api/v2/domains/:domain/models/:model/files': READS_MODELS,
  'GET /api/v2/domains/:domain/models/:model/files/:file': READS_MODELS,
  'GET /api/v2/domains/:domain/models/:model/examples': READS_MODELS,
  'GET /api/v2/domains/:domain/models/:model/examples/:example': READS_MODELS,
  'PUT /api/v2/domains/:domain/models/:model/examples/:example': WRITES_MODELS,
  'DELETE /api/v2/domains/:domain/models/:model/examples/:example': WRITES_MODELS,
  'GET /api/v2/contexts': READS_MODELS,
  'POST /api/v2/contexts': WRITES_MODELS,
  'GET /api/v2/contexts/:context': OPEN,
  'OPTIONS /api/v2/contexts/:context': OPEN,
  'PUT /api/v2/contexts/:context': WRITES_MODELS,
  'DELETE /api/v2/contexts/:context': WRITES_MODELS,
  'GET /api/v2/references': READS_MODELS,
  'PUT /api/v2/references': WRITES_MODELS,
  'DELETE /api/v2/references': WRITES_MODELS,
  'POST /api/v2/import': WRITES_MODELS,
  'GET /api/v2/export': READS_MODELS,
  'OPTIONS /api/v2/openapi.json': OPEN,
  'POST /api/v2/workbench/schema/infer': READS_MODELS,
  'POST /api/v2/workbench/jsonld/expand': READS_MODELS,
  'POST /api/v2/workbench/jsonld/compact': READS_MODELS,
  'POST /api/v2/validate': READS_MODELS,
  'POST /api/v2/validate/:domain/:model': READS_MODELS,
};

/**
 * Returns the rule of a route. Every route is looked up when it is registered, so that none is served without a rule.
 *
 * @param url as registered, with `:name` parameters
 * @throws Error for a route that is not in the table
 */
export function ruleOf(method: string, url: string): RouteRule {
  const key = `${method === 'HEAD' ? 'GET' : method} ${url}`;
  const rule = Object.hasOwn(ROUTE_RULES, key) ? ROUTE_RULES[key] : undefined;
  if (rule === undefined) throw new Error(`ROUTE_RULES has no rule for ${key}.`);
  return rule;
}

/** The sender of a request, and what they may do. */
export interface Caller extends Identity {
  /** Whether to forward the Authorization header to the broker. An access token is for the gateway, not for the broker. */
  readonly forwardsAuthorization: boolean;
  readonly client: Client;
}

/** Where a request comes from, for records. Unknown members are missing. */
export interface Client {
  readonly clientAddress?: string;
  readonly userAgent?: string;
}

/** The roles of a caller for whom the gateway in front vouches, or of everybody if sign-in is off. */
export const ALL_ROLES: ReadonlySet<Role> = new Set(ROLES);

/** Checks that the caller has a role that the rule requires. @throws RoleMissingError */
export function requireRole({ name, roles }: Caller, rule: RouteRule): void {
  if (rule.roles === 'open' || rule.roles.length === 0 || rule.roles.some((role) => roles.has(role))) return;
  const ownRoles = roles.size === ALL_ROLES.size ? ['admin' as const] : roles;
  throw new RoleMissingError(name, ownRoles, rule.roles);
}

/**
 * Checks that the caller may work on the given tenants.
 *
 * @param tenants of the requested item; `""` is the default tenant
 * @param what the item, as in "The purge belongs to a tenant …"
 * @throws TenantRefusedError
 */
export function requireTenants(caller: Caller, tenants: readonly string[], what: string): void {
  if (caller.tenants === undefined) return;
  if (tenants.every((tenant) => caller.tenants?.has(tenant) === true)) return;
  throw new TenantRefusedError(
    `${what} belongs to a tenant that the access token of ${caller.name} does not name. Nothing was done.`,
  );
}

/**
 * Returns the tenants named in the headers of a request, any of which a broker may use. Without one, returns the default
 * tenant.
 */
export function tenantsOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): readonly string[] {
  const named = [headers['ngsild-tenant'], headers['fiware-service']].flatMap((value) => value ?? []);
  return named.length === 0 ? [''] : named;
}
