import { BrokerReplyError, TooManyMatchesError, unlessQueryRefused } from '../errors.js';
import { type ListedPage, type PageShape, walkMatches, type WalkEnd } from '../listing/index.js';
import type { Parameter } from '../query/index.js';
import type { PurgeContext, PurgeReport, PurgeScope, QueryView } from './purge.js';
import { reportOf } from './purge-run.js';
import { IdStates } from '../ledger/index.js';

const UNCOUNTED =
  'The broker answers this query with an empty list and no count, although ' +
  'it counts other queries that match nothing: it may have failed to run it.';

/** How often to request a first page that stays empty although the broker counts matches. */
const MAX_EMPTY_PAGES = 3;

/** A parameter that matches nothing, whatever else the query asks for. */
const NO_SUCH_TYPE: Parameter = { name: 'type', value: 'NoSuchTypePurgeProbe' };

/**
 * Fetches the first page of a query with the broker's count. An empty page is confirmed by its count, or by other queries.
 *
 * @param shape how much to ask for
 * @throws BrokerReplyError if the broker shows matches only without paging, or seems not to have run the query
 */
export async function firstPage(context: PurgeContext, shape: PageShape = {}): Promise<ListedPage> {
  const { selection, lister, requester, proof } = context;
  // If there are several queries, the first one mostly shows everything, so probes for the others would be wasted.
  const beside = context.showsAll ? proof.begin(shape) : undefined;
  try {
    for (let look = 1; ; look++) {
      const page = await lister.page({ selection, count: true, ...shape });
      // A count next to an empty list is believed only if it is 0, and no count that is lower than the list.
      const isPlausible = page.ids.length === 0 ? page.count === 0 : (page.count ?? 0) >= page.ids.length;
      if (page.count !== undefined && isPlausible) context.emit({ type: 'counted', matches: page.count });
      const isLast = look === MAX_EMPTY_PAGES;
      if (page.ids.length > 0 || page.count === 0 || (isLast && page.count !== undefined)) return page;
      // An empty page alone proves nothing: some brokers show an error as an empty result, and one shows nothing when it is
      // asked for pages. The count confirms it; without a count, the bare query does.
      if (page.count !== undefined) {
        if (await proof.learnCounting()) return page;
        await requester.waitBeforeCheck(look);
      } else if (!(await lister.showsAnything(selection))) {
        // A broker that gives a count for a query that surely matches nothing would have given one here.
        if (!(await countsNothing(context))) return page;
        if (isLast) throw new BrokerReplyError(UNCOUNTED);
        await requester.waitBeforeCheck(look);
      } else if (look > 1) {
        throw new BrokerReplyError(
          'The broker lists matches only without limit, offset and count, so they cannot be purged page by page.',
        );
      }
    }
  } finally {
    await beside;
  }
}

/** Whether the broker gives a count with an empty list. */
async function countsNothing({ selection, lister }: PurgeContext): Promise<boolean> {
  const others = selection.filter(({ name }) => name !== NO_SUCH_TYPE.name);
  const query = { selection: [...others, NO_SUCH_TYPE], count: true, limit: 1 };
  const page = await unlessQueryRefused(lister.page(query));
  return page?.ids.length === 0 && page.count === 0;
}

/**
 * Returns the count of the first page, if it can be trusted. It cannot be trusted if fewer are counted than listed, if it
 * equals the length of a full page (some brokers count only the page), or if it ignores a filter.
 */
export function trustedTotal({ paging }: QueryView, first: ListedPage): number | undefined {
  if (first.count === undefined || paging.contradicted || paging.stride !== undefined) return undefined;
  const isWholePage = first.ids.length >= first.limit;
  if (first.count < first.ids.length || (first.count === first.ids.length && isWholePage)) return undefined;
  return first.count;
}

/**
 * Refuses a purge that matches more than it may affect, before its first delete.
 *
 * A count above the maximum is enough to refuse. Otherwise the count may be missing or wrong, so the matches are listed until
 * there is one too many, or no more.
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
  // Only what is in the plan is deleted, and the plan was counted.
  if (maxAffected === undefined || context.plan !== undefined) return undefined;
  // A count next to an empty list is not believed: the broker may have failed to run the query.
  const isBelievable = context.paging.stride === undefined && first.ids.length > 0;
  if (isBelievable && first.count !== undefined && first.count > maxAffected) {
    throw new TooManyMatchesError(first.count, maxAffected, true);
  }
  const { listed, isComplete } = await countMatches(
    context,
    first,
    ({ listed: soFar }) => {
      if (soFar > maxAffected) throw new TooManyMatchesError(soFar, maxAffected, false);
      return true;
    },
    seen,
  );
  return isComplete ? listed : undefined;
}

/** A page that shows something new. */
export interface NewMatches {
  readonly page: ListedPage;
  /** Distinct matches so far. */
  readonly listed: number;
  /** Ids that no page has shown before. */
  readonly fresh: ReadonlySet<string>;
}

/**
 * Counts the matches by listing them, without deleting.
 *
 * @param onPage receives each page that shows something new; it may throw, or return false to stop
 * @param seen matches listed by an earlier query; they are not counted again
 * @returns the number of distinct matches, and how the list ended; no end if `onPage` stopped it
 */
export async function countMatches(
  context: PurgeContext,
  first: ListedPage,
  onPage: (matches: NewMatches) => boolean | Promise<boolean>,
  seen = new IdStates(),
): Promise<{ readonly listed: number; readonly isComplete: boolean; readonly end: WalkEnd | undefined }> {
  seen.startSurvey();
  let fresh = new Set<string>();
  const walk = walkMatches({
    ...context,
    first,
    concurrency: context.limits.concurrency,
    isNew: (id) => {
      if (seen.add(id)) fresh.add(id);
      return seen.markListed(id);
    },
  });
  for (;;) {
    const step = await walk.next();
    if (step.done === true) return { listed: seen.size, isComplete: step.value.complete, end: step.value };
    await context.proof.prove();
    const goesOn = await onPage({ page: step.value, listed: seen.size, fresh });
    if (!goesOn) return { listed: seen.size, isComplete: false, end: undefined };
    fresh = new Set();
  }
}

/** @throws BrokerReplyError when the broker counts matches and lists none */
export function requireListed(listed: number, { unlisted }: WalkEnd): void {
  if (listed > 0 || unlisted === 0) return;
  throw new BrokerReplyError(
    `The broker counts ${unlisted} matches and lists none of them: it may have failed to run the query.`,
  );
}

const MAX_SAMPLE = 100;

/** What a purge would reach: the number of matching entities, and some of their ids. */
export interface Preview {
  readonly matched: number;
  readonly sample: readonly string[];
  /** There may be more than could be counted. */
  readonly isLowerBound?: true;
}

/**
 * Counts the matches without deleting: by listing them or, if there are more than the sample, by the broker's count if that is
 * plausible. For a plan, all are listed. Warns if the broker counts another number than it lists.
 *
 * @throws BrokerReplyError if the broker counts matches and lists none
 */
export async function previewEntities(context: PurgeContext, first: ListedPage): Promise<Preview> {
  const sample = new Set<string>();
  let counted: number | undefined;
  const { listed, isComplete, end } = await countMatches(context, first, ({ page }) => {
    for (const id of page.ids) if (sample.size < MAX_SAMPLE) sample.add(id);
    for (const id of page.ids) context.onPlanned?.(id);
    const { contradicted, stride } = context.paging;
    const isPlausible =
      page.count !== undefined && !contradicted && stride === undefined && page.count > page.ids.length;
    counted = isPlausible ? page.count : undefined;
    // The sample is full and the count is known: stop listing.
    return context.onPlanned !== undefined || !(sample.size >= MAX_SAMPLE && counted !== undefined);
  });
  if (end === undefined) return { matched: Math.max(listed, counted ?? 0), sample: [...sample] };
  requireListed(listed, end);
  const { stride, hidesSome } = context.paging;
  const isCounted = end.lastCount !== undefined && stride === undefined && hidesSome !== true;
  if (isCounted && end.lastCount !== listed)
    context.warn(`The broker counts ${String(end.lastCount)} matches and lists ${listed}.`);
  return { matched: listed, sample: [...sample], ...(isComplete ? {} : { isLowerBound: true }) };
}

/** Returns the report of a dry run. */
export function previewOf(
  scope: PurgeScope,
  preview: Pick<PurgeReport, 'matched' | 'sample' | 'unit' | 'items' | 'isLowerBound'>,
): PurgeReport {
  return { ...reportOf(scope, 0), dryRun: true, ...preview };
}
