import type { JsonValue } from '../../shared/json/json.js';
import { instantOf } from '../../ngsi-ld/q-time.js';
import type { PurgeContext } from '../run/index.js';
import { IdState, itemProblem, keyOf, type Item, type ItemError } from '../ledger/index.js';
import type { ItemBatch, ItemKind } from '../deleting/index.js';
import type { DeleteResult } from '../broker/index.js';
import { entitiesIn, type ListedPage, type PageShape } from '../listing/index.js';
import {
  TruncationEvidence,
  firstShape,
  MAX_INSTANCES,
  nextShape,
  type InstancePageShape,
  type ShownPage,
} from './instance-pages.js';
import { OUT_OF_SIGHT, removeInstance, toItem, type InstanceGuard, instanceListsOf } from './instances.js';
import {
  interleave,
  findByNarrowedQueries,
  VALUE_FILTERS,
  attributeQuery,
  type NarrowedQueryOptions,
  type TruncatedList,
} from './narrowed-queries.js';
import { EPOCH, timeParameters, type TimeFilter } from './time-filter.js';
import { learnValueSelection, type ValueSelection } from './value-selection.js';

export interface InstanceKindOptions {
  readonly guard: InstanceGuard;
  readonly time: TimeFilter;
  /** When the purge began, in milliseconds since the epoch; see PurgeScope. */
  readonly startedMs: () => number;
  /** Nothing is deleted, so instances that the broker leaves out need queries of their own. */
  readonly countsOnly: boolean;
  /** What is known about how many instances the broker shows at once. @default nothing */
  readonly evidence?: TruncationEvidence;
}

/** Maximum number of attempts to learn how the broker reads filters by value. */
const MAX_LEARNING_TRIES = 10;

/** Maximum number of attributes with hidden instances to check again at the end. */
const MAX_HIDDEN = 1000;

const MANY_HIDDEN =
  `The broker showed only some of the instances of more than ${MAX_HIDDEN} attributes, ` +
  'and not all of these were checked again: instances may remain. Purge them by id and time.';

/**
 * Attribute instances in an interval (clause 5.6.15).
 *
 * A broker may show only some of them, marked as partial (206) or silently. Once those are deleted it shows others, so repeated
 * passes reach them all. If nothing is deleted, if the shown instances cannot be deleted, or if the entity may stop matching,
 * narrowed queries find the others.
 */
export class InstanceKind implements ItemKind {
  /** An instance that is written again gets another instanceId. */
  readonly mayComeBack = false;
  readonly stillThere = {
    status: 409,
    title: 'Instance still listed',
    detail: 'The broker answered that the instance is gone, but still shows it.',
  };
  /** Maximum number of instances waiting for their delete before another page is fetched. */
  readonly pendingMax = 1000;
  readonly #context: PurgeContext;
  readonly #options: InstanceKindOptions;
  readonly #filters: ReadonlySet<string>;
  readonly #filtersByValue: boolean;
  readonly #evidence: TruncationEvidence;
  #shape: InstancePageShape;
  /**
   * Whether to query without lastN. A count must be complete at once, so it does so from the start. A purge starts with small
   * pages, and does so only in its second walk.
   */
  #isBare: boolean;
  #needsTimes: boolean;
  #valueSelection: ValueSelection = 'unknown';
  #hasMeasuredLimit = false;
  #learningTries = 0;
  /** Attributes with hidden instances, by entity and attribute. Every pass finds them again. */
  readonly #hidden = new Map<string, Pick<TruncatedList, 'entityId' | 'attribute'>>();
  /** Whether there were more of them than the purge remembers. */
  #hasMoreHidden = false;
  #skipsArrivals = false;
  #emptyPages = 0;

  constructor(context: PurgeContext, options: InstanceKindOptions) {
    const first = firstShape(context.limits.pageSize);
    this.#context = context;
    this.#options = options;
    this.#evidence = options.evidence ?? new TruncationEvidence();
    this.#filters = new Set(context.selection.map(({ name }) => name));
    this.#filtersByValue = [...this.#filters].some((name) => VALUE_FILTERS.has(name));
    this.#shape = options.countsOnly ? { ...first, limit: 1 } : first;
    this.#isBare = options.countsOnly;
    this.#needsTimes = options.time.property !== 'observedAt';
  }

  async *read(page: ListedPage, indexes: readonly number[]): AsyncGenerator<ItemBatch> {
    const evidence = this.#evidence;
    this.#emptyPages = 0;
    const lists = indexes.flatMap((index) => this.#listsOf(page, index));
    const longest = lists.reduce((most, { instances }) => Math.max(most, instances.length), 0);
    const items = lists.flatMap((list) => this.#itemsOf(list));
    const contents = lists.flatMap(contentsOf);
    evidence.note(page, longest);
    this.#shape = this.#shapeAfter({ entities: indexes.length, instances: items.length, longest });
    const truncated = lists.filter(({ instances }) => evidence.mayBeTruncated(page, instances.length));
    const incomplete = await this.#listsToComplete(page, truncated);
    yield { items, contents, mayHideMore: truncated.length > 0 };
    yield* interleave(
      incomplete.map((list) => this.#readMissing(list, page)),
      this.#context.limits.concurrency,
    );
  }

  async remove(item: Item, isStale: () => boolean, onSend?: () => void): Promise<DeleteResult> {
    return removeInstance(this.#context, item, this.#options.time, { isStale, onSend });
  }

  hasArrived(item: Item): boolean {
    // This is called when instances keep arriving, so ask for createdAt from now on.
    this.#skipsArrivals = true;
    this.#needsTimes = true;
    return this.#isArrival(item);
  }

  shape(): PageShape {
    // A page showed nothing new if read() was not called for it. A single such page is often just the end.
    if (this.#emptyPages > 1)
      this.#shape = nextShape(
        this.#shape,
        { entities: 0, instances: 0, longest: 0 },
        this.#context.limits.pageSize,
      );
    this.#emptyPages += 1;
    const bare = this.#isBare ? { instances: MAX_INSTANCES, isBare: true } : {};
    return { ...this.#shape, needsTimes: this.#needsTimes, ...bare };
  }

  /** Some brokers apply lastN before the interval, so the second walk queries without lastN. */
  beginSecondWalk(): boolean {
    if (this.#isBare) return false;
    this.#isBare = true;
    this.#shape = firstShape(this.#context.limits.pageSize);
    this.#emptyPages = 0;
    return true;
  }

  /**
   * Yields the attributes that still have hidden instances at the end; deletes may have uncovered some of them. Warns if there
   * were too many to check.
   */
  async *hiddenItems(): AsyncGenerator<ItemError, void> {
    const { time } = this.#options;
    const { lister, selection: whole } = this.#context;
    if (this.#hasMoreHidden) this.#context.warn(MANY_HIDDEN);
    for (const { entityId, attribute } of this.#hidden.values()) {
      const selection = [
        ...attributeQuery(whole, { entityId, attribute }, { keepsValues: false }),
        ...timeParameters(time),
      ];
      const page = await lister.page({ selection, limit: 1 });
      const remains = entitiesIn(page).some((entity) => instanceListsOf(entity, time.property).length > 0);
      if (remains) yield { entityId, attribute, error: itemProblem(OUT_OF_SIGHT) };
    }
  }

  #listsOf(page: ListedPage, index: number): TruncatedList[] {
    const { guard, time } = this.#options;
    const entityId = page.ids[index] ?? '';
    return instanceListsOf(entitiesIn(page)[index] ?? {}, time.property)
      .filter(({ instances }) => instances.length > 0)
      .map(({ attribute, instances }) => {
        guard.checkAttribute(entityId, attribute);
        return { entityId, attribute, instances };
      });
  }

  #itemsOf({ entityId, attribute, instances }: TruncatedList): Item[] {
    const { guard, time } = this.#options;
    return instances.map((instance) => {
      guard.checkInstance(entityId, attribute, instance);
      return toItem(entityId, attribute, instance, time);
    });
  }

  #shapeAfter(shown: ShownPage): InstancePageShape {
    const { pageSize } = this.#context.limits;
    const shape = this.#shape;
    const next = nextShape(this.#isBare ? { ...shape, instances: Infinity } : shape, shown, pageSize);
    return this.#isBare ? { ...shape, limit: next.limit } : next;
  }

  async #listsToComplete(
    page: ListedPage,
    truncated: readonly TruncatedList[],
  ): Promise<readonly TruncatedList[]> {
    const { countsOnly, time } = this.#options;
    if (truncated.length === 0) return [];
    if (!countsOnly && !this.#filtersByValue) {
      // If all shown instances stay, the hidden ones stay hidden.
      return truncated.filter((list) =>
        list.instances.every((instance) =>
          this.#stays(toItem(list.entityId, list.attribute, instance, time)),
        ),
      );
    }
    const open = await this.#stillSuspect(page, truncated);
    if (this.#filtersByValue && this.#valueSelection === 'unknown')
      this.#valueSelection = await this.#selectionByValue(open);
    // If the broker shows only matching instances, repeated passes reach them all.
    return !countsOnly && this.#valueSelection === 'instances' ? [] : open;
  }

  /** Whether an item stays: no further delete will be sent for it. */
  #stays(item: Item): boolean {
    const state = this.#context.ledger.states.get(keyOf(item));
    if (state === IdState.failed || state === IdState.goneTwice) return true;
    return this.#skipsArrivals && state === IdState.unknown && this.#isArrival(item);
  }

  /** Whether an instance arrived after the purge began. observedAt does not show that, because it may be a forecast. */
  #isArrival({ time: times }: Item): boolean {
    const { time, startedMs } = this.#options;
    const at = times?.['createdAt'] ?? (time.property === 'observedAt' ? undefined : times?.[time.property]);
    return at !== undefined && (instantOf(at) ?? 0) > startedMs();
  }

  /** Asks the broker once for a longer list. If it shows one, drops the lists that were suspected only for their length. */
  async #stillSuspect(
    page: ListedPage,
    truncated: readonly TruncatedList[],
  ): Promise<readonly TruncatedList[]> {
    const evidence = this.#evidence;
    const { property } = this.#options.time;
    const [first] = truncated;
    const isSilent = truncated.every(({ instances }) => !evidence.isMarkedTruncated(page, instances.length));
    if (first === undefined || !isSilent || this.#hasMeasuredLimit) return truncated;
    this.#hasMeasuredLimit = true;
    const whole = await this.#context.lister.page({
      selection: [
        ...attributeQuery(this.#context.selection, first, { keepsValues: false }),
        ...timeParameters({ property, from: EPOCH, to: undefined }),
      ],
      limit: 1,
      ...(page.instances === undefined ? { isBare: true } : { instances: MAX_INSTANCES }),
    });
    for (const entity of entitiesIn(whole))
      for (const { instances } of instanceListsOf(entity, property)) evidence.note(whole, instances.length);
    return truncated.filter(({ instances }) => evidence.mayBeTruncated(page, instances.length));
  }

  /**
   * Finds out what filters by value select: instances that get deleted may decide whether an entity still matches, and so
   * whether its other instances are shown.
   */
  async #selectionByValue(lists: readonly TruncatedList[]): Promise<ValueSelection> {
    if (this.#filters.has('georel') || this.#learningTries === MAX_LEARNING_TRIES) return 'unknown';
    this.#learningTries += 1;
    return learnValueSelection(this.#context, lists, this.#options.time);
  }

  async *#readMissing(list: TruncatedList, page: ListedPage): AsyncGenerator<ItemBatch, void> {
    const asksBare = page.instances === undefined;
    const came = { hidden: false };
    const onHidden = () => {
      came.hidden = true;
    };
    const keepsValues = this.#valueSelection !== 'entities';
    for await (const instances of this.#findOthers(list, { asksBare, keepsValues, onHidden })) {
      this.#evidence.noteMore(page, list.instances.length);
      const others = { ...list, instances };
      // The batch may wait while other items are deleted.
      const listed = { atMs: this.#context.clock.monotonicMs(), tookMs: page.tookMs };
      yield { items: this.#itemsOf(others), contents: contentsOf(others), listed };
    }
    if (this.#filtersByValue && this.#valueSelection === 'unknown')
      yield* this.#readUndecided(list, asksBare);
    if (came.hidden) yield this.#outOfSight(list);
  }

  /** Checks whether there are hidden instances, if it is unknown whether the query includes them. */
  async *#readUndecided(list: TruncatedList, asksBare: boolean): AsyncGenerator<ItemBatch, void> {
    const rest = this.#findOthers(list, { asksBare, keepsValues: false, onHidden: () => {} });
    const { done } = await rest.next();
    await rest.return(undefined);
    if (done !== true) yield this.#outOfSight(list);
  }

  #findOthers(
    list: TruncatedList,
    how: Pick<NarrowedQueryOptions, 'asksBare' | 'keepsValues' | 'onHidden'>,
  ): ReturnType<typeof findByNarrowedQueries> {
    const options = { ...how, evidence: this.#evidence, needsTimes: this.#needsTimes };
    return findByNarrowedQueries(this.#context, list, this.#options.time, options);
  }

  /** Notes that the broker currently hides instances of a list. */
  #outOfSight({ entityId, attribute }: TruncatedList): ItemBatch {
    const key = keyOf({ entityId, attribute });
    if (!this.#options.countsOnly && !this.#hidden.has(key)) {
      if (this.#hidden.size < MAX_HIDDEN) this.#hidden.set(key, { entityId, attribute });
      else this.#hasMoreHidden = true;
    }
    return { items: [], isIncomplete: true };
  }
}

/** The content of the items of a list, in the same order. */
function contentsOf({ instances }: TruncatedList): readonly JsonValue[] {
  return instances.map(({ shown }) => shown);
}
