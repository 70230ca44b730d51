import type { PurgeContext, QueryView } from './context.js';
import { createDeleteDispatcher } from './delete-dispatcher.js';
import { drain } from './drain.js';
import { BrokerReplyError } from './errors.js';
import type { ListedPage } from './listing/listing.js';
import { learnCounting } from './listing/page-first.js';
import type { PageShape } from './listing/page.js';
import { resolveUnclear, resolveUnclearAtEnd, WHOLE_ENTITIES } from './unclear-items.js';

/** Looks at an empty first page that the broker's own count contradicts. */
const MAX_EMPTY_PAGES = 3;

/**
 * Fetches the first page of a query with the broker's count. An empty one is confirmed.
 *
 * @param shape how much to ask for
 * @throws BrokerReplyError when the broker shows matches only when it is not asked for pages
 */
export async function firstPage(context: PurgeContext, shape: PageShape = {}): Promise<ListedPage> {
  const { selection, lister, requester } = context;
  for (let look = 1; ; look++) {
    const page = await lister.page({ selection, count: true, ...shape });
    if (page.count !== undefined) context.emit({ type: 'counted', matches: page.count });
    if (page.ids.length > 0 || page.count === 0 || look === MAX_EMPTY_PAGES) return page;
    // An empty page alone proves nothing: some brokers show an error as an empty result, and one shows nothing at all
    // when it is asked for pages. The count confirms it, or where there is none the bare query.
    if (page.count !== undefined) {
      if (await learnCounting(context)) return page;
      await requester.waitBefore(look);
    } else if (!(await lister.showsAnything(selection))) return page;
    else if (look > 1) {
      throw new BrokerReplyError(
        'The broker lists matches only when it is asked without limit, offset and count, so they cannot be purged page by page.',
      );
    }
  }
}

/**
 * Deletes every entity that the query lists.
 *
 * @param listed matches listed for the bound, where all were
 * @returns matches that arrived meanwhile and were left
 */
export async function purgeByIds(
  context: PurgeContext,
  first: ListedPage,
  listed: number | undefined,
): Promise<number> {
  const dispatcher = createDeleteDispatcher(context, { isFinalTry: false, singly: false });
  context.ledger.forgetUnclear();
  try {
    const arrived = await drain(context, dispatcher, listed ?? trustedTotal(context, first), first);
    await resolveUnclear(context, WHOLE_ENTITIES);
    return arrived;
  } catch (error) {
    context.requester.halt();
    await dispatcher.abandon();
    await resolveUnclearAtEnd(context, WHOLE_ENTITIES);
    throw error;
  }
}

/**
 * How many matches there are, going by the first page's count; undefined when it cannot be told: without a count, with one
 * that is no more than the page itself, which is what brokers give that count the page only, or with one that ignores a
 * filter.
 */
export function trustedTotal({ paging }: QueryView, first: ListedPage): number | undefined {
  if (first.count === undefined || paging.contradicted || paging.stride !== undefined) return undefined;
  const isWholePage = first.ids.length >= first.limit;
  if (first.count < first.ids.length || (first.count === first.ids.length && isWholePage)) return undefined;
  return first.count;
}
