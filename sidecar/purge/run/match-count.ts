import type { PurgeContext } from './context.js';
import { BrokerReplyError, TooManyMatchesError } from '../errors.js';
import { IdStates, IdState } from '../ledger/id-states.js';
import type { ListedPage } from '../listing/listing.js';
import { walkMatches, type WalkEnd } from '../listing/walk.js';

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
  // A count beside an empty list is none: the broker may have failed to run the query.
  const isBelievable = context.paging.stride === undefined && first.ids.length > 0;
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
 * @returns the number of distinct matches, and how the list ended; without an end when it was stopped
 */
export async function countMatches(
  context: PurgeContext,
  first: ListedPage,
  onPage: (listed: number, page: ListedPage) => boolean,
  seen = new IdStates(),
): Promise<{ readonly listed: number; readonly isComplete: boolean; readonly end: WalkEnd | undefined }> {
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
    if (step.done === true) return { listed: seen.size, isComplete: step.value.complete, end: step.value };
    await context.proveFilters();
    if (!onPage(seen.size, step.value)) return { listed: seen.size, isComplete: false, end: undefined };
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

/**
 * Counts the matches without deleting, by listing them; where there are more than a sample, by a plausible count of the broker. Warns
 * where the broker counts another number than it lists.
 *
 * @throws BrokerReplyError when the broker counts matches and lists none
 */
export async function previewEntities(context: PurgeContext, first: ListedPage): Promise<Preview> {
  const sample = new Set<string>();
  let counted: number | undefined;
  const { listed, isComplete, end } = await countMatches(context, first, (_listed, page) => {
    for (const id of page.ids) if (sample.size < MAX_SAMPLE) sample.add(id);
    const { contradicted, stride } = context.paging;
    const isPlausible =
      page.count !== undefined && !contradicted && stride === undefined && page.count > page.ids.length;
    counted = isPlausible ? page.count : undefined;
    // The sample is full and the count is known: stop listing.
    return !(sample.size >= MAX_SAMPLE && counted !== undefined);
  });
  if (end === undefined) return { matched: Math.max(listed, counted ?? 0), sample: [...sample] };
  if (listed === 0 && end.unlisted > 0) {
    throw new BrokerReplyError(
      `The broker counts ${end.unlisted} matches and lists none of them: it may have failed to run the query.`,
    );
  }
  const { stride, hidesSome } = context.paging;
  const isCounted = end.lastCount !== undefined && stride === undefined && hidesSome !== true;
  if (isCounted && end.lastCount !== listed)
    context.warn(`The broker counts ${String(end.lastCount)} matches and lists ${listed}.`);
  return { matched: listed, sample: [...sample], ...(isComplete ? {} : { isLowerBound: true }) };
}
