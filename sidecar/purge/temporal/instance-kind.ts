import { instantOf } from '../../ngsi-ld/q-time.js';
import type { PurgeContext } from '../run/index.js';
import { IdState, itemProblem, keyOf, type Item, type ItemError } from '../ledger/index.js';
import type { ItemBatch, ItemKind } from '../deleting/index.js';
import type { ListedPage } from '../listing/index.js';
import {
  TruncationEvidence,
  firstShape,
  MAX_INSTANCES,
  nextShape,
  type InstancePageShape,
} from './instance-pages.js';
import { OUT_OF_SIGHT, removeInstance, toItem, type InstanceGuard, instanceListsOf } from './instances.js';
import {
  interleave,
  findByNarrowedQueries,
  VALUE_FILTERS,
  attributeQuery,
  type TruncatedList,
} from './narrowed-queries.js';
import { EPOCH, timeParameters, type TimeFilter } from './time-filter.js';
import { learnValueSelection, type ValueSelection } from './value-selection.js';

export interface InstanceKindOptions {
  readonly guard: InstanceGuard;
  readonly time: TimeFilter;
  /** When the purge began, in milliseconds since the epoch. */
  readonly startedMs: number;
  /** Nothing is deleted, so instances that the broker leaves out need queries of their own. */
  readonly countsOnly: boolean;
}

/** Pages on which to try to learn how the broker reads filters by value. */
const MAX_LEARNING_TRIES = 10;

/** Truncated lists that are checked again at the end. */
const MAX_HIDDEN = 1000;

/** States of items that are not deleted again. */
const STAYS: ReadonlySet<IdState> = new Set([IdState.failed, IdState.goneTwice]);

/** Instances waiting for their delete before another page is fetched. */
const MAX_PENDING = 1000;

/**
 * Attribute instances in an interval (clause 5.6.15).
 *
 * A broker may show only some of them (206, or silently). Once those are deleted it shows others, so repeated passes reach
 * them all. When the shown ones cannot be deleted, or the entity stops matching, narrowed queries find the others.
 */
export function instanceKind(context: PurgeContext, options: InstanceKindOptions): ItemKind {
  const { guard, time, countsOnly, startedMs } = options;
  const { pageSize, concurrency } = context.limits;
  const names = new Set(context.selection.map(({ name }) => name));
  const filtersByValue = [...names].some((name) => VALUE_FILTERS.has(name));
  const evidence = new TruncationEvidence();
  let shape: InstancePageShape = countsOnly ? { ...firstShape(pageSize), limit: 1 } : firstShape(pageSize);
  // A count must be complete at once; a delete starts with small pages and checks again at the end.
  let isBare = countsOnly;
  let needsTimes = time.property !== 'observedAt';
  let valueSelection: ValueSelection = 'unknown';
  let hasMeasuredLimit = false;
  let learningTries = 0;
  /** Attributes with hidden instances, by entity and attribute; every pass finds them again. */
  const hidden = new Map<string, Pick<TruncatedList, 'entityId' | 'attribute'>>();
  let skipsArrivals = false;
  let emptyPages = 0;

  async function* read(page: ListedPage, indexes: readonly number[]): AsyncGenerator<ItemBatch> {
    emptyPages = 0;
    const lists = indexes.flatMap((index) => listsOf(page, index));
    const longest = lists.reduce((most, { instances }) => Math.max(most, instances.length), 0);
    const items = lists.flatMap(itemsOf);
    evidence.note(page, longest);
    shape = shapeAfter({ entities: indexes.length, instances: items.length, longest });
    const truncated = lists.filter(({ instances }) => evidence.mayBeTruncated(page, instances.length));
    const incomplete = await listsToComplete(page, truncated);
    yield { items, mayHideMore: truncated.length > 0 };
    yield* interleave(
      incomplete.map((list) => readMissing(list, page)),
      concurrency,
    );
  }

  function listsOf(page: ListedPage, index: number): TruncatedList[] {
    const entityId = page.ids[index] ?? '';
    return instanceListsOf(page.entities[index] ?? {}, time.property)
      .filter(({ instances }) => instances.length > 0)
      .map(({ attribute, instances }) => {
        guard.checkAttribute(entityId, attribute);
        return { entityId, attribute, instances };
      });
  }

  async function listsToComplete(
    page: ListedPage,
    truncated: readonly TruncatedList[],
  ): Promise<readonly TruncatedList[]> {
    if (truncated.length === 0) return [];
    if (!countsOnly && !filtersByValue) {
      // All shown instances stay, so the hidden ones stay hidden.
      return truncated.filter((list) =>
        list.instances.every((instance) => stays(toItem(list.entityId, list.attribute, instance, time))),
      );
    }
    const open = await stillSuspect(page, truncated);
    if (filtersByValue && valueSelection === 'unknown') {
      valueSelection = await selectionByValue(open);
    }
    // If only matching instances are shown, repeated passes reach them all.
    return !countsOnly && valueSelection === 'instances' ? [] : open;
  }

  function stays(item: Item): boolean {
    const state = context.ledger.states.get(keyOf(item));
    return STAYS.has(state) || (skipsArrivals && state === IdState.unknown && hasArrived(item));
  }

  /** observedAt does not show when an instance arrived; it may be a forecast. */
  function hasArrived({ time: times }: Item): boolean {
    const at = times?.['createdAt'] ?? (time.property === 'observedAt' ? undefined : times?.[time.property]);
    return at !== undefined && (instantOf(at) ?? 0) > startedMs;
  }

  /** Drops the lists that are only suspected for their length once the broker has shown a longer one. */
  async function stillSuspect(
    page: ListedPage,
    truncated: readonly TruncatedList[],
  ): Promise<readonly TruncatedList[]> {
    const [first] = truncated;
    const isSilent = truncated.every(({ instances }) => !evidence.isMarkedTruncated(page, instances.length));
    if (first === undefined || !isSilent || hasMeasuredLimit) return truncated;
    hasMeasuredLimit = true;
    const whole = await context.lister.page({
      selection: [
        ...attributeQuery(context.selection, first, { keepsValues: false }),
        ...timeParameters({ property: time.property, from: EPOCH, to: undefined }),
      ],
      limit: 1,
      ...(page.instances === undefined ? { isBare: true } : { instances: MAX_INSTANCES }),
    });
    for (const entity of whole.entities) {
      for (const { instances } of instanceListsOf(entity, time.property))
        evidence.note(whole, instances.length);
    }
    return truncated.filter(({ instances }) => evidence.mayBeTruncated(page, instances.length));
  }

  /** Deleted instances may decide whether an entity still matches, and so whether its other instances are shown. */
  async function selectionByValue(lists: readonly TruncatedList[]): Promise<ValueSelection> {
    if (names.has('georel') || learningTries === MAX_LEARNING_TRIES) return 'unknown';
    learningTries += 1;
    return learnValueSelection(context, lists, time);
  }

  async function* readMissing(list: TruncatedList, page: ListedPage): AsyncGenerator<ItemBatch, void> {
    const asksBare = page.instances === undefined;
    const came = { hidden: false };
    const onHidden = () => {
      came.hidden = true;
    };
    const keepsValues = valueSelection !== 'entities';
    const options = { keepsValues, evidence, asksBare, needsTimes, onHidden };
    for await (const instances of findByNarrowedQueries(context, list, time, options)) {
      evidence.noteMore(page, list.instances.length);
      yield { items: itemsOf({ ...list, instances }) };
    }
    if (filtersByValue && valueSelection === 'unknown') yield* readUndecided(list, asksBare);
    if (came.hidden) yield outOfSight(list);
  }

  /** It is unknown whether the query includes instances that it hides: checks whether there are any. */
  async function* readUndecided(list: TruncatedList, asksBare: boolean): AsyncGenerator<ItemBatch, void> {
    const options = { keepsValues: false, evidence, asksBare, needsTimes, onHidden: () => {} };
    const rest = findByNarrowedQueries(context, list, time, options);
    const { done } = await rest.next();
    await rest.return(undefined);
    if (done === true) return;
    yield outOfSight(list);
  }

  /** Notes that the broker hides instances of a list, for now. */
  function outOfSight({ entityId, attribute }: TruncatedList): ItemBatch {
    if (!countsOnly && hidden.size < MAX_HIDDEN) {
      hidden.set(keyOf({ entityId, attribute }), { entityId, attribute });
    }
    return { items: [], isIncomplete: true };
  }

  /** The hidden instances that still exist at the end; deletes may have uncovered some. */
  async function* leftOver(): AsyncGenerator<ItemError, void> {
    for (const { entityId, attribute } of hidden.values()) {
      const selection = [
        ...attributeQuery(context.selection, { entityId, attribute }, { keepsValues: false }),
        ...timeParameters(time),
      ];
      const page = await context.lister.page({ selection, limit: 1 });
      const remains = page.entities.some((entity) => instanceListsOf(entity, time.property).length > 0);
      if (remains) yield { entityId, attribute, error: itemProblem(OUT_OF_SIGHT) };
    }
  }

  function itemsOf({ entityId, attribute, instances }: TruncatedList): Item[] {
    return instances.map((instance) => {
      guard.checkInstance(entityId, attribute, instance);
      return toItem(entityId, attribute, instance, time);
    });
  }

  function shapeAfter(shown: { entities: number; instances: number; longest: number }): InstancePageShape {
    const next = nextShape(isBare ? { ...shape, instances: Infinity } : shape, shown, pageSize);
    return isBare ? { ...shape, limit: next.limit } : next;
  }

  return {
    read,
    remove: async (item, isStale, onSend) => removeInstance(context, item, time, { isStale, onSend }),
    // One that is written anew has another instanceId.
    mayComeBack: false,
    stillThere: {
      status: 409,
      title: 'Instance still listed',
      detail: 'The broker confirmed two deletes and still shows the instance.',
    },
    hasArrived: (item) => {
      // Called when instances keep arriving: from now on, ask for createdAt.
      skipsArrivals = true;
      needsTimes = true;
      return hasArrived(item);
    },
    shape: () => {
      // Unread pages showed nothing new; a single one is often the end.
      if (emptyPages > 1) shape = nextShape(shape, { entities: 0, instances: 0, longest: 0 }, pageSize);
      emptyPages += 1;
      return { ...shape, needsTimes, ...(isBare ? { instances: MAX_INSTANCES, isBare } : {}) };
    },
    // Some brokers apply lastN before the interval, so the second walk does without it.
    beginSecondWalk() {
      if (isBare) return false;
      isBare = true;
      shape = firstShape(pageSize);
      emptyPages = 0;
      return true;
    },
    hiddenItems: leftOver,
    pendingMax: MAX_PENDING,
  };
}
