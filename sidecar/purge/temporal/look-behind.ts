import { instantOf } from '../../ngsi-ld/q-time.js';
import type { PurgeContext } from '../context.js';
import { IdLedger, IdState } from '../id-ledger.js';
import type { Parameter } from '../parameters.js';
import { instanceListsOf, type AttributeInstance } from './instances.js';
import { INSTANCES_MAX } from './page-shape.js';
import { since, timeParameters, until, type TimeFilter } from './time-filter.js';

/** One attribute of one entity, of which the broker may not have shown all instances. */
export interface CutList {
  readonly entityId: string;
  readonly attribute: string;
  readonly instances: readonly AttributeInstance[];
}

/**
 * Parameters that choose the entity, which is known by now. Left in, a filter by value would hide the entity as soon as
 * the instance that it matched is outside of the narrower interval, or deleted.
 */
const CHOOSES_ENTITY: ReadonlySet<string> = new Set([
  ...['id', 'idPattern', 'q', 'georel', 'geometry', 'coordinates', 'geoproperty', 'geometryProperty'],
  ...['scopeQ', 'expandValues', 'jsonKeys', 'attrs', 'timerel', 'timeAt', 'endTimeAt', 'timeproperty'],
]);

/**
 * Finds the instances that lie in an interval and were not shown, without anything being deleted: asks for what lies
 * before the oldest shown and from the newest on, and does the same with each answer. Brokers cut at either end (clause
 * 6.3.10), some without a word; what they show is without gaps.
 *
 * @param onHidden told when some remain out of sight: more share one time than the broker shows at once, or they show no
 *   time to go by
 */
export async function* lookBehind(
  context: PurgeContext,
  { entityId, attribute, instances }: CutList,
  time: TimeFilter,
  onHidden: () => void,
): AsyncGenerator<readonly AttributeInstance[]> {
  const seen = new IdLedger();
  const noteNew = (found: readonly AttributeInstance[]) =>
    found.filter((instance) => {
      const key = instance.instanceId ?? instance.digest ?? '';
      if (seen.get(key) !== IdState.unknown) return false;
      seen.set(key, IdState.pending);
      return true;
    });
  noteNew(instances);
  if (spanOf(instances) === undefined) onHidden();
  const chosen: readonly Parameter[] = [
    ...context.selection.filter(({ name }) => !CHOOSES_ENTITY.has(name)),
    { name: 'id', value: entityId },
    { name: 'attrs', value: attribute },
  ];
  const needsTimes = time.property !== 'observedAt';
  const ask = async (part: TimeFilter) => {
    const selection = [...chosen, ...timeParameters(part)];
    const page = await context.lister.page({ selection, limit: 1, instances: INSTANCES_MAX, needsTimes });
    const index = page.ids.indexOf(entityId);
    const lists = instanceListsOf(page.entities[index] ?? {}, time.property);
    const shown = lists.find((list) => list.attribute === attribute)?.instances ?? [];
    return { shown, isCut: page.isCut || shown.length >= INSTANCES_MAX };
  };

  const open: TimeFilter[] = [];
  const openAround = (part: TimeFilter, shown: readonly AttributeInstance[]) => {
    const span = spanOf(shown);
    if (span === undefined) return;
    // Bounds with milliseconds to spare: several instances may share a time, and brokers know finer ones.
    const older = until(part, Math.floor(span.oldest) + 1);
    const newer = since(part, Math.floor(span.newest));
    open.push(...[older, newer].filter((side) => side !== undefined));
  };
  openAround(time, instances);
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { shown, isCut } = await ask(part);
    const found = noteNew(shown);
    if (found.length > 0) {
      yield found;
      openAround(part, shown);
    } else if (isCut) {
      onHidden();
    }
  }
}

interface Span {
  readonly oldest: number;
  readonly newest: number;
}

/** The oldest and the newest time, in milliseconds since the epoch; undefined when none is shown. */
function spanOf(instances: readonly AttributeInstance[]): Span | undefined {
  let oldest = Infinity;
  let newest = -Infinity;
  for (const { time } of instances) {
    const at = time === undefined ? undefined : instantOf(time);
    if (at === undefined) continue;
    oldest = Math.min(oldest, at);
    newest = Math.max(newest, at);
  }
  return oldest === Infinity ? undefined : { oldest, newest };
}
