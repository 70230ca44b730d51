import { randomBytes } from 'node:crypto';
import type { ProbedParameter } from '../broker/capabilities.js';
import type { PageQuery } from '../listing/page.js';
import type { Parameter } from '../query/parameters.js';
import { filtersOf, impossibleSelections, type Impossible } from './impossible.js';

type Headers = Readonly<Record<string, string>>;

/** The query of a purge with one filter made impossible: if the broker honours it, it shows nothing. */
export interface Probe {
  /** What is proven, as callers know it. */
  readonly parameter: string;
  /** Set for a parameter: the broker may count before it applies it. */
  readonly filter?: ProbedParameter;
  readonly query: Pick<PageQuery, 'selection' | 'headers'>;
  /** Whether entities without attributes are shown, too, by brokers that honour the filter. */
  readonly showsBareEntities: boolean;
  /** What an answer with this status proves; undefined for nothing. */
  readonly meaningOf: (status: number) => 'honoured' | 'ignored' | undefined;
  /** Why the purge is refused if the filter is ignored. */
  readonly refusal: string;
}

/** Filters on instances: some brokers still list the entity, without its attributes. */
const ON_INSTANCES: ReadonlySet<ProbedParameter> = new Set(['datasetId', 'timerel', 'timeproperty']);

/** Statuses that reject a tenant that does not exist. */
const DENIED: ReadonlySet<number> = new Set([400, 403, 404]);

const NOTHING_DELETED =
  'so this purge would reach too much. Nothing was deleted. Ask for less at once, or name the entities to delete by id.';

/**
 * The probes of a query: one for each filter or condition that can be made impossible, and one for each header that selects
 * the tenant.
 *
 * @param filters the caller's; parameters that the broker needs besides come as `additions`
 * @param isHistory the query is of temporal entities
 * @throws QueryRefusedError for more conditions than can be proven
 */
export function probesOf(
  filters: readonly Parameter[],
  additions: readonly Parameter[],
  headers: Headers,
  isHistory = false,
): readonly Probe[] {
  return [
    ...filtersOf(filters).flatMap((filter) =>
      impossibleSelections(filters, filter, isHistory).map((impossible) =>
        filterProbe(impossible, additions),
      ),
    ),
    ...tenantProbes([...filters, ...additions], headers),
  ];
}

function filterProbe(
  { filter, selection, about, isContradiction }: Impossible,
  additions: readonly Parameter[],
): Probe {
  const what = filter === 'georel' ? 'the geoquery (georel)' : `${filter} (${shortened(about)})`;
  return {
    parameter: filter,
    filter,
    query: { selection: [...selection, ...additions] },
    showsBareEntities: ON_INSTANCES.has(filter),
    meaningOf: (status) => {
      if (status === 501) return 'ignored';
      if (status !== 400 && status !== 404 && status !== 422) return undefined;
      // A broker that refuses the impossible value has read it: it accepts the query itself.
      return isContradiction ? 'ignored' : 'honoured';
    },
    refusal: isContradiction
      ? `The broker does not read ${what} as the standard does: asked for entities that meet both this condition and its opposite, it lists some or refuses the query, ${NOTHING_DELETED}`
      : `The broker ignores ${what} in this query: it lists entities where it cannot match, ${NOTHING_DELETED}`,
  };
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/**
 * A tenant that cannot exist must have nothing. If both headers name the same tenant, one of them must be honoured. If they
 * differ, either may select the tenant, so each must be honoured beside the other.
 */
function tenantProbes(
  selection: readonly Parameter[],
  { 'ngsild-tenant': tenant, 'fiware-service': service }: Headers,
): readonly Probe[] {
  const name = impossibleTenant();
  const probe = (parameter: string, headers: Headers): Probe => ({
    parameter,
    query: { selection, headers },
    showsBareEntities: false,
    meaningOf: (status) => (DENIED.has(status) ? 'honoured' : undefined),
    refusal: `The broker ignores the header ${parameter} in this query: it lists entities for a tenant that does not exist, so this purge would reach another tenant. Nothing was deleted.`,
  });
  if (tenant !== undefined && tenant === service)
    return [probe('NGSILD-Tenant', { 'ngsild-tenant': name, 'fiware-service': name })];
  return [
    ...(tenant === undefined ? [] : [probe('NGSILD-Tenant', { 'ngsild-tenant': name })]),
    ...(service === undefined ? [] : [probe('Fiware-Service', { 'fiware-service': name })]),
  ];
}

/** Valid for all brokers (Orion: lower-case letters, digits, underscores, at most 50), and too long to be guessed. */
function impossibleTenant(): string {
  return `nosuchtenant_purgeprobe_${randomBytes(12).toString('hex')}`;
}
