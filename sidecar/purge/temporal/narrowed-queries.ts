import { entitiesIn } from '../listing/index.js';
import type { Parameter } from '../query/index.js';
import { type AttributeInstance, identityOf, instanceListsOf } from './instances.js';
import { attributesWithInstances } from '../../ngsi-ld/members.js';
import type { QueryView } from '../run/index.js';
import { FilterIgnoredError, unlessQueryRefused } from '../errors.js';
import { impossibleSelections, type Impossible } from '../proof/index.js';
import { isOfTime, timeParameters, type TimeFilter, since, until } from './time-filter.js';
import { instantOf } from '../../ngsi-ld/q-time.js';
import { IdStates } from '../ledger/index.js';
import { type TruncationEvidence, MAX_INSTANCES } from './instance-pages.js';

/** The instances shown of one attribute of one entity; the broker may have left some out. */
export interface TruncatedList {
  readonly entityId: string;
  readonly attribute: string;
  readonly instances: readonly AttributeInstance[];
}

/** Parameters that a query for one attribute replaces or leaves out, besides those of the time filter. */
const REPLACED_PARAMETERS: ReadonlySet<string> = new Set(['id', 'idPattern', 'scopeQ', 'attrs']);

/** The parameters of filters by value. */
export const VALUE_FILTERS: ReadonlySet<string> = new Set([
  'q',
  'georel',
  'geometry',
  'coordinates',
  'geoproperty',
  'geometryProperty',
  'expandValues',
  'jsonKeys',
]);

/**
 * Returns the query for one attribute of one entity, without its time filter.
 *
 * @param keepsValues keep filters by value; otherwise the query may show instances that they exclude
 */
export function attributeQuery(
  selection: readonly Parameter[],
  { entityId, attribute }: Pick<TruncatedList, 'entityId' | 'attribute'>,
  { keepsValues }: { readonly keepsValues: boolean },
): readonly Parameter[] {
  return [
    ...selection.filter(
      ({ name }) =>
        !REPLACED_PARAMETERS.has(name) && !isOfTime(name) && (keepsValues || !VALUE_FILTERS.has(name)),
    ),
    { name: 'id', value: entityId },
    { name: 'attrs', value: attribute },
  ];
}

/**
 * Proves that the broker honours filters by value in a query for one entity. Some brokers ignore `q` next to a single id, and
 * would show instances that the query of the purge excludes.
 *
 * @param selection the query for one attribute of one entity, without its time filter
 * @throws FilterIgnoredError
 */
export async function proveValueFilters(
  view: Pick<QueryView, 'lister'>,
  selection: readonly Parameter[],
  time: TimeFilter,
): Promise<void> {
  const impossible = (['q', 'georel'] as const).flatMap((filter) =>
    impossibleSelections(selection, filter, true),
  );
  await Promise.all(impossible.map(async (each) => proveOne(view, each, time)));
}

async function proveOne(
  { lister }: Pick<QueryView, 'lister'>,
  { filter, selection, about }: Impossible,
  time: TimeFilter,
): Promise<void> {
  const query = [...selection, ...timeParameters(time)];
  // A broker that refuses the impossible value has read it, because it accepts the query itself.
  const page = await unlessQueryRefused(lister.page({ selection: query, limit: 1 }));
  if (!page || entitiesIn(page).every((entity) => attributesWithInstances(entity).length === 0)) return;
  throw new FilterIgnoredError(
    filter,
    `The broker ignores ${filter} (${about.slice(0, 100)}) in a query for one entity, so the gateway ` +
      'cannot see which instances the query excludes. Nothing more is deleted. Narrow the interval.',
  );
}

export interface NarrowedQueryOptions {
  /** Keep the query's filters by value. Drop them if they select entities with all their instances. */
  readonly keepsValues: boolean;
  /** Query without lastN, as the list was queried. */
  readonly asksBare: boolean;
  /** Ask for createdAt and modifiedAt. */
  readonly needsTimes: boolean;
  /** How many instances the broker shows at once. */
  readonly evidence: TruncationEvidence;
  /** Called when some instances stay hidden: too many share one time, they have no time, or it takes too many queries. */
  readonly onHidden: () => void;
}

/** Maximum number of queries. Reached only if instances are written as fast as they are queried. */
const MAX_NARROWED_QUERIES = 20_000;

/**
 * Finds the instances in an interval that a truncated list did not show, without deleting anything. Queries the interval up to
 * the oldest shown instance and the interval from the newest one on, and does the same with each answer.
 *
 * Brokers truncate at either end (clause 6.3.10), for each dataset or for all datasets together, and some do not say so. The
 * instances of a dataset that they do show have no gaps in time.
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
    shown.filter((instance) => seen.add(identityOf(instance)));
  const ask = async (part: TimeFilter, isBare = asksBare) => {
    const page = await view.lister.page({
      selection: [...chosen, ...timeParameters(part)],
      limit: 1,
      instances: MAX_INSTANCES,
      isBare,
      needsTimes,
    });
    const lists = instanceListsOf(entitiesIn(page)[page.ids.indexOf(entityId)] ?? {}, time.property);
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
  /** Opens the intervals on both sides of the shown instances, for each dataset that has new ones. */
  const openAround = (
    part: TimeFilter,
    shown: readonly AttributeInstance[],
    fresh: readonly AttributeInstance[],
  ) => {
    for (const datasetId of new Set(fresh.map((instance) => instance.datasetId))) {
      const span = spanOf(shown.filter((instance) => instance.datasetId === datasetId));
      if (span === undefined) continue;
      // The intervals overlap by a millisecond: instances may share a time, and brokers store finer times.
      openOnce(until(part, Math.floor(span.oldest) + 1));
      openOnce(since(part, Math.floor(span.newest)));
    }
  };

  if (keepsValues) await proveValueFilters(view, chosen, time);
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
    // If all shown instances share one millisecond, there is no smaller interval to query.
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

/** Returns the oldest and the newest time, in milliseconds since the epoch; undefined if no instance has a time. */
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

/** Reads several sources concurrently, each in order, and yields values as they arrive. */
export async function* interleave<Value>(
  sources: Iterable<AsyncGenerator<Value, void>>,
  concurrency: number,
): AsyncGenerator<Value, void> {
  type Arrival = {
    readonly source: AsyncGenerator<Value, void>;
    readonly result: IteratorResult<Value, void>;
  };
  const waiting = sources[Symbol.iterator]();
  const running = new Map<AsyncGenerator<Value, void>, Promise<Arrival>>();
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
