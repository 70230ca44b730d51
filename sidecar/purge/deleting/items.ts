import type { BrokerProblem, DeleteResult } from '../broker/index.js';
import type { PurgeContext } from '../run/index.js';
import { IdStates, IdState, keyOf, type Item, type ItemError } from '../ledger/index.js';
import {
  type Listed,
  type ListedPage,
  type PageShape,
  type PageSource,
  pagesUpTo,
  walkMatches,
  type PagingEvidence,
  type WalkEnd,
} from '../listing/index.js';
import { isAskable, type Parameter } from '../query/index.js';
import type { JsonValue } from '../../shared/json/json.js';
import { GatewayError } from '../../shared/errors.js';
import { isNotUnderstood } from '../errors.js';

/** Items found on one page. */
export interface ItemBatch {
  readonly items: readonly Item[];
  /** The content of each item as the broker shows it, for the archive; undefined if the broker does not show all of it. */
  readonly contents?: readonly (JsonValue | undefined)[];
  /** When the broker showed the items, if it was in answer to another query than that of the page. */
  readonly listed?: Listed;
  /** Whether the broker may have left out items, and will show them once these are deleted. */
  readonly mayHideMore?: boolean;
  /** Whether there are items that the broker does not show at all. */
  readonly isIncomplete?: boolean;
}

/** Which items of an entity to delete, and how. */
export interface ItemKind {
  /**
   * Reads the items of the entities at some indexes of a page.
   *
   * @throws FilterIgnoredError when an entity shows what the query excludes
   */
  read(page: ListedPage, indexes: readonly number[]): Iterable<ItemBatch> | AsyncIterable<ItemBatch>;
  /**
   * Deletes an item.
   *
   * @param isStale whether the item was listed too long ago, in which case it is not sent
   * @param onSend called right before a request is first sent for it
   */
  remove(item: Item, isStale: () => boolean, onSend?: () => void): Promise<DeleteResult>;
  /** Whether somebody may write an item again under the same name after it was deleted. */
  readonly mayComeBack: boolean;
  /** The problem of an item that the broker still shows after its deletes. */
  readonly stillThere: BrokerProblem;
  /** Returns how much of a page to ask for. */
  shape?(): PageShape;
  /** True for an item that arrived after the purge began; called when items keep arriving. */
  hasArrived?(item: Item): boolean;
  /** Items that cannot be deleted because the broker never showed them; called when nothing else is left to do. */
  hiddenItems?(): AsyncIterable<ItemError>;
  /** Called when nothing is left to do: prepares a second walk that queries differently; false if none is needed. */
  beginSecondWalk?(): boolean;
  /** Maximum number of items that may wait before another page is fetched. @default a few for each delete in flight */
  readonly pendingMax?: number;
}

/** True if an entity may stop matching the query when one of its attributes is deleted. */
export function selectsByValue(selection: readonly Parameter[]): boolean {
  return selection.some(({ name }) => name === 'q' || name === 'georel');
}

/**
 * Walks over all matches and passes on their items, page by page.
 *
 * @param entities receives the ids of the entities met
 */
export async function walkItems(
  context: PurgeContext,
  kind: Pick<ItemKind, 'read' | 'shape'>,
  entities: IdStates,
  onBatch: (batch: ItemBatch, page: ListedPage) => Promise<void> | void,
): Promise<WalkEnd & Pick<PagingEvidence, 'hidesSome'>> {
  const newHere = new Set<string>();
  // The count may shrink during the walk, because deleted items stop entities from matching: that is not a contradiction.
  const { stride } = context.paging;
  const paging: PagingEvidence = {
    contradicted: false,
    longestPage: 0,
    ...(stride === undefined ? {} : { stride }),
  };
  entities.startSurvey();
  const walk = walkMatches({
    ...context,
    paging,
    isNew: (id) => {
      entities.add(id);
      const isFirst = entities.markListed(id);
      if (isFirst) newHere.add(id);
      return isFirst;
    },
    ...(kind.shape === undefined ? {} : { shape: () => kind.shape?.() ?? {} }),
  });
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      if (paging.ignoresOffset === true) context.paging.ignoresOffset = true;
      return { ...step.value, ...(paging.hidesSome === true ? { hidesSome: true } : {}) };
    }
    const page = step.value;
    await context.proof.prove();
    // Read an entity that is listed twice on a page only once.
    const indexes = page.ids.flatMap((id, index) => (newHere.delete(id) ? [index] : []));
    newHere.clear();
    for await (const batch of kind.read(page, indexes)) await onBatch(batch, page);
  }
}

/**
 * Counts items without deleting.
 *
 * @param seen items counted by an earlier query; they are not counted again
 * @param onItems receives new items and the count so far; it may throw to stop counting
 * @returns whether all were found
 */
export async function countItems(
  context: PurgeContext,
  kind: ItemKind,
  seen: IdStates,
  onItems: (items: readonly Item[], counted: number) => void,
): Promise<boolean> {
  let isComplete = true;
  do {
    const end = await walkItems(context, kind, new IdStates(), ({ items, isIncomplete }) => {
      if (isIncomplete === true) isComplete = false;
      const fresh = items.filter((item) => seen.add(keyOf(item)));
      onItems(fresh, seen.size);
    });
    isComplete &&= end.complete;
  } while (kind.beginSecondWalk?.() === true);
  return isComplete;
}

/**
 * Maximum number of ids in one query, and of their characters in its URL: servers on Netty, such as Stellio, refuse request
 * lines of more than 4096 bytes, with the rest of the query.
 */
const MAX_IDS = 100;
const MAX_IDS_CHARS = 3000;

type Reader = Pick<ItemKind, 'read' | 'shape'>;

/** Entities as the items of a purge. */
export const WHOLE_ENTITIES: Reader = {
  *read(page, indexes) {
    yield { items: indexes.map((index) => ({ entityId: page.ids[index] ?? '' })) };
  },
};

/**
 * Queries, once, the entities whose deletes had no clear answer, by id in addition to the query. Items that are missing count
 * as deleted. Items that the broker does not clarify stay unclear. Nothing is deleted.
 */
export async function resolveUnclear(context: PurgeContext, kind: Reader): Promise<void> {
  try {
    for (const items of portionsOf(context.ledger.unclear)) await resolvePortion(context, kind, items);
  } catch (error) {
    // Without an answer, the items stay unclear.
    if (!(error instanceof GatewayError)) throw error;
  }
}

/**
 * Does the same when a purge fails, after its last delete has ended. Takes some seconds at most, and is skipped after a stop.
 */
export async function resolveUnclearAtEnd(context: PurgeContext, kind: Reader): Promise<void> {
  if (context.ledger.unclear.length === 0 || !context.requester.beginFinalQueries()) return;
  await resolveUnclear(context, kind);
}

async function resolvePortion(context: PurgeContext, kind: Reader, items: readonly Item[]): Promise<void> {
  const { ledger, lister } = context;
  const asked = new Set(items.map(({ entityId }) => entityId));
  const shownItems = new Set<string>();
  const shownEntities = new IdStates();
  let honoursIds = true;
  let hidesItems = false;
  const narrowed: PurgeContext = {
    ...context,
    selection: withIds(context.selection, asked),
    lister: {
      ...lister,
      page: async (query) => {
        const page = await lister.page(query);
        honoursIds &&= page.ids.every((id) => asked.has(id));
        return page;
      },
    },
  };
  const end = await walkItems(narrowed, kind, shownEntities, (batch) => {
    hidesItems ||= batch.mayHideMore === true || batch.isIncomplete === true;
    for (const item of batch.items) shownItems.add(keyOf(item));
  });
  const showsAll = end.complete && honoursIds;
  const isGone = ({ entityId, attribute }: Item): boolean => {
    if (attribute === undefined) return showsAll;
    if (shownEntities.get(entityId) !== IdState.unknown) return !hidesItems;
    return showsAll && !selectsByValue(context.selection);
  };
  for (const item of items) {
    if (shownItems.has(keyOf(item))) ledger.resolveAsPresent(item);
    else if (isGone(item)) ledger.resolveAsDeleted(item);
  }
}

/** Returns the query, narrowed to some of the entities that it has shown. */
export function withIds(selection: readonly Parameter[], ids: ReadonlySet<string>): readonly Parameter[] {
  const others = selection.filter(({ name }) => name !== 'id' && name !== 'idPattern');
  return [...others, { name: 'id', value: [...ids].join(',') }];
}

/** Splits items so that one query can ask for their entities. Ids that no query can ask for are left out. */
export function* portionsOf<Asked extends Pick<Item, 'entityId'>>(
  items: readonly Asked[],
): Iterable<readonly Asked[]> {
  let portion: Asked[] = [];
  let ids = new Set<string>();
  let chars = 0;
  for (const item of items) {
    const { entityId } = item;
    if (!isAskable(entityId)) continue;
    const more = ids.has(entityId) ? 0 : encodeURIComponent(entityId).length;
    if (more > 0 && (ids.size === MAX_IDS || chars + more > MAX_IDS_CHARS) && portion.length > 0) {
      yield portion;
      [portion, ids, chars] = [[], new Set(), 0];
    }
    portion.push(item);
    ids.add(entityId);
    chars += more;
  }
  if (portion.length > 0) yield portion;
}

/** After so many refused ids in a row, the broker is assumed to refuse the queries for another reason. */
const MAX_REFUSED_IDS = 10;

/**
 * Yields pages with the entities of some items, in queries by id and type: brokers may require a type next to ids (clause
 * 5.7.2.4), and some refuse several types next to several ids (Orion-LD). Entities whose id the broker refuses are left out: some
 * list ids that they refuse as no URI in a query (Scorpio).
 *
 * @param typesOf returns the `type` of the entity of an item as the broker shows it
 * @param filters further filters
 * @throws as Lister.page()
 */
export async function* pagesById<Asked extends Pick<Item, 'entityId'>>(
  lister: Pick<PageSource, 'page'>,
  items: readonly Asked[],
  typesOf: (item: Asked) => unknown,
  filters: readonly Parameter[] = [],
): AsyncGenerator<ListedPage, void> {
  let refused = 0;
  const byType = Map.groupBy(items, (item) =>
    [typesOf(item)]
      .flat()
      .filter((type) => typeof type === 'string')
      .join(),
  );
  for (const [type, all] of byType) {
    const others = [...filters, ...(type === '' ? [] : [{ name: 'type', value: type }])];
    const portions = [...portionsOf(all)].map((each) => [...new Set(each.map(({ entityId }) => entityId))]);
    for (let ids = portions.shift(); ids !== undefined; ids = portions.shift()) {
      try {
        yield* pagesUpTo(lister, withIds(others, new Set(ids)), ids.length);
        refused = 0;
      } catch (error) {
        if (!isNotUnderstood(error)) throw error;
        const half = Math.ceil(ids.length / 2);
        if (ids.length > 1) portions.unshift(ids.slice(0, half), ids.slice(half));
        else refused += 1;
        if (refused > MAX_REFUSED_IDS) throw error;
      }
    }
  }
}
