import { ownAttributesOf } from '../../ngsi-ld/entity-members.js';
import type { QueryView } from '../run/context.js';
import { BrokerRefusedError, FilterIgnoredError } from '../errors.js';
import { filtersOf, impossibleSelections, type Impossible } from '../proof/impossible.js';
import type { Parameter } from '../query/parameters.js';
import { timeParameters, type TimeFilter } from './time-filter.js';

/** Statuses of a broker that has read the impossible value: it accepts the query itself. */
const REFUSED: ReadonlySet<number> = new Set([400, 404, 422]);

/**
 * Proves that the broker honours filters by value in a query for one entity: some drop `q` beside one id, and would show
 * instances there that the query of the purge excludes.
 *
 * @param selection the query for one attribute of one entity, without its time filter
 * @throws FilterIgnoredError
 */
export async function proveValueFilters(
  view: Pick<QueryView, 'lister'>,
  selection: readonly Parameter[],
  time: TimeFilter,
): Promise<void> {
  const byValue = filtersOf(selection).filter((filter) => filter === 'q' || filter === 'georel');
  const impossible = byValue.flatMap((filter) => impossibleSelections(selection, filter, true));
  await Promise.all(impossible.map(async (each) => proveOne(view, each, time)));
}

async function proveOne(
  { lister }: Pick<QueryView, 'lister'>,
  { filter, selection, about }: Impossible,
  time: TimeFilter,
): Promise<void> {
  try {
    const query = [...selection, ...timeParameters(time)];
    const { entities } = await lister.page({ selection: query, limit: 1 });
    if (entities.every((entity) => ownAttributesOf(entity).length === 0)) return;
  } catch (error) {
    if (error instanceof BrokerRefusedError && REFUSED.has(error.problem.status)) return;
    throw error;
  }
  throw new FilterIgnoredError(
    filter,
    `The broker ignores ${filter} (${about.slice(0, 100)}) in a query for one entity, so the gateway cannot see which instances the query excludes. Nothing more is deleted. Narrow the interval.`,
  );
}
