import { ROLES, type Role } from '../shared/roles.js';
import { RoleMissingError, TenantRefusedError } from './errors.js';
import type { SignedIn } from './sign-in.js';

/**
 * How a route keeps to the tenants of a token:
 *
 * - `asked`: the request names the tenants that it is about, in a header or its body; another one is refused;
 * - `listed`: only what is of these tenants is shown or counted;
 * - `purge`, `scan`, `retentionPolicy`, `writePolicy`: the path names such a thing, whose tenant decides.
 */
type TenantRule = 'asked' | 'listed' | OwnedThing;
export type OwnedThing = 'purge' | 'scan' | 'retentionPolicy' | 'writePolicy';

export interface RouteRule {
  /**
   * The roles of which a person needs one; none of them: whoever has signed in; `open`: everybody, signed in or not, since
   * brokers, monitoring systems and browsers that have not signed in yet read it.
   */
  readonly roles: readonly Role[] | 'open';
  /** Empty: what it is about has no tenant. */
  readonly tenants: readonly TenantRule[];
  /** Whether it needs the gateway token, where there is one and nobody signs in. */
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
/** Scans judge what is stored by models, and are worth the same to those who write models and to those who clean up. */
const scanner = (...tenants: readonly TenantRule[]): RouteRule => ({
  ...purger(...tenants),
  roles: ['modeller', 'purger'],
});

function ruleFor(role: Role, tenants: readonly TenantRule[] = []): RouteRule {
  return { roles: [role], tenants, needsToken: true };
}

/** Every route of the gateway, and who may use it where people sign in. HEAD is as GET. What passes to the broker is not here. */
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
  // It holds what was deleted, which a broker may not show to everybody who may look at records.
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
  // A dry run, with a record.
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
  // Brokers fetch an @context with every request that names it, and have no token.
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
 * The rule of a route. Every route is looked up when it is registered, so that none is served without one.
 *
 * @param url as it was registered, with `:name` parameters
 * @throws Error for a route that is not in the table
 */
export function ruleOf(method: string, url: string): RouteRule {
  const key = `${method === 'HEAD' ? 'GET' : method} ${url}`;
  const rule = Object.hasOwn(ROUTE_RULES, key) ? ROUTE_RULES[key] : undefined;
  if (rule === undefined) throw new Error(`ROUTE_RULES has no rule for ${key}.`);
  return rule;
}

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
