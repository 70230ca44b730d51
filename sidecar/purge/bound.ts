import type { PurgeContext } from './context.js';
import { TooManyMatchesError } from './errors.js';
import { IdLedger, IdState } from './id-ledger.js';
import type { ListedPage } from './listing.js';
import { walkMatches } from './walk.js';

/**
 * Refuses a purge that matches more than it may affect, before its first delete.
 *
 * A count above the bound is believed at once; one below it is not, since counts may be missing or wrong: the matches
 * themselves are listed until there is one too many, or no more.
 *
 * @throws TooManyMatchesError
 */
export async function checkBound(context: PurgeContext, first: ListedPage): Promise<void> {
  const { maxAffected } = context.limits;
  if (maxAffected === undefined) return;
  if (first.count !== undefined && first.count > maxAffected) {
    throw new TooManyMatchesError(first.count, maxAffected, true);
  }
  await countMatches(context, first, (listed) => {
    if (listed > maxAffected) throw new TooManyMatchesError(listed, maxAffected, false);
    return true;
  });
}

/**
 * Counts the matches by listing them, without a delete between.
 *
 * @param onPage hears the distinct matches listed so far; it may throw, or answer false to stop
 * @returns the distinct matches listed
 */
export async function countMatches(
  context: PurgeContext,
  first: ListedPage,
  onPage: (listed: number, page: ListedPage) => boolean,
): Promise<number> {
  const seen = new IdLedger();
  const walk = walkMatches({
    lister: context.lister,
    selection: context.query.selection,
    waitBefore: (look) => context.requester.waitBefore(look),
    counts: context.counts,
    first,
    isNew: (id) => {
      if (seen.get(id) !== IdState.unknown) return false;
      seen.set(id, IdState.pending);
      return true;
    },
  });
  for await (const page of walk) {
    context.note(page);
    await context.proveFilters();
    if (!onPage(seen.size, page)) break;
  }
  return seen.size;
}
