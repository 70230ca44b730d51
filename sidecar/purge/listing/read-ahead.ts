import type { ListedPage, Lister } from './listing.js';
import type { PageQuery } from './page.js';

const MAX_QUERIES = 4;

/** Pages to ask for, and where they end. */
interface Ahead {
  /** Offset of the first. */
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
  readonly #lister: Pick<Lister, 'page'>;
  readonly #queriesMax: number;
  readonly #asked = new Map<number, Promise<ListedPage>>();

  /** @param concurrency requests that the purge may have in flight; at most four of them are queries */
  constructor(lister: Pick<Lister, 'page'>, concurrency: number) {
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
        // More matches than counted: some arrived, or the count was wrong. The next query asks for it again.
        .then((shown) => ({ ...shown, count: at + shown.ids.length > count ? undefined : count }));
      // The error is thrown when the walk awaits this page.
      page.catch(() => {});
      this.#asked.set(at, page);
    }
  }
}
