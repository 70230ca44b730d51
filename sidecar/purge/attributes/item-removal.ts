import type { PurgeContext, QueryView } from '../run/index.js';
import {
  Dispatcher,
  CutTries,
  isStaleSince,
  isCreatedBefore,
  selectsByValue,
  walkItems,
  type ItemKind,
  resolveUnclear,
  resolveUnclearAtEnd,
} from '../deleting/index.js';
import { BrokerFailedError, BrokerReplyError, NotConvergingError } from '../errors.js';
import type { DeleteResult } from '../broker/index.js';
import { IdStates, IdState, keyOf, type Item } from '../ledger/index.js';
import type { ListedPage } from '../listing/index.js';

/** Full passes over all matches, after which the purge gives up. */
const MAX_FULL_PASSES = 50;

/** Passes that take new matches without a count; later ones arrived during the purge. */
const MAX_UNCOUNTED_PASSES = 10;

/** All passes, truncated ones included. Reached only if items arrive as fast as they are deleted. */
const MAX_PASSES = 100_000;

/** Passes after which items are skipped whose times show that they arrived during the purge. */
const MAX_PASSES_WITH_ARRIVALS = 10;

/** Queries of items that are still listed after their delete, before they are reported: the query may lag behind. */
const MAX_RECHECKS = 3;

/** Deletes between two progress reports; one for each would double the bookkeeping. */
const DELETES_PER_REPORT = 20;

/** Entities of one page, in seconds of the rate. */
const PAGE_SECONDS = 1.5;

const SETTLED: ReadonlySet<IdState> = new Set([IdState.failed, IdState.madeAgain]);

/** Failed items remembered for their final retry; others are retried when they are listed again. */
const MAX_FINAL_RETRIES = 10_000;

/**
 * Removes items from every match while paging forward, since the matches themselves may remain. Passes are repeated until
 * one finds nothing to do: an entity may stop matching once its items are gone, which moves others to earlier pages.
 *
 * @param total the broker's count of matches, if trusted
 * @returns how many items arrived during the purge and were left
 * @throws BrokerReplyError when the broker counts matches that it does not list
 */
export async function removeItems(
  context: PurgeContext,
  kind: ItemKind,
  total: number | undefined,
): Promise<number> {
  context.ledger.forgetUnclear();
  try {
    return await removeInPasses(context, kind, total);
  } catch (error) {
    await resolveUnclearAtEnd(context, kind);
    throw error;
  }
}

async function removeInPasses(
  context: PurgeContext,
  kind: ItemKind,
  total: number | undefined,
): Promise<number> {
  const entities = new IdStates();
  const cuts = new CutTries();
  const madeAgainBefore = context.ledger.madeAgain;
  let rechecks = 0;
  let wholePasses = 0;
  let trusted = total;
  for (let pass = 1; wholePasses < MAX_FULL_PASSES && pass < MAX_PASSES; pass++) {
    const expectsMore = trusted === undefined ? pass <= MAX_UNCOUNTED_PASSES : entities.size < trusted;
    const isLastRecheck = rechecks === MAX_RECHECKS;
    // Take new items in the first two full passes; later ones arrived during the purge.
    const takesNew = wholePasses < 2 || expectsMore;
    const paced = listingNoFurther(context, kind);
    const asks = pass > 1 && kind.mayComeBack ? askingForTimes(paced) : paced;
    const options = { takesNew, isLastRecheck, cuts, skipsArrivals: pass > MAX_PASSES_WITH_ARRIVALS };
    const known = entities.size;
    const result = await removeInOnePass(context, asks, entities, options);
    const { tried, left, lingering } = result;
    context.emit({ type: 'drained', matched: context.ledger.matched });
    if (!result.wasTruncated) wholePasses += 1;
    if (result.hidesSome) trusted = undefined;
    // Pages without a fixed order skip some entities; a later pass finds them.
    const hidden = Math.max(0, result.counted - entities.size);
    if (tried > 0 || result.unsent > 0 || (hidden > 0 && entities.size > known)) continue;
    if (lingering + hidden > 0 && !isLastRecheck) {
      rechecks += 1;
      await context.requester.waitBefore(rechecks);
      continue;
    }
    if (hidden > 0) throw new BrokerReplyError(`The broker counts ${hidden} more matches than it lists.`);
    if (kind.beginSecondWalk?.() === true) continue;
    context.ledger.resolveBySurvey(result.hasShownAll && showsAllThatIsLeft(context));
    await resolveUnclear(context, kind);
    for await (const { error, ...item } of kind.hiddenItems?.() ?? [])
      context.ledger.recordStillListed(item, error);
    return left + context.ledger.madeAgain - madeAgainBefore;
  }
  throw new NotConvergingError('Every pass finds more items to delete. Send the purge again.');
}

interface PassResult {
  readonly tried: number;
  /** Items that were listed too long ago when their turn came; the next pass lists them again. */
  readonly unsent: number;
  /** New items that were not taken. */
  readonly left: number;
  /** Items reported as deleted twice, still listed, and not yet recorded as failed. */
  readonly lingering: number;
  /** The broker's last count; 0 if it listed them all, or gives no count. */
  readonly counted: number;
  /** The broker may have left out items. */
  readonly wasTruncated: boolean;
  /** Items that were not listed are gone. */
  readonly hasShownAll: boolean;
  /** The broker counts matches that it does not show. */
  readonly hidesSome: boolean;
}

interface PassOptions {
  /** Take new items. */
  readonly takesNew: boolean;
  /** Record items as failed that were reported as deleted twice and are still listed. */
  readonly isLastRecheck: boolean;
  /** Skip new items that arrived during the purge. */
  readonly skipsArrivals: boolean;
  /** Final tries of the purge that were cut short. */
  readonly cuts: CutTries;
}

interface PendingDelete {
  readonly item: Item;
  readonly isFinalTry: boolean;
  readonly isStale: () => boolean;
}

async function removeInOnePass(
  context: PurgeContext,
  kind: ItemKind,
  entities: IdStates,
  { takesNew, isLastRecheck, skipsArrivals, cuts }: PassOptions,
): Promise<PassResult> {
  const { ledger, limits } = context;
  const counts = { tried: 0, unsent: 0, left: 0, lingering: 0, done: 0, wasTruncated: false };
  const dueAgain: PendingDelete[] = [];
  /** Once an item of an entity is gone, a query by value may not list the others again: they go with it. */
  const isByValue = selectsByValue(context.selection);
  /** Entities of which a delete was sent in this pass. */
  const begun = new IdStates();
  const hasBegun = (entityId: string) => begun.get(entityId) !== IdState.unknown;
  /** Keys of the items that are queued or in flight. */
  const queued = new Set<string>();
  const dispatcher = new Dispatcher<PendingDelete>({
    concurrency: () => limits.concurrency,
    chunkSize: () => 1,
    run: async ([next]) => {
      if (next === undefined) return [];
      const { item, isFinalTry, isStale } = next;
      ledger.checkRoomFor(item);
      const onSend = () => {
        if (isByValue) begun.set(item.entityId, IdState.pending);
      };
      const verdict: DeleteResult = isStale() ? { kind: 'unsent' } : await kind.remove(item, isStale, onSend);
      if (verdict.kind === 'unsent') {
        counts.unsent += 1;
        queued.delete(keyOf(item));
        return [];
      }
      queued.delete(keyOf(item));
      counts.tried += 1;
      ledger.record(item, verdict, isFinalTry && !isDueAfterCut(cuts, item, verdict));
      const isDueAgain = !isFinalTry && (verdict.kind === 'retryable' || verdict.kind === 'unclear');
      if (isDueAgain && dueAgain.length < MAX_FINAL_RETRIES) dueAgain.push(next);
      counts.done += 1;
      if (counts.done % DELETES_PER_REPORT === 0) context.reportProgress();
      return [];
    },
  });
  /**
   * Whether what is there again under the name of a deleted item is left: it was created since, or, under a maximum, may have
   * been. Otherwise its delete had no effect.
   */
  function isLeft(item: Item): boolean {
    const createdAt = item.time?.['createdAt'];
    if (createdAt !== undefined && !isCreatedBefore(context, createdAt)) {
      ledger.markMadeAgain(item);
      return true;
    }
    if (createdAt !== undefined || limits.maxAffected === undefined) return false;
    if (isLastRecheck) ledger.recordStillListed(item, kind.stillThere);
    else counts.lingering += 1;
    return true;
  }
  const takes = (item: Item) => !skipsArrivals || kind.hasArrived?.(item) !== true;
  const isBehindStart = createArrivalsCheck();
  ledger.states.startSurvey();
  try {
    const end = await walkItems(context, kind, entities, async ({ items, mayHideMore = false }, page) => {
      counts.wasTruncated ||= mayHideMore;
      // Items uncovered by deletes were there before.
      const isOld = isStaleSince(context.clock, { atMs: context.clock.now(), tookMs: page.tookMs });
      const takesPage = (takesNew || mayHideMore) && !isBehindStart(page);
      for (const item of items) {
        const key = keyOf(item);
        const state = ledger.states.get(key);
        ledger.states.markListed(key);
        if (isGone(state) && kind.mayComeBack && isLeft(item)) continue;
        if (state === IdState.goneTwice || state === IdState.absentTwice) {
          if (isLastRecheck) ledger.recordStillListed(item, kind.stillThere);
          else counts.lingering += 1;
        } else if (state === IdState.unknown && !(takesPage && takes(item))) counts.left += 1;
        else if (!SETTLED.has(state) && !queued.has(key)) {
          queued.add(key);
          const isFinalTry = state !== IdState.unknown && state !== IdState.pending;
          const isStale = () => isOld() && !hasBegun(item.entityId);
          dispatcher.add([{ item, isFinalTry, isStale }]);
        }
      }
      await dispatcher.room(kind.pendingMax ?? limits.concurrency * 4);
    });
    await dispatcher.settled();
    context.reportProgress();
    await runFinalRetries(context, kind, dueAgain, cuts);
    return {
      ...counts,
      counted: end.unlisted > 0 ? (end.lastCount ?? 0) : 0,
      hidesSome: end.hidesSome === true,
      wasTruncated: counts.wasTruncated || counts.unsent > 0,
      hasShownAll: end.complete && !counts.wasTruncated && counts.unsent === 0,
    };
  } catch (error) {
    context.requester.halt();
    await dispatcher.abandon();
    throw error;
  }
}

function isGone(state: IdState): boolean {
  return state === IdState.gone || state === IdState.goneTwice;
}

/** Whether an item may be tried once more, since its final try was cut short: what it was listed by had got too old. */
function isDueAfterCut(cuts: CutTries, item: Item, verdict: DeleteResult): boolean {
  return verdict.kind === 'retryable' && verdict.isCutShort === true && cuts.note(keyOf(item));
}

/** The same items, in pages that go before they get too old, where the purge is held to a rate. */
function listingNoFurther({ requester, limits }: PurgeContext, kind: ItemKind): ItemKind {
  const most = Math.ceil(requester.burst * PAGE_SECONDS);
  if (most >= limits.pageSize) return kind;
  const shape = () => {
    const asked = kind.shape?.();
    return { ...asked, limit: Math.min(asked?.limit ?? limits.pageSize, most) };
  };
  return { ...kind, shape };
}

/** The same items, with the times of their creation. */
function askingForTimes(kind: ItemKind): ItemKind {
  return { ...kind, shape: () => ({ ...kind.shape?.(), needsTimes: true }) };
}

/**
 * Retries the items that failed for a reason that may pass, and whose list is not too old. They may never be listed again:
 * with one of its items gone, an entity may no longer match.
 */
async function runFinalRetries(
  context: PurgeContext,
  kind: ItemKind,
  pending: readonly PendingDelete[],
  cuts: CutTries,
): Promise<void> {
  const { ledger, requester, limits } = context;
  const due = pending.filter(({ item }) => ledger.states.get(keyOf(item)) === IdState.retryDue);
  const dispatcher = new Dispatcher<PendingDelete>({
    concurrency: () => limits.concurrency,
    chunkSize: () => 1,
    run: async ([next]) => {
      if (next === undefined) return [];
      const { item, isStale } = next;
      const verdict = await kind.remove(item, isStale);
      ledger.record(item, verdict, !isDueAfterCut(cuts, item, verdict));
      context.reportProgress();
      return [];
    },
  });
  try {
    dispatcher.add(due);
    await dispatcher.settled();
  } catch (error) {
    await dispatcher.abandon();
    if (!(error instanceof BrokerFailedError) || error.reason !== 'nothing-but-failures') throw error;
    // These items are reported as failed. The next query shows whether the broker still answers.
    requester.forgiveFailures();
    const problem = {
      status: error.failure.status ?? 502,
      title: 'The broker did not delete the item',
      detail: error.message,
    };
    for (const { item } of due) {
      if (ledger.states.get(keyOf(item)) === IdState.retryDue) ledger.recordFailure(item, problem);
    }
  }
}

/**
 * Whether an item that the query does not show is gone. That does not hold for a query by attribute values, which may stop
 * matching the entity.
 */
function showsAllThatIsLeft({ selection, showsAll }: QueryView): boolean {
  return showsAll && !selectsByValue(selection);
}

/**
 * Returns a check for pages beyond the matches counted when the pass began: their entities arrived later. Taking those too
 * would never end if matches arrive as fast as the pass proceeds. A count that does not grow along proves nothing.
 */
function createArrivalsCheck(): (page: ListedPage) => boolean {
  let atStart: number | undefined;
  let walked = 0;
  let last: { readonly page: ListedPage; readonly isBehind: boolean } | undefined;
  return (page) => {
    // A page may come in several batches.
    if (last?.page === page) return last.isBehind;
    const { ids, count } = page;
    atStart ??= count;
    const before = walked;
    walked += ids.length;
    const isBehind = atStart !== undefined && before >= atStart && count !== undefined && count >= walked;
    last = { page, isBehind };
    return isBehind;
  };
}
