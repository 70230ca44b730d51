import type { PurgeContext } from '../context.js';
import { createDispatcher } from '../dispatcher.js';
import { BrokerFailedError, BrokerReplyError, NotConvergingError } from '../errors.js';
import { IdLedger, IdState } from '../id-ledger.js';
import { selectsByValue, walkItems, type ItemKind } from './item-walk.js';
import type { ListedPage } from '../listing/listing.js';
import { keyOf, type Item } from '../tally.js';
import { lookAtUnclear, lookLast } from '../unclear-items.js';

/** Passes over all matches after which a purge gives up; those that the broker showed a part of only are not counted. */
const PASSES_MAX = 50;

/** Passes that take new matches although nobody knows how many there were; later ones arrived meanwhile. */
const UNCOUNTED_PASSES_MAX = 10;

/** Each removes something, so that these many are met only where items arrive as fast as they go. */
const CUT_PASSES_MAX = 100_000;

/** Passes after which items are left that arrived while the purge ran, where their times tell. */
const CHASING_PASSES_MAX = 10;

/** Looks at items claimed gone that are still listed, before they are reported: the query may lag behind. */
const LOOKS_MAX = 3;

/** Deletes between two reports of the progress; a report for each would cost as much as the rest of its bookkeeping. */
const REPORTED_EVERY = 20;

/** Items whose tries ran out that are remembered for a second try; others are tried again when they are listed. */
const RETRIED_MAX = 10_000;

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
  context.tally.startQuery();
  try {
    return await removeInPasses(context, kind, total);
  } catch (error) {
    await lookLast(context, kind);
    throw error;
  }
}

async function removeInPasses(
  context: PurgeContext,
  kind: ItemKind,
  total: number | undefined,
): Promise<number> {
  const entities = new IdLedger();
  let looks = 0;
  let wholePasses = 0;
  let trusted = total;
  for (let pass = 1; wholePasses < PASSES_MAX && pass < CUT_PASSES_MAX; pass++) {
    const expectsMore = trusted === undefined ? pass <= UNCOUNTED_PASSES_MAX : entities.size < trusted;
    const isLastLook = looks === LOOKS_MAX;
    // After the first full pass, one more: what turns up later has arrived meanwhile.
    const takesNew = wholePasses < 2 || expectsMore;
    const options = { takesNew, isLastLook, skipsArrivals: pass > CHASING_PASSES_MAX };
    const known = entities.size;
    const result = await removeInOnePass(context, kind, entities, options);
    const { tried, left, lingering } = result;
    context.emit({ type: 'drained', matched: context.tally.matched });
    if (!result.wasCut) wholePasses += 1;
    if (result.hidesSome) trusted = undefined;
    // In pages without a fixed order some entities are passed over, and met in a later pass.
    const hidden = Math.max(0, result.counted - entities.size);
    if (tried > 0 || (hidden > 0 && entities.size > known)) continue;
    if (lingering + hidden > 0 && !isLastLook) {
      looks += 1;
      await context.requester.waitBefore(looks);
      continue;
    }
    if (hidden > 0) throw new BrokerReplyError(`The broker counts ${hidden} more matches than it lists.`);
    if (kind.looksAgain?.() === true) continue;
    context.tally.settleBySurvey(result.hasShownAll && showsAllThatIsLeft(context));
    await lookAtUnclear(context, kind);
    for await (const { error, ...item } of kind.leftOver?.() ?? []) context.tally.failListed(item, error);
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
  readonly wasCut: boolean;
  /** What was not listed is not there. */
  readonly hasShownAll: boolean;
  /** Its count holds matches that it does not show. */
  readonly hidesSome: boolean;
}

interface PassOptions {
  /** Items never seen before are taken. */
  readonly takesNew: boolean;
  /** Items claimed gone twice and still listed are reported as failed now. */
  readonly isLastLook: boolean;
  /** Of items never seen before, those are left that arrived while the purge ran. */
  readonly skipsArrivals: boolean;
}

interface Try {
  readonly item: Item;
  readonly isSecondTry: boolean;
}

async function removeInOnePass(
  context: PurgeContext,
  kind: ItemKind,
  entities: IdLedger,
  { takesNew, isLastLook, skipsArrivals }: PassOptions,
): Promise<PassResult> {
  const { tally, limits } = context;
  const counts = { tried: 0, left: 0, lingering: 0, done: 0, wasCut: false };
  const dueAgain: Item[] = [];
  const dispatcher = createDispatcher<Try>({
    concurrency: () => limits.concurrency,
    chunkSize: () => 1,
    run: async ([next]) => {
      if (next === undefined) return [];
      const { item, isSecondTry } = next;
      const verdict = await kind.remove(item);
      tally.settle(item, verdict, isSecondTry);
      const isDueAgain = !isSecondTry && (verdict.kind === 'retryable' || verdict.kind === 'unclear');
      if (isDueAgain && dueAgain.length < RETRIED_MAX) dueAgain.push(item);
      counts.done += 1;
      if (counts.done % REPORTED_EVERY === 0) context.reportProgress();
      return [];
    },
  });
  const takes = (item: Item) => !skipsArrivals || kind.hasArrived?.(item) !== true;
  const isBehindStart = createArrivalsCheck();
  tally.ledger.startSurvey();
  try {
    const end = await walkItems(context, kind, entities, async ({ items, mayHideMore = false }, page) => {
      counts.wasCut ||= mayHideMore;
      // What comes to light when others are gone was there before.
      const takesPage = (takesNew || mayHideMore) && !isBehindStart(page);
      for (const item of items) {
        const key = keyOf(item);
        const state = tally.ledger.get(key);
        tally.ledger.markListed(key);
        const isGoneTwice = state === IdState.goneTwice || state === IdState.absentTwice;
        if (isGoneTwice && !isLastLook) counts.lingering += 1;
        else if (isGoneTwice) tally.failListed(item, kind.stillThere);
        else if (state === IdState.unknown && !(takesPage && takes(item))) counts.left += 1;
        else if (state !== IdState.failed && state !== IdState.pending) {
          if (state === IdState.unknown) context.take(item);
          counts.tried += 1;
          dispatcher.add([{ item, isSecondTry: state !== IdState.unknown }]);
        }
      }
      await dispatcher.room(kind.pendingMax ?? limits.concurrency * 4);
    });
    await dispatcher.settled();
    context.reportProgress();
    await tryAgain(context, kind, dueAgain);
    return {
      ...counts,
      counted: end.unlisted > 0 ? (end.lastCount ?? 0) : 0,
      hidesSome: end.hidesSome === true,
      hasShownAll: end.complete && !counts.wasCut,
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
async function tryAgain(context: PurgeContext, kind: ItemKind, items: readonly Item[]): Promise<void> {
  const { tally, requester, limits } = context;
  const due = items.filter((item) => tally.ledger.get(keyOf(item)) === IdState.unsettled);
  const dispatcher = createDispatcher<Item>({
    concurrency: () => limits.concurrency,
    chunkSize: () => 1,
    run: async ([item]) => {
      if (item === undefined) return [];
      tally.settle(item, await kind.remove(item), true);
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
      if (tally.ledger.get(keyOf(item)) === IdState.unsettled) tally.giveUp(item, problem);
    }
  }
}

/**
 * Whether an item that the query does not show is gone. What it shows changes with what is deleted when it selects by the
 * values of attributes.
 */
function showsAllThatIsLeft({ selection, showsAll }: PurgeContext): boolean {
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
