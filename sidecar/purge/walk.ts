import type { ListedPage, Lister } from './listing.js';
import type { Parameter } from './parameters.js';

/** How a walk ended. */
export interface WalkEnd {
  /** Everything that the broker has to show was shown. */
  readonly complete: boolean;
  /** Ended because matches kept coming a few at a time: new ones arrive as fast as they are listed. */
  readonly trickles: boolean;
  /** Matches that the broker counted in the end but did not list; 0 when it gave no usable count. */
  readonly unlisted: number;
  readonly lastCount: number | undefined;
}

export interface WalkOptions {
  readonly lister: Pick<Lister, 'page'>;
  readonly selection: readonly Parameter[];
  /** Waits a moment before looking again at a page that is empty although the broker counts more. */
  readonly waitBefore: (look: number) => Promise<void>;
  /** Notes a listed id; true when this walk had not met it yet. */
  readonly isNew: (id: string) => boolean;
  /** A page already fetched at offset 0, with its count. */
  readonly first?: ListedPage | undefined;
  /** Largest page to ask for. */
  readonly limit?: number | undefined;
  /** Shared by the walks of one purge: a count once caught lying is not asked again. */
  readonly counts: CountTrust;
}

/** What is thought of the broker's counts. */
export interface CountTrust {
  /** The broker listed more than it counted. */
  contradicted: boolean;
}

/** Fruitless looks after which an empty page is taken for the end. */
const EMPTY_PAGES_MAX = 3;

/** Pages in a row that were not full, without a count or a next link to say why: a trickle of new matches. */
const SHORT_PAGES_MAX = 256;

/**
 * Pages forward through all matches while nothing is being deleted, and yields each page that shows something new.
 *
 * Neither a short page nor an empty one is the end by itself (clause 5.5.9.1): the walk ends when the count is
 * reached and the page behind shows no more than it allows, or when a page shows nothing new and neither the count nor
 * a next link says that there is more. Without a count, an empty page is asked for twice: it may be an error.
 */
export async function* walkMatches(options: WalkOptions): AsyncGenerator<ListedPage, WalkEnd> {
  const { lister, selection, counts, isNew } = options;
  let offset = 0;
  let listed = 0;
  let fruitless = 0;
  let confirmations = 0;
  let shortPages = 0;
  let page = options.first;
  for (;;) {
    page ??= await lister.page({
      selection,
      offset,
      count: true,
      ...(options.limit === undefined ? {} : { limit: options.limit }),
    });
    const fresh = new Set(page.ids.filter(isNew)).size;
    listed += fresh;
    if (page.count !== undefined && (page.ids.length > page.count || listed > page.count))
      counts.contradicted = true;
    const count = counts.contradicted ? undefined : page.count;
    if (fresh > 0) yield page;
    const missing = count === undefined ? 0 : count - listed;
    // A page longer than asked for comes from a broker that ignores limit and offset: it is the whole result.
    if (page.ids.length > page.limit) return ended(page, {});
    const isFull = page.ids.length === page.limit;
    if (fresh > 0) {
      fruitless = 0;
      // Twice in a row: some brokers count the page only.
      confirmations = count !== undefined && missing <= 0 && !isFull ? confirmations + 1 : 0;
      if (confirmations === 2) return ended(page, {});
      shortPages = count === undefined && !page.hasNext && !isFull ? shortPages + 1 : 0;
      if (shortPages > SHORT_PAGES_MAX) return ended(page, { complete: false, trickles: true });
      offset += page.ids.length;
    } else {
      const saysMore = missing > 0 || (page.hasNext && (count === undefined || offset < count));
      const isUnconfirmed = count === undefined && page.ids.length === 0 && fruitless === 0;
      if ((!saysMore && !isUnconfirmed) || fruitless >= EMPTY_PAGES_MAX) {
        // A full page of nothing new comes from a broker that ignores the offset: what lies behind is unknown.
        const hidesRest = count === undefined && isFull;
        return ended(page, { complete: missing <= 0 && !hidesRest, unlisted: Math.max(0, missing) });
      }
      fruitless += 1;
      // An empty page against the count may be a passing fault (an error shown as `[]`): the same page once more,
      // then further on.
      if (missing > 0) await options.waitBefore(fruitless);
      if (saysMore && (missing <= 0 || fruitless > 1)) offset += page.limit;
    }
    page = undefined;
  }
}

function ended(page: ListedPage, how: Partial<WalkEnd>): WalkEnd {
  return { complete: true, trickles: false, unlisted: 0, lastCount: page.count, ...how };
}
