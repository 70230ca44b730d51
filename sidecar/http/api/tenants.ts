import type { FastifyRequest } from 'fastify';
import {
  type Caller,
  type OwnedThing,
  requireTenants,
  ruleOf,
  TenantRefusedError,
} from '../../auth/index.js';
import type { PurgeService } from '../../jobs/purge-service.js';
import type { RetentionService } from '../../jobs/retention/retention-service.js';
import type { ScanService } from '../../scans/scan-service.js';
import { GatewayError } from '../../shared/errors.js';
import type { JobRecord, Page, Paged } from '../../store/index.js';
import type { WritePolicyService } from '../../write-checks/index.js';

/** How requests keep to the tenants that the access token of their caller names: see TenantRule. */

export interface TenantGuardOptions {
  readonly purges: Pick<PurgeService, 'get'>;
  readonly scans: Pick<ScanService, 'get'>;
  readonly retention: Pick<RetentionService, 'get'>;
  readonly writePolicies: Pick<WritePolicyService, 'get'>;
}

/** The tenants of something; undefined: it is for all of them. */
type Owners = readonly string[] | undefined;

const THINGS: Readonly<Record<OwnedThing, string>> = {
  purge: 'The purge',
  scan: 'The scan',
  retentionPolicy: 'The retention policy',
  writePolicy: 'The write policy',
};

/** Refuses requests whose path names something of a tenant that their caller may not work on. */
export function tenantGuard(options: TenantGuardOptions): (request: FastifyRequest) => Promise<void> {
  const { purges, scans, retention, writePolicies } = options;
  const owners: Readonly<Record<OwnedThing, (name: string) => Promise<Owners>>> = {
    purge: async (id) => tenantsOfJob(await purges.get(id)),
    scan: async (id) => tenantsOfJob(await scans.get(id)),
    retentionPolicy: async (name) => [(await retention.get(name)).settings.tenant ?? ''],
    writePolicy: async (name) => {
      const { tenant } = (await writePolicies.get(name)).settings;
      return tenant === undefined ? undefined : [tenant];
    },
  };
  return async (request) => {
    const { caller, method, routeOptions, is404 } = request;
    if (caller.tenants === undefined || is404) return;
    const rule = ruleOf(method, routeOptions.url ?? '').tenants.find(isThing);
    if (rule === undefined) return;
    const name = (request.params as Readonly<Record<OwnedThing, string>>)[rule];
    requireOwners(caller, await owners[rule](name).catch(noOwners), rule, method);
  };
}

/** The tenants whose records a list may show. @param tenant the one that is asked for @throws TenantRefusedError */
export function listedTenants({ caller }: FastifyRequest, tenant?: string) {
  if (tenant !== undefined) requireTenants(caller, [tenant], 'What is asked for');
  return { tenants: caller.tenants };
}

/** Whether a list may show a record. */
export function isListed({ caller: { tenants } }: FastifyRequest, record: JobRecord): boolean {
  return tenants === undefined || tenantsOfJob(record)?.every((tenant) => tenants.has(tenant)) === true;
}

/**
 * A page of the policies that a caller may see. There are few: where only some are shown, they are picked here.
 *
 * @param tenantOf undefined: it is for all tenants
 */
export async function visiblePolicies<Policy>(
  { caller: { tenants } }: FastifyRequest,
  { limit, offset }: Page,
  list: (page: Page) => Promise<Paged<Policy>>,
  tenantOf: (policy: Policy) => string | undefined,
): Promise<Paged<Policy>> {
  if (tenants === undefined) return list({ limit, offset });
  const { items } = await list({ limit: Number.MAX_SAFE_INTEGER, offset: 0 });
  const visible = items.filter((policy) => {
    const tenant = tenantOf(policy);
    return tenant === undefined || tenants.has(tenant);
  });
  return { items: visible.slice(offset, offset + limit), total: visible.length };
}

/**
 * Refuses a policy that is about tenants that its author may not work on.
 *
 * @param tenant undefined: all of them
 * @throws TenantRefusedError
 */
export function requirePolicyTenant(
  { caller }: FastifyRequest,
  tenant: string | undefined,
  thing: OwnedThing,
): void {
  requireOwners(caller, tenant === undefined ? undefined : [tenant], thing, 'PUT');
}

function requireOwners(caller: Caller, owners: Owners, thing: OwnedThing, method: string): void {
  if (caller.tenants === undefined) return;
  if (owners !== undefined) requireTenants(caller, owners, THINGS[thing]);
  // Everybody may see what applies to their tenant as well.
  else if (!['GET', 'HEAD'].includes(method)) throw new TenantRefusedError(FOR_ALL);
}

const FOR_ALL =
  'The policy is for all tenants, and your access token names some of them only: name one as its tenant. Nothing was done.';

/** What is not there, or cannot be looked up now, is answered by its route. */
function noOwners(error: unknown): Owners {
  if (error instanceof GatewayError && error.kind === 'notFound') return [];
  throw error;
}

function isThing(rule: string): rule is OwnedThing {
  return Object.hasOwn(THINGS, rule);
}

/** What named two tenants may have been of either. */
function tenantsOfJob(record: JobRecord): Owners {
  const { tenant = '' } = record;
  const service = record.fiware?.service;
  return service === undefined ? [tenant] : [tenant, service];
}
