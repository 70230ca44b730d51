import type { PurgeContext } from './context.js';
import type { Dispatcher } from './dispatcher.js';
import { IdState } from './id-ledger.js';
import type { ListedPage } from './listing.js';

/** Pages listed from the back before the front is looked at again: deep offsets are slow, or wrong, at some brokers. */
const WINDOW_PAGES = 32;

/** The next page is asked for before the one that came is looked at. */
const QUERIES_IN_FLIGHT = 2;

/**
 * Drains the query: deletes page after page while the next page is already being fetched. Ends when as many ids were
 * taken as the broker counted before the first delete, or when its pages show nothing new; the sweep that follows finds
 * what was passed over.
 *
 * @param target the matches that the broker counted
 */
export async function drain(
  context: PurgeContext,
  first: ListedPage,
  target: number,
  dispatcher: Dispatcher<string>,
): Promise<void> {
  context.tally.ledger.reserve(target);
  const isPaged = first.ids.length === first.limit && target > first.limit;
  await (isPaged ? drainBackward : drainForward)(context, first, target, dispatcher);
}

/**
 * Drains in windows, each from its last page to its first: what is being deleted lies behind the pages still to come,
 * so that deletes neither move them nor have to be waited for.
 */
async function drainBackward(
  context: PurgeContext,
  first: ListedPage,
  target: number,
  dispatcher: Dispatcher<string>,
): Promise<void> {
  const { ledger } = context.tally;
  // The first page is the front of the first window: it holds its place until the others are taken.
  const front = context.takeFresh(first.ids);
  await drainWindow(context, front.length, first.limit, target, dispatcher);
  dispatcher.add(front);
  for (let before = 0; ledger.size > before && ledger.size < target;) {
    before = ledger.size;
    await dispatcher.settled();
    const remaining = ledger.count(IdState.unsettled) + ledger.count(IdState.failed);
    await drainWindow(context, remaining, first.limit, target, dispatcher);
  }
}

/** @param start offset of the window's first page */
async function drainWindow(
  context: PurgeContext,
  start: number,
  limit: number,
  target: number,
  dispatcher: Dispatcher<string>,
): Promise<void> {
  const { lister, selection, tally } = context;
  const wanted = target - tally.ledger.size;
  let pagesLeft = Math.min(WINDOW_PAGES, Math.ceil(wanted / limit));
  const fetched: Promise<ListedPage>[] = [];
  const failure = failFast();
  const fetchNext = () => {
    if (pagesLeft <= 0) return;
    pagesLeft -= 1;
    const page = lister.page({
      selection,
      offset: start + pagesLeft * limit,
      ...atMost(context, Math.min(limit, wanted - pagesLeft * limit)),
    });
    page.catch(failure.note);
    fetched.push(page);
  };
  for (let ahead = 0; ahead < QUERIES_IN_FLIGHT; ahead++) fetchNext();
  for (let next = fetched.shift(); next !== undefined; next = fetched.shift()) {
    const page = await next;
    fetchNext();
    const fresh = context.takeFresh(page.ids);
    // The same ids for another offset: this broker does not page.
    if (fresh.length === 0 && page.ids.length > 0) {
      await Promise.all(fetched);
      return;
    }
    // Behind the end: fewer matches than counted. What the longer steps pass over is in the next window.
    if (page.ids.length === 0) pagesLeft = Math.max(Math.min(1, pagesLeft), Math.floor(pagesLeft / 2));
    failure.throwIfNoted();
    dispatcher.add(fresh);
    await Promise.race([dispatcher.room(pendingMax(context, limit)), failure.promise]);
  }
}

/** The first error of several promises, known as soon as it happens: a page that must not be used ends the deletes now. */
function failFast() {
  let noted: { readonly error: unknown } | undefined;
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<never>((_resolve, refuse) => {
    reject = refuse;
  });
  // Nobody may be waiting for it when it happens.
  promise.catch(() => {});
  return {
    promise,
    note: (error: unknown) => {
      noted ??= { error };
      reject(error);
    },
    throwIfNoted: () => {
      if (noted !== undefined) throw noted.error;
    },
  };
}

/**
 * Drains pages that come short: the next one is asked for behind what is still there, the ids whose delete is queued or
 * under way, and those that could not be deleted. Deletes that finish meanwhile move the rest forward, so some matches
 * are passed over; they are at the front of a later page.
 */
async function drainForward(
  context: PurgeContext,
  first: ListedPage,
  target: number,
  dispatcher: Dispatcher<string>,
): Promise<void> {
  const { tally, lister, selection } = context;
  let isSerial = false;
  for (let page = first; ;) {
    const fresh = context.takeFresh(page.ids);
    if (fresh.length === 0) {
      if (dispatcher.pending === 0) return;
      // Nothing new behind what is pending: the end, or a broker that shows the same page for every offset.
      isSerial = true;
    }
    dispatcher.add(fresh);
    if (tally.ledger.size >= target) return;
    await (isSerial ? dispatcher.settled() : dispatcher.room(pendingMax(context, page.limit)));
    const remaining = tally.ledger.count(IdState.unsettled) + tally.ledger.count(IdState.failed);
    page = await lister.page({
      selection,
      offset: dispatcher.pending + remaining,
      ...atMost(context, target - tally.ledger.size),
    });
  }
}

/** Under a maximum, no more are listed than were counted: what has arrived since must not take their place. */
function atMost({ limits }: PurgeContext, limit: number): { readonly limit?: number } {
  return limits.maxAffected === undefined ? {} : { limit };
}

/** Ids that may be pending before another page is fetched: enough to keep every request slot busy meanwhile. */
function pendingMax({ deleter, limits }: PurgeContext, pageSize: number): number {
  return deleter.usesBatches
    ? deleter.batchSize * (limits.concurrency + 1)
    : Math.max(limits.concurrency * 4, Math.ceil(pageSize / 2));
}

/**
 * How many matches there are, going by the first page's count; undefined when it cannot be told: without a count, or
 * with one that is no more than the page itself, which is what brokers give that count the page only.
 */
export function trustedTotal(first: ListedPage): number | undefined {
  if (first.count === undefined) return undefined;
  const isWholePage = first.ids.length >= first.limit;
  if (first.count < first.ids.length || (first.count === first.ids.length && isWholePage)) return undefined;
  return first.count;
}
