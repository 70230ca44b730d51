import type { PurgeContext, QueryView } from '../run/context.js';
import { drain } from './drain.js';
import { BrokerRefusedError, BrokerReplyError } from '../errors.js';
import type { ListedPage } from '../listing/listing.js';
import { learnCounting } from '../proof/page-first.js';
import type { PageShape } from '../listing/page.js';
import type { Parameter } from '../query/parameters.js';
import { resolveUnclear, resolveUnclearAtEnd, WHOLE_ENTITIES } from '../deleting/unclear-items.js';

const UNCOUNTED =
  'The broker answers this query with an empty list and no count, although it counts other queries that match nothing: it may have failed to run it.';

/** Requests of a first page that stays empty although the broker counts matches. */
const MAX_EMPTY_PAGES = 3;

/** Matches nothing, whatever else a query asks for. */
const NO_SUCH_TYPE: Parameter = { name: 'type', value: 'NoSuchTypePurgeProbe' };

/**
 * Fetches the first page of a query with the broker's count. An empty page is confirmed by its count, or by other queries.
 *
 * @param shape how much to ask for
 * @throws BrokerReplyError when the broker shows matches only when it is not asked for pages, or seems not to have run the query
 */
export async function firstPage(context: PurgeContext, shape: PageShape = {}): Promise<ListedPage> {
  const beside = context.beginProof(shape);
  try {
    return await lookFor(context, shape);
  } finally {
    await beside;
  }
}

async function lookFor(context: PurgeContext, shape: PageShape): Promise<ListedPage> {
  const { selection, lister, requester } = context;
  for (let look = 1; ; look++) {
    const page = await lister.page({ selection, count: true, ...shape });
    // A count beside nothing, or one of fewer than are listed, is not believed.
    if (page.count !== undefined && (page.ids.length > 0 || page.count === 0))
      context.emit({ type: 'counted', matches: page.count });
    const isLast = look === MAX_EMPTY_PAGES;
    if (page.ids.length > 0 || page.count === 0 || (isLast && page.count !== undefined)) return page;
    // An empty page alone proves nothing: some brokers show an error as an empty result, and one shows nothing when it is
    // asked for pages. The count confirms it; without a count, the bare query does.
    if (page.count !== undefined) {
      if (await learnCounting(context)) return page;
      await requester.waitBefore(look);
    } else if (!(await lister.showsAnything(selection))) {
      // A broker that counts what surely matches nothing would have counted this.
      if (!(await countsNothing(context))) return page;
      if (isLast) throw new BrokerReplyError(UNCOUNTED);
      await requester.waitBefore(look);
    } else if (look > 1) {
      throw new BrokerReplyError(
        'The broker lists matches only without limit, offset and count, so they cannot be purged page by page.',
      );
    }
  }
}

/** Whether the broker gives a count with an empty list. */
async function countsNothing({ selection, lister }: PurgeContext): Promise<boolean> {
  const others = selection.filter(({ name }) => name !== NO_SUCH_TYPE.name);
  try {
    const { ids, count } = await lister.page({ selection: [...others, NO_SUCH_TYPE], count: true, limit: 1 });
    return ids.length === 0 && count === 0;
  } catch (error) {
    if (error instanceof BrokerRefusedError && [400, 404, 422].includes(error.problem.status)) return false;
    throw error;
  }
}

/**
 * Deletes every entity that the query lists.
 *
 * @param listed number of matches, if all were listed to check the maximum
 * @returns how many matches arrived during the purge and were left
 */
export async function purgeByIds(
  context: PurgeContext,
  first: ListedPage,
  listed: number | undefined,
): Promise<number> {
  context.ledger.forgetUnclear();
  try {
    const arrived = await drain(context, listed ?? trustedTotal(context, first), first);
    await resolveUnclear(context, WHOLE_ENTITIES);
    return arrived;
  } catch (error) {
    context.requester.halt();
    await resolveUnclearAtEnd(context, WHOLE_ENTITIES);
    throw error;
  }
}

/**
 * The first page's count, if it can be trusted. It cannot if it equals the length of a full page (some brokers count only
 * the page) or ignores a filter.
 */
export function trustedTotal({ paging }: QueryView, first: ListedPage): number | undefined {
  if (first.count === undefined || paging.contradicted || paging.stride !== undefined) return undefined;
  const isWholePage = first.ids.length >= first.limit;
  if (first.count < first.ids.length || (first.count === first.ids.length && isWholePage)) return undefined;
  return first.count;
}
