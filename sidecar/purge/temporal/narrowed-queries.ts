import { instantOf } from '../../ngsi-ld/q-time.js';
import type { QueryView } from '../context.js';
import { IdStates, IdState } from '../id-states.js';
import type { TruncationEvidence } from './truncation.js';
import { instanceListsOf, type AttributeInstance } from './instances.js';
import { attributeQuery, type TruncatedList } from './attribute-query.js';
import { MAX_INSTANCES } from './page-shape.js';
import { since, timeParameters, until, type TimeFilter } from './time-filter.js';

export interface NarrowedQueryOptions {
  /** Ask with the query's filters by value; else they select entities, with all their instances. */
  readonly keepsValues: boolean;
  /** Ask without a number of instances, as the list was asked for. */
  readonly asksBare: boolean;
  /** Ask for the times when the broker took the instances in. */
  readonly needsTimes: boolean;
  /** What is known of how much the broker shows. */
  readonly evidence: TruncationEvidence;
  /**
   * Told when some remain out of sight: more share one time than the broker shows at once, or they show no time to go by.
   */
  readonly onHidden: () => void;
}

/** With each answer showing something new, so many are met only where instances are written as fast as they are asked for. */
const MAX_NARROWED_QUERIES = 20_000;

/**
 * Finds the instances that lie in an interval and were not shown, without anything being deleted: asks for what lies
 * before the oldest shown and from the newest on, and does the same with each answer.
 *
 * Brokers cut at either end (clause 6.3.10), for each dataset or for all of them together, some without a word; what
 * they show of a dataset is without gaps.
 */
export async function* findByNarrowedQueries(
  view: QueryView,
  list: TruncatedList,
  time: TimeFilter,
  { keepsValues, evidence, asksBare, needsTimes, onHidden }: NarrowedQueryOptions,
): AsyncGenerator<readonly AttributeInstance[]> {
  const { entityId, attribute } = list;
  const chosen = attributeQuery(view.selection, list, { keepsValues });
  const seen = new IdStates();
  const noteNew = (shown: readonly AttributeInstance[]) =>
    shown.filter((instance) => {
      const key = instance.instanceId ?? instance.digest ?? '';
      if (seen.get(key) !== IdState.unknown) return false;
      seen.set(key, IdState.pending);
      return true;
    });
  const ask = async (part: TimeFilter, isBare = asksBare) => {
    const page = await view.lister.page({
      selection: [...chosen, ...timeParameters(part)],
      limit: 1,
      instances: MAX_INSTANCES,
      isBare,
      needsTimes,
    });
    const lists = instanceListsOf(page.entities[page.ids.indexOf(entityId)] ?? {}, time.property);
    const shown = lists.find((other) => other.attribute === attribute)?.instances ?? [];
    const mayBeTruncated = evidence.mayBeTruncated(page, shown.length);
    evidence.note(page, shown.length);
    return { shown, mayBeTruncated, isSurelyTruncated: evidence.isSurelyTruncated(page, shown.length) };
  };

  const open: TimeFilter[] = [];
  const opened = new Set<string>();
  const openOnce = (side: TimeFilter | undefined) => {
    const key = `${side?.from ?? ''} ${side?.to ?? ''}`;
    if (side === undefined || opened.has(key)) return;
    opened.add(key);
    open.push(side);
  };
  /** Opens what lies on both sides of the new ones, dataset by dataset. */
  const openAround = (
    part: TimeFilter,
    shown: readonly AttributeInstance[],
    fresh: readonly AttributeInstance[],
  ) => {
    for (const datasetId of new Set(fresh.map((instance) => instance.datasetId))) {
      const span = spanOf(shown.filter((instance) => instance.datasetId === datasetId));
      if (span === undefined) continue;
      // Bounds with milliseconds to spare: several instances may share a time, and brokers know finer ones.
      openOnce(until(part, Math.floor(span.oldest) + 1));
      openOnce(since(part, Math.floor(span.newest)));
    }
  };

  noteNew(list.instances);
  if (spanOf(list.instances) === undefined) onHidden();
  openAround(time, list.instances, list.instances);
  let asked = 0;
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { shown, mayBeTruncated, isSurelyTruncated } = await ask(part);
    asked += 1;
    if (asked > MAX_NARROWED_QUERIES) {
      onHidden();
      return;
    }
    const fresh = noteNew(shown);
    if (fresh.length > 0) {
      yield fresh;
      openAround(part, shown, fresh);
    }
    // Nothing but one moment: if there is more of it than is shown at once, there is no smaller interval to ask for.
    const span = spanOf(shown);
    if (!mayBeTruncated || span === undefined || Math.floor(span.oldest) !== Math.floor(span.newest))
      continue;
    if (isSurelyTruncated) {
      const moment = until(part, Math.floor(span.oldest) + 1);
      const whole = await ask((moment && since(moment, Math.floor(span.oldest))) ?? part, true);
      const others = noteNew(whole.shown);
      if (others.length > 0) yield others;
      if (whole.isSurelyTruncated || whole.shown.length < shown.length) onHidden();
    }
    openOnce(until(part, Math.floor(span.oldest)));
    openOnce(since(part, Math.floor(span.newest) + 1));
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

/** Reads several sources at a time, each in its own order, and yields what comes as it comes. */
export async function* interleave<Value>(
  sources: Iterable<AsyncGenerator<Value, void>>,
  concurrency: number,
): AsyncGenerator<Value, void> {
  type Step = { readonly source: AsyncGenerator<Value, void>; readonly result: IteratorResult<Value, void> };
  const waiting = sources[Symbol.iterator]();
  const running = new Map<AsyncGenerator<Value, void>, Promise<Step>>();
  const read = (source: AsyncGenerator<Value, void>) => {
    running.set(
      source,
      source.next().then((result) => ({ source, result })),
    );
  };
  const startNext = () => {
    const next = waiting.next();
    if (next.done !== true) read(next.value);
  };
  for (let slot = 0; slot < concurrency; slot++) startNext();
  while (running.size > 0) {
    const { source, result } = await Promise.race(running.values());
    running.delete(source);
    if (result.done === true) {
      startNext();
      continue;
    }
    yield result.value;
    read(source);
  }
}
