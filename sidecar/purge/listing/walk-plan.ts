import type { ListedPage } from './page.js';

export interface WalkEnd {
  /** Whether the broker has shown all its matches. */
  readonly complete: boolean;
  /** Whether the walk stopped because matches kept coming: new ones arrive as fast as they are listed. */
  readonly trickles: boolean;
  /** Matches that the broker counted but did not list; 0 without a usable count. */
  readonly unlisted: number;
  readonly lastCount: number | undefined;
}

/** What a purge has seen of the broker's counts and pages. */
export interface PagingEvidence {
  /** Whether the broker listed more than it counted, so that its count is no longer trusted. */
  contradicted: boolean;
  /** Whether the broker counts matches that its pages do not show. */
  hidesSome?: boolean;
  /** Longest page so far: a page of this length may have been truncated, a shorter one was not. */
  longestPage: number;
  /** Whether the broker shows the same page for every offset. */
  ignoresOffset?: boolean;
  /**
   * Entities per page of a broker that applies a filter after paging and shows only those that match; see learnStride() in
   * proof/query-proof.ts.
   */
  stride?: number;
}

/** Where a walk stands before its next page. */
export interface WalkState {
  /** Offset of the next page. */
  readonly offset: number;
  /** Matches listed so far, those before the first offset included. */
  readonly listed: number;
  /** The broker's last count on a page with something new; undefined if it is not trusted. */
  readonly known: number | undefined;
  /** The broker's first count: later ones include what arrived during the walk. */
  readonly counted: number | undefined;
  /** End of what was asked for so far. Pages may get smaller. */
  readonly reach: number;
  /** Empty pages in a row. */
  readonly emptyPages: number;
  /** Pages in a row that agree with the count, which says that everything was listed. */
  readonly confirmations: number;
  /** Short pages in a row, unexplained by a count or next link. */
  readonly shortPages: number;
  /** Pages without new matches that were passed over because a count or next link promised more. */
  readonly skippedPages: number;
  /** Whether an empty page was passed over. */
  readonly hasSkipped: boolean;
  /** Whether pages overlapped, or an empty one lay between others, so that some matches may have been passed over. */
  readonly isDoubtful: boolean;
}

type PageFacts = Pick<ListedPage, 'ids' | 'count' | 'hasNext' | 'limit'>;

/** A page, and what it adds to the walk. */
export interface SeenPage {
  readonly page: PageFacts;
  /** Ids that are new to the walk. */
  readonly fresh: number;
  /** Ids without repetitions. */
  readonly distinct: number;
  /** Whether the broker counts matches that it does not show. */
  readonly countsUnshown: boolean;
}

export type WalkStep =
  /** Ask for the page at the state's offset, if need be after a pause. */
  | { readonly kind: 'next'; readonly state: WalkState; readonly waits: boolean }
  /** The walk is over; the page may have shown that the broker ignores offsets. */
  | { readonly kind: 'end'; readonly end: WalkEnd; readonly ignoresOffset: boolean };

/** Empty pages in a row that mark the end. */
const MAX_EMPTY_PAGES = 3;

const MAX_SKIPPED_PAGES = 100_000;

/** Short pages in a row after which matches are considered to trickle in. */
const MAX_SHORT_PAGES = 256;

/**
 * A walk that has listed this many matches more than twice the broker's first count is listing arrivals: they make up more
 * than half of its pages, and may come as fast as they are listed.
 */
const MAX_ARRIVALS = 256;

export function startOfWalk(from: number): WalkState {
  return {
    offset: from,
    listed: from,
    known: undefined,
    counted: undefined,
    reach: 0,
    emptyPages: 0,
    confirmations: 0,
    shortPages: 0,
    skippedPages: 0,
    hasSkipped: false,
    isDoubtful: false,
  };
}

/** Returns the count of a page, if the broker's counts can be trusted. */
export function trustedCount(
  { contradicted }: PagingEvidence,
  { count }: Pick<ListedPage, 'count'>,
): number | undefined {
  return contradicted ? undefined : count;
}

/** Returns what is known about the broker's paging after another page. */
export function learnPaging(paging: PagingEvidence, state: WalkState, seen: SeenPage): PagingEvidence {
  const { ids, count, limit } = seen.page;
  const listed = state.listed + seen.fresh;
  const contradicted = paging.contradicted || (count !== undefined && (ids.length > count || listed > count));
  const isCutShort =
    !contradicted && count !== undefined && ids.length < Math.min(limit, count - state.offset);
  return {
    ...paging,
    contradicted,
    longestPage: Math.max(paging.longestPage, ids.length),
    ...(seen.countsUnshown && isCutShort ? { hidesSome: true } : {}),
  };
}

/**
 * Decides what follows a page. Neither a short page nor an empty one is the end by itself (clause 5.5.9.1). The walk ends when
 * the count is reached and the next page confirms it, or when a page shows nothing new and neither the count nor a next link
 * says that there is more. Without a count, an empty page is asked for twice, because it may be an error. The walk also ends
 * when matches arrive as fast as they are listed.
 *
 * @param paging what is known with this page
 */
export function nextStep(before: WalkState, seen: SeenPage, paging: PagingEvidence): WalkStep {
  const { page, fresh } = seen;
  const { ids, hasNext, limit } = page;
  const { offset } = before;
  // An empty page without a count does not invalidate what the pages before it counted.
  const count =
    trustedCount(paging, page) ?? (ids.length === 0 && !paging.contradicted ? before.known : undefined);
  const state = {
    ...before,
    listed: before.listed + fresh,
    reach: Math.max(before.reach, offset + limit),
  };
  if (fresh > 0) return afterNew(state, seen, paging);

  const unlisted = count === undefined ? 0 : Math.max(0, count - state.listed);
  // A page without anything new says nothing about what lies behind it if it is short, or if earlier pages covered it.
  const isShortOrKnown = ids.length < limit || offset + limit <= before.reach;
  if (seen.countsUnshown && isShortOrKnown && (count === undefined ? hasNext : offset + limit < count)) {
    const skippedPages = state.skippedPages + 1;
    if (skippedPages > MAX_SKIPPED_PAGES) return ended(page, { complete: false, unlisted });
    return next({ ...state, offset: offset + limit, skippedPages });
  }

  const missing = paging.hidesSome === true ? 0 : unlisted;
  const isTold = count !== undefined || !state.isDoubtful;
  if (ids.length > 0) {
    // Behind the end, a broker may show the last match again (clause 6.3.10). Otherwise it ignores the offset, or its order
    // changes. Then a page as long as any before may hide others, unless the count says that all were listed.
    const hidesRest = count === undefined && ids.length > 1 && ids.length >= paging.longestPage;
    const ignoresOffset = offset > 0 && ids.length === limit;
    return ended(page, { complete: missing === 0 && !hidesRest && isTold, unlisted: missing }, ignoresOffset);
  }

  const saysMore = missing > 0 || (hasNext && (count === undefined || offset < count));
  const isUnconfirmed = count === undefined && state.emptyPages === 0;
  if ((!saysMore && !isUnconfirmed) || state.emptyPages >= MAX_EMPTY_PAGES)
    return ended(page, { complete: missing === 0 && isTold, unlisted: missing });
  const emptyPages = state.emptyPages + 1;
  // An empty page that contradicts the count may be a passing fault (an error shown as `[]`). Ask for the same page once more,
  // and then for those behind it.
  const skips = saysMore && (missing === 0 || emptyPages > 1);
  return next(
    { ...state, emptyPages, ...(skips ? { offset: offset + limit, hasSkipped: true } : {}) },
    missing > 0,
  );
}

/** After a page with something new. */
function afterNew(state: WalkState, { page, fresh, distinct }: SeenPage, paging: PagingEvidence): WalkStep {
  const { ids, hasNext, limit } = page;
  const count = trustedCount(paging, page);
  // A broker that ignores limit and offset, and says that this was all.
  if (ids.length > limit && count === ids.length && !hasNext) return ended(page, {});
  // This has to happen twice in a row, because some brokers count only the page.
  const isConfirmed = count !== undefined && count <= state.listed && ids.length < limit;
  const confirmations = isConfirmed ? state.confirmations + 1 : 0;
  if (confirmations === 2) return ended(page, {});
  const isShort =
    count === undefined && !hasNext && ids.length < limit && ids.length * 2 <= paging.longestPage;
  const shortPages = isShort ? state.shortPages + 1 : 0;
  const counted = state.counted ?? count;
  if (shortPages > MAX_SHORT_PAGES || (count !== undefined && hasOutgrown(state.listed, counted)))
    return ended(page, { complete: false, trickles: true });
  return next({
    ...state,
    counted,
    offset: state.offset + ids.length,
    known: count,
    emptyPages: 0,
    confirmations,
    shortPages,
    isDoubtful: state.isDoubtful || state.hasSkipped || fresh < distinct,
  });
}

/** Whether a walk has come so far beyond the broker's first count that it lists little but arrivals. */
export function hasOutgrown(listed: number, counted: number | undefined): boolean {
  return counted !== undefined && listed > counted * 2 + MAX_ARRIVALS;
}

function next(state: WalkState, waits = false): WalkStep {
  return { kind: 'next', state, waits };
}

function ended({ count }: PageFacts, how: Partial<WalkEnd>, ignoresOffset = false): WalkStep {
  const end = { complete: true, trickles: false, unlisted: 0, lastCount: count, ...how };
  return { kind: 'end', end, ignoresOffset };
}
