import type { PurgeContext } from './context.js';
import { TooManyMatchesError } from './errors.js';
import { IdStates, IdState } from './id-states.js';
import type { ListedPage } from './listing/listing.js';
import { walkMatches } from './listing/walk.js';

/**
 * Refuses a purge that matches more than it may affect, before its first delete.
 *
 * A count above the maximum is enough. A lower one may be missing or wrong, so the matches are listed until there is one too
 * many, or no more.
 *
 * @returns the number of matches, if all were listed
 * @throws TooManyMatchesError
 */
export async function checkBound(
  context: PurgeContext,
  first: ListedPage,
  seen?: IdStates,
): Promise<number | undefined> {
  const { maxAffected } = context.limits;
  if (maxAffected === undefined) return undefined;
  const isBelievable = context.paging.stride === undefined;
  if (isBelievable && first.count !== undefined && first.count > maxAffected) {
    throw new TooManyMatchesError(first.count, maxAffected, true);
  }
  const { listed, isComplete } = await countMatches(
    context,
    first,
    (soFar) => {
      if (soFar > maxAffected) throw new TooManyMatchesError(soFar, maxAffected, false);
      return true;
    },
    seen,
  );
  return isComplete ? listed : undefined;
}

/**
 * Counts the matches by listing them, without deleting.
 *
 * @param onPage receives the number of distinct matches so far; it may throw, or return false to stop
 * @param seen matches listed by an earlier query; they are not counted again
 * @returns the number of distinct matches, and whether the broker has no more
 */
export async function countMatches(
  context: PurgeContext,
  first: ListedPage,
  onPage: (listed: number, page: ListedPage) => boolean,
  seen = new IdStates(),
): Promise<{ readonly listed: number; readonly isComplete: boolean }> {
  seen.startSurvey();
  const walk = walkMatches({
    lister: context.lister,
    selection: context.selection,
    countsUnshown: context.countsUnshown,
    waitBefore: (look) => context.requester.waitBefore(look),
    paging: context.paging,
    first,
    concurrency: context.limits.concurrency,
    isNew: (id) => {
      if (seen.get(id) === IdState.unknown) seen.set(id, IdState.pending);
      return seen.markListed(id);
    },
  });
  for (;;) {
    const step = await walk.next();
    if (step.done === true) return { listed: seen.size, isComplete: step.value.complete };
    await context.proveFilters();
    if (!onPage(seen.size, step.value)) return { listed: seen.size, isComplete: false };
  }
}

const MAX_SAMPLE = 100;

/** What a purge would reach: the number of matching entities, and some of their ids. */
export interface Preview {
  readonly matched: number;
  readonly sample: readonly string[];
  /** There are more than could be counted. */
  readonly isLowerBound?: true;
}

/** Counts the matches without deleting: by a plausible count of the broker, else by listing them. */
export async function previewEntities(context: PurgeContext, first: ListedPage): Promise<Preview> {
  const sample = new Set<string>();
  let counted: number | undefined;
  const { listed, isComplete } = await countMatches(context, first, (_listed, page) => {
    for (const id of page.ids) if (sample.size < MAX_SAMPLE) sample.add(id);
    const { contradicted, stride } = context.paging;
    const isPlausible =
      page.count !== undefined && !contradicted && stride === undefined && page.count > page.ids.length;
    counted = isPlausible ? page.count : undefined;
    // The sample is full and the count is known: stop listing.
    return !(sample.size >= MAX_SAMPLE && counted !== undefined);
  });
  return {
    matched: isComplete ? listed : Math.max(listed, counted ?? 0),
    sample: [...sample],
    ...(isComplete || counted !== undefined ? {} : { isLowerBound: true }),
  };
}
