import { entitiesIn } from '../listing/index.js';
import { instantOf } from '../../ngsi-ld/q-time.js';
import type { QueryView } from '../run/index.js';
import type { Parameter } from '../query/index.js';
import { MAX_INSTANCES } from './instance-pages.js';
import { identityOf, instanceListsOf, type AttributeInstance } from './instances.js';
import { attributeQuery, type TruncatedList } from './narrowed-queries.js';
import { since, timeParameters, until, type TimeFilter } from './time-filter.js';

/**
 * What a filter by value selects in temporal queries. Brokers read clause 5.7.4.4 in two ways: entities with a matching
 * instance, shown with all their instances, or only the matching instances.
 */
export type ValueSelection = 'entities' | 'instances' | 'unknown';

/**
 * Finds out what a filter by value selects, by a query for the value of one of two neighbouring instances in an interval around
 * both.
 *
 * @param lists lists to search for neighbours with different values
 */
export async function learnValueSelection(
  view: QueryView,
  lists: readonly TruncatedList[],
  time: TimeFilter,
): Promise<ValueSelection> {
  for (const list of lists) {
    // Skip names that q could read as a path or as several tokens.
    if (!/^[A-Za-z_]\w*$/.test(list.attribute)) continue;
    const pair = neighboursOf(list.instances);
    const around = pair && intervalAround(pair, time);
    if (pair === undefined || around === undefined) continue;
    const [one, other] = pair;
    const q = { name: 'q', value: `${list.attribute}==${String(one.number)}` };
    const matching = await idsShown(view, list, around, [q]);
    if (matching.ids.has(identityOf(other))) return 'entities';
    // q hides the other instance only if the broker shows that instance without q.
    if (!matching.ids.has(identityOf(one)) || matching.isPartial) continue;
    const both = await idsShown(view, list, around, []);
    if (both.ids.has(identityOf(one)) && both.ids.has(identityOf(other))) return 'instances';
  }
  return 'unknown';
}

async function idsShown(
  view: QueryView,
  list: TruncatedList,
  interval: TimeFilter,
  filter: readonly Parameter[],
): Promise<{ readonly ids: ReadonlySet<string>; readonly isPartial: boolean }> {
  const page = await view.lister.page({
    selection: [
      ...attributeQuery(view.selection, list, { keepsValues: false }),
      ...filter,
      ...timeParameters(interval),
    ],
    limit: 1,
    instances: MAX_INSTANCES,
  });
  const shown = entitiesIn(page).flatMap((entity) => instanceListsOf(entity, interval.property));
  return {
    ids: new Set(shown.flatMap(({ instances }) => instances.map(identityOf))),
    isPartial: page.isPartial,
  };
}

type Pair = readonly [AttributeInstance, AttributeInstance];

/** Returns two neighbouring instances with different numeric values. */
function neighboursOf(instances: readonly AttributeInstance[]): Pair | undefined {
  for (let index = 1; index < instances.length; index++) {
    const [one, other] = [instances[index - 1], instances[index]];
    if (one?.number === undefined || other?.number === undefined) continue;
    if (one.number !== other.number && one.instanceId !== undefined) return [one, other];
  }
  return undefined;
}

function intervalAround([one, other]: Pair, time: TimeFilter): TimeFilter | undefined {
  const [a, b] = [instantOf(one.time ?? ''), instantOf(other.time ?? '')];
  if (a === undefined || b === undefined) return undefined;
  // Some brokers leave out instances on the bounds.
  const late = until(time, Math.floor(Math.max(a, b)) + 1);
  return late && since(late, Math.floor(Math.min(a, b)) - 1);
}
