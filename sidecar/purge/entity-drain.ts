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
 * Ends when a page shows nothing new, or when as many ids were taken as the broker counted before the first delete:
 * without that count a drain would have no end where matches arrive as fast as they go.
 */
export async function drain(
  context: PurgeContext,
  first: ListedPage,
  target: number,
  dispatcher: Dispatcher<string>,
): Promise<void> {
  const { tally, lister, query } = context;
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
    page = await lister.page({ selection: query.selection, offset: dispatcher.pending + remaining });
  }
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
