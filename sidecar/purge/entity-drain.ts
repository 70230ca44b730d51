import type { Dispatcher } from './dispatcher.js';
import { IdState } from './id-ledger.js';
import type { ListedPage } from './listing.js';
import type { PurgeContext } from './context.js';

/**
 * Drains the query: deletes page after page while the next page is already being fetched.
 *
 * The next page is asked for behind what is still there: the ids whose delete is queued or under way, and those that
 * could not be deleted. Deletes that finish meanwhile move the rest forward, so some matches are passed over; they are
 * at the front of a later page, and the sweep that follows the drain finds the last of them.
 *
 * Ends when a page shows nothing new, or when as many ids were taken as the broker counted.
 *
 * @returns the matches that the broker counted before the first delete, where the count can be trusted
 */
export async function drain(
  context: PurgeContext,
  first: ListedPage,
  dispatcher: Dispatcher<string>,
): Promise<number | undefined> {
  const { tally, lister, query } = context;
  const initial = trustedTotal(context, first, 0);
  let target = initial;
  let largest = 0;
  let smallPages = 0;
  for (let page = first; ;) {
    const fresh = context.takeFresh(page.ids);
    if (fresh.length === 0) break;
    dispatcher.add(fresh);
    largest = Math.max(largest, page.ids.length);
    smallPages = fresh.length * 4 < largest ? smallPages + 1 : 0;
    // Without a count, only this tells a trickle of new matches from the ones that were there before.
    if (target === undefined && smallPages > SMALL_PAGES_MAX) break;
    // A broker that sends more than it was asked for ignores limit and offset: this was the whole result.
    if (page.ids.length > page.limit) break;
    if (target !== undefined && tally.ledger.size >= target) break;
    await dispatcher.room(pendingMax(context, page.limit));
    const remaining = tally.ledger.count(IdState.unsettled) + tally.ledger.count(IdState.failed);
    const before = tally.ledger.size;
    page = await lister.page({
      selection: query.selection,
      offset: dispatcher.pending + remaining,
      count: target === undefined,
    });
    context.note(page);
    target ??= trustedTotal(context, page, before);
  }
  return initial;
}

const SMALL_PAGES_MAX = 256;

/** Ids that may be pending before another page is fetched: enough to keep every request slot busy meanwhile. */
function pendingMax({ deleter, limits }: PurgeContext, pageSize: number): number {
  return deleter.usesBatches
    ? deleter.batchSize * (limits.concurrency + 1)
    : Math.max(limits.concurrency * 4, Math.ceil(pageSize / 2));
}

/**
 * How many ids the drain has to take in all, going by the page's count; undefined when it cannot be told: without a
 * count, or with one that is no more than the page itself, which is what brokers give that count the page only.
 */
function trustedTotal(context: PurgeContext, page: ListedPage, taken: number): number | undefined {
  if (page.count === undefined || context.counts.contradicted) return undefined;
  const isWholePage = page.ids.length >= page.limit;
  if (page.count < page.ids.length || (page.count === page.ids.length && isWholePage)) return undefined;
  return taken + page.count;
}
