import type { BrokerProblem } from '../broker/broker-problem.js';
import type { DeleteResult } from '../batch-reply.js';
import type { PurgeContext } from '../context.js';
import { IdStates, IdState } from '../id-states.js';
import type { ListedPage } from '../listing/listing.js';
import type { PageShape } from '../listing/page.js';
import type { Parameter } from '../query/parameters.js';
import { keyOf, type Item, type ItemError } from '../item-ledger.js';
import { walkMatches, type PagingEvidence, type WalkEnd } from '../listing/walk.js';

/** Items found on one page. */
export interface ItemBatch {
  readonly items: readonly Item[];
  /** The broker may have left out some, which it shows when these are gone. */
  readonly mayHideMore?: boolean;
  /** Some are there that the broker shows in no way. */
  readonly isIncomplete?: boolean;
}

/** What of each listed entity is to go, and how it goes. */
export interface ItemKind {
  /**
   * Reads the items of the entities at some indexes of a page.
   *
   * @throws FilterIgnoredError when an entity shows what the query excludes
   */
  read(page: ListedPage, indexes: readonly number[]): Iterable<ItemBatch> | AsyncIterable<ItemBatch>;
  remove(item: Item): Promise<DeleteResult>;
  /** Said of an item that two deletes answered as done have left in place. */
  readonly stillThere: BrokerProblem;
  /** How much of a page to ask for. */
  shape?(): PageShape;
  /** True for an item that cannot have been there when the purge began; asked where they seem to have no end. */
  hasArrived?(item: Item): boolean;
  /** What cannot be removed because the broker never showed it as an item; asked when nothing is left to do. */
  hiddenItems?(): AsyncIterable<ItemError>;
  /** Asked when nothing is left to do: true when another look, by other means, is due. */
  beginSecondWalk?(): boolean;
  /** Items that wait before another page is fetched; a few for each delete slot where it is missing. */
  readonly pendingMax?: number;
}

/** True for a query that may no longer show an entity when one of its attributes is gone. */
export function selectsByValue(selection: readonly Parameter[]): boolean {
  return selection.some(({ name }) => name === 'q' || name === 'georel');
}

/**
 * Walks over all matches and hands out their items, page by page.
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
  // A count may shrink during the walk, when items go that the query asks for: it is no lie then.
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
    // An entity listed twice on a page is looked at once.
    const indexes = page.ids.flatMap((id, index) => (newHere.delete(id) ? [index] : []));
    newHere.clear();
    for await (const batch of kind.read(page, indexes)) await onBatch(batch, page);
  }
}

/**
 * Counts items, in walks without a delete.
 *
 * @param seen items counted before, by another query for the same; they are not counted again
 * @param onItems hears of items as they are counted, and of the count so far; it may throw to end the counting
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
