import type { PurgeContext, QueryView } from '../context.js';
import { createDispatcher } from '../dispatcher.js';
import { BrokerFailedError, BrokerReplyError, NotConvergingError } from '../errors.js';
import { IdStates, IdState } from '../id-states.js';
import { selectsByValue, walkItems, type ItemKind } from './item-walk.js';
import type { ListedPage } from '../listing/listing.js';
import { keyOf, type Item } from '../item-ledger.js';
import { resolveUnclear, resolveUnclearAtEnd } from '../unclear-items.js';

/** Passes over all matches after which a purge gives up; those that the broker showed a part of only are not counted. */
const MAX_FULL_PASSES = 50;

/** Passes that take new matches although nobody knows how many there were; later ones arrived meanwhile. */
const MAX_UNCOUNTED_PASSES = 10;

/** Each removes something, so that these many are met only where items arrive as fast as they go. */
const MAX_PASSES = 100_000;

/** Passes after which items are left that arrived while the purge ran, where their times tell. */
const MAX_PASSES_WITH_ARRIVALS = 10;

/** Looks at items claimed gone that are still listed, before they are reported: the query may lag behind. */
const MAX_RECHECKS = 3;

/** Deletes between two reports of the progress; a report for each would cost as much as the rest of its bookkeeping. */
const DELETES_PER_REPORT = 20;

/** Items whose tries ran out that are remembered for a second try; others are tried again when they are listed. */
const MAX_FINAL_RETRIES = 10_000;

/**
 * Removes items from every match, and pages forward meanwhile: the matches may remain. Passes over all matches are
 * repeated until one finds nothing left to do, since an entity may stop matching once its items are gone, and so move
 * others to a page already read.
 *
 * @param total matches that the broker counted before, where it did
 * @returns items that arrived meanwhile and were left
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
  let rechecks = 0;
  let wholePasses = 0;
  let trusted = total;
  for (let pass = 1; wholePasses < MAX_FULL_PASSES && pass < MAX_PASSES; pass++) {
    const expectsMore = trusted === undefined ? pass <= MAX_UNCOUNTED_PASSES : entities.size < trusted;
    const isLastRecheck = rechecks === MAX_RECHECKS;
    // After the first full pass, one more: what turns up later has arrived meanwhile.
    const takesNew = wholePasses < 2 || expectsMore;
    const options = { takesNew, isLastRecheck, skipsArrivals: pass > MAX_PASSES_WITH_ARRIVALS };
    const known = entities.size;
    const result = await removeInOnePass(context, kind, entities, options);
    const { tried, left, lingering } = result;
    context.emit({ type: 'drained', matched: context.ledger.matched });
    if (!result.wasTruncated) wholePasses += 1;
    if (result.hidesSome) trusted = undefined;
    // In pages without a fixed order some entities are passed over, and met in a later pass.
    const hidden = Math.max(0, result.counted - entities.size);
    if (tried > 0 || (hidden > 0 && entities.size > known)) continue;
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
    return left;
  }
  throw new NotConvergingError('More keeps turning up with every pass; send the purge again.');
}

interface PassResult {
  readonly tried: number;
  /** Items never seen before, and not taken. */
  readonly left: number;
  /** Items claimed gone twice, still listed, and not yet reported. */
  readonly lingering: number;
  /** Matches that the broker counted in the end; 0 when it listed all that it counts, or cannot count. */
  readonly counted: number;
  /** The broker showed a part only of what there was. */
  readonly wasTruncated: boolean;
  /** What was not listed is not there. */
  readonly hasShownAll: boolean;
  /** Its count holds matches that it does not show. */
  readonly hidesSome: boolean;
}

interface PassOptions {
  /** Items never seen before are taken. */
  readonly takesNew: boolean;
  /** Items claimed gone twice and still listed are reported as failed now. */
  readonly isLastRecheck: boolean;
  /** Of items never seen before, those are left that arrived while the purge ran. */
  readonly skipsArrivals: boolean;
}

interface PendingDelete {
  readonly item: Item;
  readonly isFinalTry: boolean;
}

async function removeInOnePass(
  context: PurgeContext,
  kind: ItemKind,
  entities: IdStates,
  { takesNew, isLastRecheck, skipsArrivals }: PassOptions,
): Promise<PassResult> {
  const { ledger, limits } = context;
  const counts = { tried: 0, left: 0, lingering: 0, done: 0, wasTruncated: false };
  const dueAgain: Item[] = [];
  const dispatcher = createDispatcher<PendingDelete>({
    concurrency: () => limits.concurrency,
    chunkSize: () => 1,
    run: async ([next]) => {
      if (next === undefined) return [];
      const { item, isFinalTry } = next;
      const verdict = await kind.remove(item);
      ledger.record(item, verdict, isFinalTry);
      const isDueAgain = !isFinalTry && (verdict.kind === 'retryable' || verdict.kind === 'unclear');
      if (isDueAgain && dueAgain.length < MAX_FINAL_RETRIES) dueAgain.push(item);
      counts.done += 1;
      if (counts.done % DELETES_PER_REPORT === 0) context.reportProgress();
      return [];
    },
  });
  const takes = (item: Item) => !skipsArrivals || kind.hasArrived?.(item) !== true;
  const isBehindStart = createArrivalsCheck();
  ledger.states.startSurvey();
  try {
    const end = await walkItems(context, kind, entities, async ({ items, mayHideMore = false }, page) => {
      counts.wasTruncated ||= mayHideMore;
      // What comes to light when others are gone was there before.
      const takesPage = (takesNew || mayHideMore) && !isBehindStart(page);
      for (const item of items) {
        const key = keyOf(item);
        const state = ledger.states.get(key);
        ledger.states.markListed(key);
        const isGoneTwice = state === IdState.goneTwice || state === IdState.absentTwice;
        if (isGoneTwice && !isLastRecheck) counts.lingering += 1;
        else if (isGoneTwice) ledger.recordStillListed(item, kind.stillThere);
        else if (state === IdState.unknown && !(takesPage && takes(item))) counts.left += 1;
        else if (state !== IdState.failed && state !== IdState.pending) {
          if (state === IdState.unknown) context.ledger.add(item);
          counts.tried += 1;
          dispatcher.add([{ item, isFinalTry: state !== IdState.unknown }]);
        }
      }
      await dispatcher.room(kind.pendingMax ?? limits.concurrency * 4);
    });
    await dispatcher.settled();
    context.reportProgress();
    await runFinalRetries(context, kind, dueAgain);
    return {
      ...counts,
      counted: end.unlisted > 0 ? (end.lastCount ?? 0) : 0,
      hidesSome: end.hidesSome === true,
      hasShownAll: end.complete && !counts.wasTruncated,
    };
  } catch (error) {
    context.requester.halt();
    await dispatcher.abandon();
    throw error;
  }
}

/**
 * Tries once more what failed for a reason that may pass. The query need not show it again: with one of its items gone,
 * an entity may no longer match.
 */
async function runFinalRetries(context: PurgeContext, kind: ItemKind, items: readonly Item[]): Promise<void> {
  const { ledger, requester, limits } = context;
  const due = items.filter((item) => ledger.states.get(keyOf(item)) === IdState.retryDue);
  const dispatcher = createDispatcher<Item>({
    concurrency: () => limits.concurrency,
    chunkSize: () => 1,
    run: async ([item]) => {
      if (item === undefined) return [];
      ledger.record(item, await kind.remove(item), true);
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
    // Hopeless items are reported one by one; whether the broker still answers is for the next query to show.
    requester.forgiveFailures();
    const problem = {
      status: error.failure.status ?? 502,
      title: 'The broker did not delete the item',
      detail: error.message,
    };
    for (const item of due) {
      if (ledger.states.get(keyOf(item)) === IdState.retryDue) ledger.recordFailure(item, problem);
    }
  }
}

/**
 * Whether an item that the query does not show is gone. What it shows changes with what is deleted when it selects by the
 * values of attributes.
 */
function showsAllThatIsLeft({ selection, showsAll }: QueryView): boolean {
  return showsAll && !selectsByValue(selection);
}

/**
 * Tells the pages that lie behind all matches counted when a pass began: they hold what has arrived since. Were those
 * taken too, a pass would have no end where matches arrive as fast as it goes on. A count that does not grow with what
 * is listed proves nothing.
 */
function createArrivalsCheck(): (page: ListedPage) => boolean {
  let atStart: number | undefined;
  let walked = 0;
  let last: { readonly page: ListedPage; readonly isBehind: boolean } | undefined;
  return (page) => {
    // A page may be handed out in several batches.
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
