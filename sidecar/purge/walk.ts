import type { ListedPage, Lister } from './listing.js';
import type { Parameter } from './parameters.js';

/** How a walk ended. */
export interface WalkEnd {
  /** Everything that the broker has to show was shown. */
  readonly complete: boolean;
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

/**
 * Pages forward through all matches while nothing is being deleted, and yields each page that shows something new.
 *
 * Neither a short page nor an empty one is the end by itself (clause 5.5.9.1): the walk ends when the count is
 * reached, or when a page shows nothing new and neither the count nor a next link says that there is more.
 */
export async function* walkMatches(options: WalkOptions): AsyncGenerator<ListedPage, WalkEnd> {
  const { lister, selection, counts, isNew } = options;
  let offset = 0;
  let listed = 0;
  let fruitless = 0;
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
    if (fresh > 0) {
      fruitless = 0;
      yield page;
    }
    const missing = count === undefined ? 0 : count - listed;
    // A page longer than asked for comes from a broker that ignores limit and offset: it is the whole result.
    if (page.ids.length > page.limit) return { complete: true, unlisted: 0, lastCount: page.count };
    const isFull = page.ids.length === page.limit;
    if (fresh > 0) {
      if (count !== undefined && missing <= 0 && !isFull)
        return { complete: true, unlisted: 0, lastCount: count };
      offset += page.ids.length;
    } else {
      const saysMore = missing > 0 || (page.hasNext && (count === undefined || offset < count));
      if (!saysMore || fruitless >= EMPTY_PAGES_MAX) {
        return { complete: !saysMore, unlisted: Math.max(0, missing), lastCount: page.count };
      }
      fruitless += 1;
      // An empty page against the count may be a passing fault (an error shown as `[]`): the same page once more,
      // then further on.
      if (missing > 0) await options.waitBefore(fruitless);
      if (missing <= 0 || fruitless > 1) offset += page.limit;
    }
    page = undefined;
  }
}
