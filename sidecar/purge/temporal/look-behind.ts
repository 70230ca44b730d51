import { instantOf } from '../../ngsi-ld/q-time.js';
import type { PurgeContext } from '../context.js';
import { IdLedger, IdState } from '../id-ledger.js';
import type { Parameter } from '../parameters.js';
import { instanceListsOf, type AttributeInstance } from './instances.js';
import { since, timeParameters, until, type TimeFilter } from './time-filter.js';

/** One attribute of one entity, of which the broker may not have shown all instances. */
export interface CutList {
  readonly entityId: string;
  readonly attribute: string;
  readonly instances: readonly AttributeInstance[];
}

/** Instances asked for at once; more than this is refused by some brokers. */
const INSTANCES = 1000;

/**
 * Parameters that choose the entity, which is known by now. Left in, a filter by value would hide the entity as soon as
 * the instance that it matched is outside of the narrower interval, or deleted.
 */
const CHOOSES_ENTITY: ReadonlySet<string> = new Set([
  ...['id', 'idPattern', 'q', 'georel', 'geometry', 'coordinates', 'geoproperty', 'geometryProperty'],
  ...['scopeQ', 'expandValues', 'jsonKeys', 'attrs', 'timerel', 'timeAt', 'endTimeAt', 'timeproperty'],
]);

/**
 * Finds the instances that lie in an interval and were not shown, without anything being deleted: asks for what is
 * before the oldest shown and from the newest on, step by step. Brokers cut at either end (clause 6.3.10), some without
 * a word.
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
  const ask = async (part: TimeFilter) => {
    const selection = [...chosen, ...timeParameters(part)];
    const page = await context.lister.page({ selection, limit: 1, instances: INSTANCES });
    const index = page.ids.indexOf(entityId);
    const lists = instanceListsOf(page.entities[index] ?? {}, time.property);
    const shown = lists.find((list) => list.attribute === attribute)?.instances ?? [];
    return { shown, isCut: page.isCut || shown.length >= INSTANCES };
  };

  // Bounds with milliseconds to spare: several instances may share a time, and brokers know finer ones.
  for (const next of [
    (shown: Span) => until(time, Math.floor(shown.oldest) + 1),
    (shown: Span) => since(time, Math.floor(shown.newest)),
  ]) {
    for (let shown = spanOf(instances); shown !== undefined;) {
      const part = next(shown);
      if (part === undefined) break;
      const answer = await ask(part);
      const found = noteNew(answer.shown);
      if (found.length === 0) {
        if (answer.isCut) onHidden();
        break;
      }
      yield found;
      const span = spanOf(found);
      shown = span && {
        oldest: Math.min(shown.oldest, span.oldest),
        newest: Math.max(shown.newest, span.newest),
      };
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
