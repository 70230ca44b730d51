import { randomBytes } from 'node:crypto';
import type { BrokerCapabilities } from '../broker/capabilities.js';
import { BrokerRefusedError, FilterIgnoredError } from '../errors.js';
import type { Lister } from '../listing/listing.js';
import type { PageQuery } from '../listing/page.js';

type Headers = Readonly<Record<string, string>>;

/** A test of a header that selects the tenant. */
interface Probe {
  /** The fact to remember as honoured. */
  readonly fact: string;
  /** The name of the header, for the error message. */
  readonly header: string;
  /** Replaces the purge's own headers. */
  readonly impossible: Headers;
}

/** Statuses that reject a tenant that does not exist. */
const DENIED: ReadonlySet<number> = new Set([400, 403, 404]);

/**
 * Proves that the broker honours the headers that select the tenant: the same query under a tenant that cannot exist must
 * list nothing. This is conclusive only for a query that lists something under the purge's own headers.
 *
 * @param listed the query that listed something
 * @param headers of the purge
 * @throws FilterIgnoredError when entities are listed in spite of an impossible tenant
 */
export async function proveTenant(
  listed: PageQuery,
  headers: Headers,
  lister: Lister,
  capabilities: BrokerCapabilities,
): Promise<void> {
  const open = probesOf(headers).filter(({ fact }) => !capabilities.isHonoured(fact));
  await Promise.all(
    open.map(async ({ fact, header, impossible }) => {
      if (!(await listsNothing({ ...listed, headers: impossible }, lister))) throw ignored(header);
      capabilities.setHonoured(fact);
    }),
  );
}

/**
 * The tests for a purge's headers, each with a tenant that cannot exist.
 *
 * If both headers name the same tenant, one of them must be honoured. If they differ, either may select the tenant, so each
 * must be honoured beside the other.
 */
function probesOf({ 'ngsild-tenant': tenant, 'fiware-service': service }: Headers): readonly Probe[] {
  const name = impossibleTenant();
  const byTenant = { header: 'NGSILD-Tenant', impossible: { 'ngsild-tenant': name } };
  const byService = { header: 'Fiware-Service', impossible: { 'fiware-service': name } };
  if (tenant !== undefined && tenant === service) {
    const impossible = { ...byTenant.impossible, ...byService.impossible };
    return [{ fact: 'tenant by both headers', header: 'NGSILD-Tenant', impossible }];
  }
  const beside = tenant !== undefined && service !== undefined ? ' beside the other header' : '';
  return [
    ...(tenant === undefined ? [] : [{ ...byTenant, fact: `NGSILD-Tenant${beside}` }]),
    ...(service === undefined ? [] : [{ ...byService, fact: `Fiware-Service${beside}` }]),
  ];
}

/** Valid for all brokers (Orion: lower-case letters, digits, underscores, at most 50), and too long to be guessed. */
function impossibleTenant(): string {
  return `nosuchtenant_purgeprobe_${randomBytes(12).toString('hex')}`;
}

async function listsNothing(query: PageQuery, lister: Lister): Promise<boolean> {
  try {
    return (await lister.page(query)).ids.length === 0;
  } catch (error) {
    if (error instanceof BrokerRefusedError && DENIED.has(error.problem.status)) return true;
    throw error;
  }
}

function ignored(header: string): FilterIgnoredError {
  return new FilterIgnoredError(
    header,
    `The broker ignores the header ${header}: it lists entities for a tenant that does not exist, so this purge would reach another tenant. Nothing was deleted.`,
  );
}
