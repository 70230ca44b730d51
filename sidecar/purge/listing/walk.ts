import type { ListedPage, PageQuery, PageShape } from './page.js';
import type { PageSource } from './lister.js';
import type { Parameter } from '../query/index.js';
import type { Requester } from '../requests/index.js';
import {
  hasOutgrown,
  learnPaging,
  nextStep,
  startOfWalk,
  trustedCount,
  type PagingEvidence,
  type WalkEnd,
} from './walk-plan.js';

const MAX_QUERIES = 4;

interface Ahead {
  /** Offset of the first page. */
  readonly offset: number;
  readonly limit: number;
  /** Offset after the last wanted entity. */
  readonly end: number;
  /** The broker's count of all matches; not requested again. */
  readonly count: number;
}

/**
 * Requests the pages of a walk before they are needed, several at a time. Use it only while nothing is deleted: then the
 * pages are the same as if they were requested one after the other.
 */
export class ReadAhead {
  readonly #lister: Pick<PageSource, 'page'>;
  readonly #queriesMax: number;
  readonly #asked = new Map<number, Promise<ListedPage>>();

  /** @param concurrency requests that the purge may have in flight; at most four of them are queries */
  constructor(lister: Pick<PageSource, 'page'>, concurrency: number) {
    this.#lister = lister;
    this.#queriesMax = Math.min(concurrency, MAX_QUERIES);
  }

  /** The page for a query; uses the request already in flight, if there is one. */
  async page(query: PageQuery): Promise<ListedPage> {
    const asked = this.#asked.get(query.offset ?? 0);
    if (asked === undefined) {
      this.#asked.clear();
      return this.#lister.page(query);
    }
    this.#asked.delete(query.offset ?? 0);
    return asked;
  }

  /** Sends queries up to the limit, skipping those already in flight. */
  ask(selection: PageQuery['selection'], { offset, limit, end, count }: Ahead): void {
    for (let at = offset; at < end && this.#asked.size < this.#queriesMax; at += limit) {
      if (this.#asked.has(at)) continue;
      const page = this.#lister
        .page({ selection, offset: at, limit })
        // If there are more matches than counted, some have arrived, or the count was wrong. The next query asks for it again.
        .then((shown) => ({ ...shown, count: at + shown.ids.length > count ? undefined : count }));
      // The error is thrown when the walk awaits this page.
      page.catch(() => {});
      this.#asked.set(at, page);
    }
  }
}

/** What to walk over, and how. Members that are also members of a purge's context have the same names there. */
export interface WalkOptions {
  readonly lister: Pick<PageSource, 'page'>;
  readonly selection: readonly Parameter[];
  /** Waits before a page is requested again that came empty although the broker counts more. */
  readonly requester: Pick<Requester, 'waitBeforeCheck'>;
  /** Notes a listed id; returns whether it is new to this walk. */
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
  /** Returns how much of a page to ask for; called for each page. */
  readonly shape?: () => PageShape;
  /** First offset. @default 0 */
  readonly from?: number;
  /** Read no pages ahead beyond this many matches. @default Infinity */
  readonly wanted?: number;
  /** Requests that the purge may have in flight. @default 1 */
  readonly concurrency?: number;
  /** Returns for how long pages are still of use, in milliseconds. @default forever */
  readonly timeLeftMs?: () => number;
}

/**
 * Pages forward through all matches while nothing is being deleted, and yields each page that shows something new; `nextStep`
 * decides where it goes on, and when it ends.
 */
export async function* walkMatches(options: WalkOptions): AsyncGenerator<ListedPage, WalkEnd> {
  const { lister, selection, paging, isNew, countsUnshown = false, shape, from = 0 } = options;
  if (paging.stride !== undefined) return yield* walkByStride(options, paging.stride);
  const ahead = new ReadAhead(lister, options.concurrency ?? 1);
  let state = startOfWalk(from);
  let first = options.first;
  for (;;) {
    const { offset, known } = state;
    const expected = known === undefined ? {} : { expected: known - offset };
    const page = first ?? (await ahead.page({ selection, offset, count: true, ...expected, ...shape?.() }));
    first = undefined;
    const { ids, limit } = page;
    let fresh = 0;
    for (const id of ids) if (isNew(id)) fresh += 1;
    const distinct = fresh === ids.length ? fresh : new Set(ids).size;
    const seen = { page, fresh, distinct, countsUnshown };
    Object.assign(paging, learnPaging(paging, state, seen));
    const step = nextStep(state, seen, paging);
    if (fresh > 0) yield page;
    if (step.kind === 'end') {
      if (step.ignoresOffset) paging.ignoresOffset = true;
      return step.end;
    }
    state = step.state;
    if (step.waits) await options.requester.waitBeforeCheck(state.emptyPages);
    const count = trustedCount(paging, page);
    const isUsual = shape === undefined && paging.ignoresOffset !== true && !page.mayGrow;
    // A broker that answers one query at a time would be busy with pages that come too late.
    const isInTime = options.timeLeftMs === undefined || page.tookMs <= options.timeLeftMs();
    if (fresh > 0 && isUsual && isInTime && ids.length === limit && count !== undefined) {
      const end = Math.min(count, from + (options.wanted ?? Infinity));
      ahead.ask(selection, { offset: state.offset, limit, end, count });
    }
  }
}

/**
 * Walks page by page over everything that the broker counts, however little the pages show, and further if the count is too
 * low. A page covers as many entities as were asked for. These are fewer than the stride if a larger page could not be read.
 */
async function* walkByStride(
  { lister, selection, isNew }: WalkOptions,
  stride: number,
): AsyncGenerator<ListedPage, WalkEnd> {
  let counted: number | undefined;
  for (let offset = 0; ;) {
    const page = await lister.page({ selection, offset, count: true, limit: stride });
    const end = offset + page.limit;
    counted ??= page.count;
    const showsNew = page.ids.filter(isNew).length > 0;
    if (showsNew) yield page;
    if (hasOutgrown(offset, counted))
      return { complete: false, trickles: true, unlisted: 0, lastCount: page.count };
    if (!showsNew && end >= (page.count ?? counted ?? 0))
      return { complete: true, trickles: false, unlisted: 0, lastCount: page.count };
    offset = end;
  }
}
