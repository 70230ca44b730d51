import type { BrokerProblem } from '../broker/broker-problem.js';
import type { DeleteResult } from '../broker/batch-reply.js';
import type { PurgeContext } from '../run/context.js';
import { IdStates, IdState } from '../ledger/id-states.js';
import type { ListedPage } from '../listing/listing.js';
import type { PageShape } from '../listing/page.js';
import type { Parameter } from '../query/parameters.js';
import { keyOf, type Item, type ItemError } from '../ledger/item-ledger.js';
import { walkMatches, type PagingEvidence, type WalkEnd } from '../listing/walk.js';

/** Items found on one page. */
export interface ItemBatch {
  readonly items: readonly Item[];
  /** The broker may have left out some, and shows them once these are deleted. */
  readonly mayHideMore?: boolean;
  /** There are items that the broker does not show at all. */
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
   * @param isStale whether it was listed too long ago: it is not sent then
   * @param onSend called right before a request is first sent for it
   */
  remove(item: Item, isStale: () => boolean, onSend?: () => void): Promise<DeleteResult>;
  /** Somebody may write it again under the same name after it was deleted. */
  readonly mayComeBack: boolean;
  /** The problem of an item that is still there after two confirmed deletes. */
  readonly stillThere: BrokerProblem;
  /** How much of a page to ask for. */
  shape?(): PageShape;
  /** True for an item that arrived after the purge began; called when items keep arriving. */
  hasArrived?(item: Item): boolean;
  /** Items that cannot be deleted because the broker never showed them; called when nothing else is left to do. */
  hiddenItems?(): AsyncIterable<ItemError>;
  /** Called when nothing is left to do: prepares a second walk that queries differently; false if none is needed. */
  beginSecondWalk?(): boolean;
  /** Items that may wait before another page is fetched. @default a few for each delete in flight */
  readonly pendingMax?: number;
}

/** True if an entity may stop matching the query when one of its attributes is deleted. */
export function selectsByValue(selection: readonly Parameter[]): boolean {
  return selection.some(({ name }) => name === 'q' || name === 'georel');
}

/**
 * Walks over all matches and passes on their items, page by page.
 *
 * @param entities notes the entities met
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
    lister: context.lister,
    selection: context.selection,
    countsUnshown: context.countsUnshown,
    waitBefore: (look) => context.requester.waitBefore(look),
    paging,
    isNew: (id) => {
      if (entities.get(id) === IdState.unknown) entities.set(id, IdState.pending);
      const isFirst = entities.markListed(id);
      if (isFirst) newHere.add(id);
      return isFirst;
    },
    ...(kind.shape === undefined ? {} : { shape: () => kind.shape?.() ?? {} }),
  });
  for (;;) {
    const step = await walk.next();
    if (step.done === true)
      return { ...step.value, ...(paging.hidesSome === true ? { hidesSome: true } : {}) };
    const page = step.value;
    await context.proveFilters();
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
      const fresh = items.filter((item) => {
        const key = keyOf(item);
        if (seen.get(key) !== IdState.unknown) return false;
        seen.set(key, IdState.pending);
        return true;
      });
      onItems(fresh, seen.size);
    });
    isComplete &&= end.complete;
  } while (kind.beginSecondWalk?.() === true);
  return isComplete;
}
