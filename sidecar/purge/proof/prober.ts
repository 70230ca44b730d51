import type { BrokerCapabilities, ProbedParameter } from '../broker/capabilities.js';
import { ownAttributesOf } from '../../ngsi-ld/entity-members.js';
import { BrokerRefusedError, FilterIgnoredError } from '../errors.js';
import type { Lister } from '../listing/listing.js';
import type { Parameter } from '../query/parameters.js';

/**
 * Values that cannot match anything, by parameter; for a geoquery it is the property that does not exist. With a change of how
 * filters are proven, raise the format of notes (broker/note.ts): other gateways would believe proofs of the former kind.
 */
const IMPOSSIBLE: Readonly<Record<ProbedParameter, readonly Parameter[]>> = {
  type: [{ name: 'type', value: 'NoSuchTypePurgeProbe' }],
  attrs: [{ name: 'attrs', value: 'noSuchAttributePurgeProbe' }],
  q: [{ name: 'q', value: 'noSuchAttributePurgeProbe==1' }],
  idPattern: [{ name: 'idPattern', value: '^urn:ngsi-ld:NoSuchEntityPurgeProbe:1$' }],
  scopeQ: [{ name: 'scopeQ', value: '/NoSuchScopePurgeProbe' }],
  georel: [{ name: 'geoproperty', value: 'noSuchGeoPropertyPurgeProbe' }],
  datasetId: [{ name: 'datasetId', value: 'urn:ngsi-ld:Dataset:NoSuchDatasetPurgeProbe' }],
  // Long before any measurement; some brokers refuse earlier years.
  timerel: [
    { name: 'timerel', value: 'before' },
    { name: 'timeAt', value: '1800-01-01T00:00:00Z' },
  ],
  timeproperty: [{ name: 'timeproperty', value: 'noSuchTimePurgeProbe' }],
};

export interface ProofOptions {
  /** Sent beside the filters; they need no proof. */
  readonly additions?: readonly Parameter[];
  /** Pages may be empty before the end; the count shows whether there is more. */
  readonly countsUnshown?: boolean;
}

/** Filters on instances: some brokers still list the entity, without its attributes. */
const ON_INSTANCES: ReadonlySet<ProbedParameter> = new Set(['datasetId', 'timerel', 'timeproperty']);

/**
 * Proves that the broker honours each filter of a query that can be proven: the same query with that filter made
 * impossible must show nothing. This is conclusive only if the query itself shows something; otherwise there is nothing to
 * delete either.
 *
 * @throws FilterIgnoredError when entities are shown in spite of an impossible filter
 */
export async function proveFilters(
  filters: readonly Parameter[],
  lister: Lister,
  capabilities: BrokerCapabilities,
  { additions = [], countsUnshown = false }: ProofOptions = {},
): Promise<void> {
  const open = filtersOf(filters).filter((filter) => !capabilities.isHonoured(factKey(filter, filters)));
  await Promise.all(
    open.map(async (filter) => {
      const selection = [...impossibleSelection(filters, filter), ...additions];
      const verdict = await probe(filter, selection, lister, countsUnshown);
      if (verdict === 'ignored') throw ignored(filter);
      if (verdict === 'counted') capabilities.setCountsBefore(filter);
      capabilities.setHonoured(factKey(filter, filters));
    }),
  );
}

/** The probed filters that a selection uses. */
export function filtersOf(selection: readonly Parameter[]): readonly ProbedParameter[] {
  const names = new Set(selection.map(({ name }) => name));
  return (Object.keys(IMPOSSIBLE) as ProbedParameter[]).filter((filter) => names.has(filter));
}

/** The selection with one filter made impossible. */
export function impossibleSelection(
  selection: readonly Parameter[],
  filter: ProbedParameter,
): readonly Parameter[] {
  const impossible = IMPOSSIBLE[filter];
  const replaced = new Set(impossible.map(({ name }) => name));
  if (filter === 'timerel') replaced.add('endTimeAt');
  return [...selection.filter(({ name }) => !replaced.has(name)), ...impossible];
}

/** The result of probing a filter; `counted`: it is honoured, but not by the broker's count. */
type ProbeResult = 'honoured' | 'counted' | 'ignored';

async function probe(
  filter: ProbedParameter,
  selection: readonly Parameter[],
  lister: Lister,
  countsAll: boolean,
): Promise<ProbeResult> {
  try {
    const page = await lister.page({ selection, limit: 1, count: true });
    if (ON_INSTANCES.has(filter)) {
      const isEmpty = page.entities.every((entity) => ownAttributesOf(entity).length === 0);
      return isEmpty ? 'honoured' : 'ignored';
    }
    if (page.ids.length > 0) return 'ignored';
    const isCounted = (page.count ?? 0) > 0;
    // A page may be empty before the end; the count covers the whole result.
    if (countsAll) return page.hasNext || isCounted ? 'ignored' : 'honoured';
    return isCounted ? 'counted' : 'honoured';
  } catch (error) {
    if (!(error instanceof BrokerRefusedError)) throw error;
    // A broker that refuses the impossible value has read it; the query itself was accepted just before.
    if ([400, 404, 422].includes(error.problem.status)) return 'honoured';
    if (error.problem.status === 501) return 'ignored';
    throw error;
  }
}

/** Some brokers honour a filter alone but not beside `id`, so the two are proven separately. */
function factKey(filter: ProbedParameter, selection: readonly Parameter[]): string {
  return selection.some(({ name }) => name === 'id') ? `${filter} beside id` : filter;
}

function ignored(filter: ProbedParameter): FilterIgnoredError {
  const name = filter === 'georel' ? 'the geoquery (georel)' : filter;
  return new FilterIgnoredError(
    filter,
    `The broker ignores ${name}: it lists entities for a value that cannot match, so this purge would reach too much. Nothing was deleted.`,
  );
}
