import { instantOf } from '../../ngsi-ld/q-time.js';
import type { QueryView } from '../context.js';
import type { Parameter } from '../query/parameters.js';
import { MAX_INSTANCES } from './page-shape.js';
import { instanceListsOf, type AttributeInstance } from './instances.js';
import { attributeQuery, type TruncatedList } from './attribute-query.js';
import { since, timeParameters, until, type TimeFilter } from './time-filter.js';

/**
 * What a filter by value selects in temporal queries; clause 5.7.4.4 is read in two ways: the entities of which an
 * instance matches, with all their instances, or the matching instances alone.
 */
export type ValueSelection = 'entities' | 'instances' | 'unknown';

/**
 * Finds out by a query of its own: a value that one of two neighbouring instances has, in an interval around both.
 *
 * @param lists lists with neighbours of different values, if there are any
 */
export async function learnValueSelection(
  view: QueryView,
  lists: readonly TruncatedList[],
  time: TimeFilter,
): Promise<ValueSelection> {
  for (const list of lists) {
    // A name that q could read as a path, or as more than one token, is left alone.
    if (!/^[A-Za-z_]\w*$/.test(list.attribute)) continue;
    const pair = neighboursOf(list.instances);
    const around = pair && intervalAround(pair, time);
    if (pair === undefined || around === undefined) continue;
    const [one, other] = pair;
    const q = { name: 'q', value: `${list.attribute}==${String(one.number)}` };
    const matching = await idsShown(view, list, around, [q]);
    if (matching.ids.has(keyOf(other))) return 'entities';
    // Only if the other one is shown without q, it is q that hides it.
    if (!matching.ids.has(keyOf(one)) || matching.isPartial) continue;
    const both = await idsShown(view, list, around, []);
    if (both.ids.has(keyOf(one)) && both.ids.has(keyOf(other))) return 'instances';
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
  const shown = page.entities.flatMap((entity) => instanceListsOf(entity, interval.property));
  return { ids: new Set(shown.flatMap(({ instances }) => instances.map(keyOf))), isPartial: page.isPartial };
}

type Pair = readonly [AttributeInstance, AttributeInstance];

/** Two instances next to each other with different numbers as values. */
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
  // Some brokers leave out what lies on the bounds.
  const late = until(time, Math.floor(Math.max(a, b)) + 1);
  return late && since(late, Math.floor(Math.min(a, b)) - 1);
}

function keyOf({ instanceId, digest }: AttributeInstance): string {
  return instanceId ?? digest ?? '';
}
