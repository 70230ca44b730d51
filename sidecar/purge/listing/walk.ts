import type { ListedPage, Lister } from './listing.js';
import type { PageShape } from './page.js';
import type { Parameter } from '../query/parameters.js';
import { ReadAhead } from './read-ahead.js';

/** How a walk ended. */
export interface WalkEnd {
  /** The broker has shown all its matches. */
  readonly complete: boolean;
  /** The walk stopped because matches kept coming a few at a time: new ones arrive as fast as they are listed. */
  readonly trickles: boolean;
  /** Matches that the broker counted but did not list; 0 without a usable count. */
  readonly unlisted: number;
  readonly lastCount: number | undefined;
}

export interface WalkOptions {
  readonly lister: Pick<Lister, 'page'>;
  readonly selection: readonly Parameter[];
  /** Waits before a page is requested again that came empty although the broker counts more. */
  readonly waitBefore: (look: number) => Promise<void>;
  /** Notes a listed id; true when it is new to this walk. */
  readonly isNew: (id: string) => boolean;
  /** A page already fetched at offset 0, with its count. */
  readonly first?: ListedPage | undefined;
  /** Shared by the walks of one purge. */
  readonly paging: PagingEvidence;
  /**
   * The broker counts matches that it does not show: its count bounds the walk, but does not show how many are missing.
   * In temporal queries, some brokers select entities regardless of the interval and then drop those without an
   * instance in it from the page.
   */
  readonly countsUnshown?: boolean;
  /** How much of a page to ask for; called for each page. */
  readonly shape?: () => PageShape;
  /** First offset. @default 0 */
  readonly from?: number;
  /** Read no pages ahead beyond this many matches. @default Infinity */
  readonly wanted?: number;
  /** Requests that the purge may have in flight. @default 1 */
  readonly concurrency?: number;
}

/** What a purge has seen of the broker's counts and pages. */
export interface PagingEvidence {
  /** The broker listed more than it counted: its count is no longer trusted. */
  contradicted: boolean;
  /** The broker counts matches that its pages do not show. */
  hidesSome?: boolean;
  /** Longest page so far: a page of this length may have been truncated, a shorter one was not. */
  longestPage: number;
  /** The broker shows the same page for every offset. */
  ignoresOffset?: boolean;
  /**
   * Entities per page of a broker that applies a filter after paging and shows only those that match; see
   * page-first.ts.
   */
  stride?: number;
}

/** Empty pages in a row that mark the end. */
const MAX_EMPTY_PAGES = 3;

/** Pages without new matches that a walk skips because a count or next link promises more. */
const MAX_SKIPPED_PAGES = 100_000;

/** Short pages in a row, unexplained by a count or next link, after which matches are considered to trickle in. */
const MAX_SHORT_PAGES = 256;

/**
 * Pages forward through all matches while nothing is being deleted, and yields each page that shows something new.
 *
 * Neither a short page nor an empty one is the end by itself (clause 5.5.9.1): the walk ends when the count is
 * reached and the page behind shows no more than it allows, or when a page shows nothing new and neither the count nor
 * a next link says that there is more. Without a count, an empty page is asked for twice: it may be an error.
 */
export async function* walkMatches(options: WalkOptions): AsyncGenerator<ListedPage, WalkEnd> {
  const { lister, selection, paging, isNew, countsUnshown = false, shape, from = 0 } = options;
  if (paging.stride !== undefined) return yield* walkByStride(options, paging.stride);
  const ahead = new ReadAhead(lister, options.concurrency ?? 1);
  let offset = from;
  let listed = from;
  let fruitless = 0;
  let confirmations = 0;
  let shortPages = 0;
  let skippedPages = 0;
  /** End of what was asked for so far; pages may get smaller. */
  let reach = 0;
  let hasSkipped = false;
  /** Pages overlapped, or an empty one lay between others: some matches may have been passed over. */
  let isDoubtful = false;
  /** Matches that the broker counted last. */
  let known: number | undefined;
  const expectedFrom = (at: number) => (known === undefined ? {} : { expected: known - at });
  const readsAhead = ({ ids, limit, mayGrow }: ListedPage) =>
    shape === undefined && paging.ignoresOffset !== true && ids.length === limit && !mayGrow;
  let page = options.first;
  for (;;) {
    page ??= await ahead.page({ selection, offset, count: true, ...expectedFrom(offset), ...shape?.() });
    const { ids, hasNext, limit } = page;
    const fresh = new Set(ids.filter(isNew)).size;
    listed += fresh;
    paging.longestPage = Math.max(paging.longestPage, ids.length);
    if (page.count !== undefined && (ids.length > page.count || listed > page.count))
      paging.contradicted = true;
    const count = paging.contradicted ? undefined : page.count;
    const uncounted = count === undefined ? 0 : Math.max(0, count - listed);
    const isCutShort = count !== undefined && ids.length < Math.min(limit, count - offset);
    if (countsUnshown && isCutShort) paging.hidesSome = true;
    const missing = paging.hidesSome === true ? 0 : uncounted;
    // Nothing new in a page that came short, or that others have shown already, says nothing of what lies behind it.
    const isShortOrKnown = ids.length < limit || offset + limit <= reach;
    const hidesMore =
      countsUnshown && isShortOrKnown && (count === undefined ? hasNext : offset + limit < count);
    reach = Math.max(reach, offset + limit);
    if (fresh > 0) {
      isDoubtful ||= hasSkipped || fresh < new Set(ids).size;
      yield page;
      // A broker that ignores limit and offset, and says that this was all.
      if (ids.length > limit && count === ids.length && !hasNext) return ended(page, {});
      fruitless = 0;
      // Twice in a row: some brokers count the page only.
      confirmations = count !== undefined && uncounted === 0 && ids.length < limit ? confirmations + 1 : 0;
      if (confirmations === 2) return ended(page, {});
      const isShort =
        count === undefined && !hasNext && ids.length < limit && ids.length * 2 <= paging.longestPage;
      shortPages = isShort ? shortPages + 1 : 0;
      if (shortPages > MAX_SHORT_PAGES) return ended(page, { complete: false, trickles: true });
      offset += ids.length;
      known = count;
      if (readsAhead(page) && count !== undefined) {
        const end = Math.min(count, from + (options.wanted ?? Infinity));
        ahead.ask(selection, { offset, limit, end, count });
      }
    } else if (hidesMore) {
      skippedPages += 1;
      if (skippedPages > MAX_SKIPPED_PAGES) return ended(page, { complete: false, unlisted: uncounted });
      offset += limit;
    } else if (ids.length > 0) {
      if (offset > 0 && ids.length === limit) paging.ignoresOffset = true;
      // Behind the end, the last match again (clause 6.3.10); or the offset is ignored, or the order changes. A page as
      // long as any may then hide others, unless the count says that all was listed.
      const hidesRest = count === undefined && ids.length > 1 && ids.length >= paging.longestPage;
      const isTold = count !== undefined || !isDoubtful;
      return ended(page, { complete: missing === 0 && !hidesRest && isTold, unlisted: missing });
    } else {
      const saysMore = missing > 0 || (hasNext && (count === undefined || offset < count));
      const isUnconfirmed = count === undefined && fruitless === 0;
      if ((!saysMore && !isUnconfirmed) || fruitless >= MAX_EMPTY_PAGES) {
        const isTold = count !== undefined || !isDoubtful;
        return ended(page, { complete: missing === 0 && isTold, unlisted: missing });
      }
      fruitless += 1;
      // An empty page against the count may be a passing fault (an error shown as `[]`): the same page once more,
      // then further on.
      if (missing > 0) await options.waitBefore(fruitless);
      if (saysMore && (missing === 0 || fruitless > 1)) {
        offset += limit;
        hasSkipped = true;
      }
    }
    page = undefined;
  }
}

function ended(page: ListedPage, how: Partial<WalkEnd>): WalkEnd {
  return { complete: true, trickles: false, unlisted: 0, lastCount: page.count, ...how };
}

/** Walks over all that the broker counts, page by page, whatever it shows of each; and beyond, should it count too few. */
async function* walkByStride(
  { lister, selection, isNew }: WalkOptions,
  stride: number,
): AsyncGenerator<ListedPage, WalkEnd> {
  for (let offset = 0; ; offset += stride) {
    const page = await lister.page({ selection, offset, count: true, limit: stride });
    const showsNew = page.ids.filter(isNew).length > 0;
    if (showsNew) yield page;
    else if (offset + stride >= (page.count ?? 0)) return ended(page, {});
  }
}
