import type { FastifyRequest } from 'fastify';
import { type Caller, type TenantResource, requireTenants, TenantRefusedError } from '../../auth/index.js';
import type { PurgeService } from '../../jobs/purge-service.js';
import type { RetentionService } from '../../jobs/retention/retention-service.js';
import type { ScanService } from '../../scans/scan-service.js';
import { GatewayError } from '../../shared/errors.js';
import type { JobRecord, Page, Paged } from '../../store/index.js';
import type { WritePolicyService } from '../../write-checks/index.js';

/** What is needed to keep requests to the tenants named in the access token of their caller; see TenantRule. */

export interface TenantGuardOptions {
  readonly purges: Pick<PurgeService, 'get'>;
  readonly scans: Pick<ScanService, 'get'>;
  readonly retention: Pick<RetentionService, 'get'>;
  readonly writePolicies: Pick<WritePolicyService, 'get'>;
}

/** The tenants to which something belongs; undefined for all tenants. */
type OwnerTenants = readonly string[] | undefined;

const OWNED_RESOURCES: Readonly<Record<TenantResource, string>> = {
  purge: 'The purge',
  scan: 'The scan',
  retentionPolicy: 'The retention policy',
  writePolicy: 'The write policy',
};

/** Refuses requests whose path names something that belongs to a tenant the caller may not work on. */
export function tenantGuard(options: TenantGuardOptions): (request: FastifyRequest) => Promise<void> {
  const { purges, scans, retention, writePolicies } = options;
  const owners: Readonly<Record<TenantResource, (name: string) => Promise<OwnerTenants>>> = {
    purge: async (id) => tenantsOfJob(await purges.get(id)),
    scan: async (id) => tenantsOfJob(await scans.get(id)),
    retentionPolicy: async (name) => [(await retention.get(name)).settings.tenant ?? ''],
    writePolicy: async (name) => {
      const { tenant } = (await writePolicies.get(name)).settings;
      return tenant === undefined ? undefined : [tenant];
    },
  };
  return async (request) => {
    const { caller, method, routeOptions } = request;
    if (caller.tenants === undefined) return;
    const rule = routeOptions.config.rule?.tenants.find(isOwnedResource);
    if (rule === undefined) return;
    const name = (request.params as Readonly<Record<TenantResource, string>>)[rule];
    requireOwners(caller, await owners[rule](name).catch(noOwnersIfMissing), rule, method);
  };
}

/** Returns the tenants whose records a list may show. @param tenant the requested tenant @throws TenantRefusedError */
export function listedTenants({ caller }: FastifyRequest, tenant?: string) {
  if (tenant !== undefined) requireTenants(caller, [tenant], 'What is asked for');
  return { tenants: caller.tenants };
}

/** Whether a list may show a record. */
export function isListed({ caller: { tenants } }: FastifyRequest, record: JobRecord): boolean {
  return tenants === undefined || tenantsOfJob(record)?.every((tenant) => tenants.has(tenant)) === true;
}

/**
 * Returns a page of the policies that a caller may see. Policies are few, so if only some are visible, they are
 * filtered here.
 *
 * @param tenantOf returns undefined for a policy for all tenants
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
 * Refuses a policy about tenants that its author may not work on.
 *
 * @param tenant undefined for all tenants
 * @throws TenantRefusedError
 */
export function requirePolicyTenant(
  { caller }: FastifyRequest,
  tenant: string | undefined,
  thing: TenantResource,
): void {
  requireOwners(caller, tenant === undefined ? undefined : [tenant], thing, 'PUT');
}

function requireOwners(caller: Caller, owners: OwnerTenants, thing: TenantResource, method: string): void {
  if (caller.tenants === undefined) return;
  if (owners !== undefined) requireTenants(caller, owners, OWNED_RESOURCES[thing]);
  // All callers may see what also applies to their tenant.
  else if (!['GET', 'HEAD'].includes(method)) throw new TenantRefusedError(FOR_ALL);
}

const FOR_ALL =
  'The policy is for all tenants, and your access token names some of them only: name one as its tenant. Nothing was done.';

/** Something that does not exist has no owners; its route answers that. Other errors are thrown again. */
function noOwnersIfMissing(error: unknown): OwnerTenants {
  if (error instanceof GatewayError && error.kind === 'notFound') return [];
  throw error;
}

function isOwnedResource(rule: string): rule is TenantResource {
  return Object.hasOwn(OWNED_RESOURCES, rule);
}

/** Returns the tenants to which a job may belong: a job with two tenant headers may belong to either. */
function tenantsOfJob(record: JobRecord): OwnerTenants {
  const { tenant = '' } = record;
  const service = record.fiware?.service;
  return service === undefined ? [tenant] : [tenant, service];
}
