import type { ListedPage, Lister } from './listing.js';
import type { PageQuery } from './page.js';

const MAX_QUERIES = 4;

/** Pages to ask for, and where they end. */
interface Ahead {
  /** Offset of the first. */
  readonly offset: number;
  readonly limit: number;
  /** Offset behind the last entity that is wanted. */
  readonly end: number;
  /** The broker's count of all matches, which is not asked for again. */
  readonly count: number;
}

/**
 * Asks for the pages of a walk before they are needed, several at a time. Only for a walk during which nothing is deleted:
 * what it shows is as good as if each page had been asked for after the one before it.
 */
export class ReadAhead {
  readonly #lister: Pick<Lister, 'page'>;
  readonly #queriesMax: number;
  readonly #asked = new Map<number, Promise<ListedPage>>();

  /** @param concurrency requests that the purge may have in flight; fewer queries are, since each is work for the broker */
  constructor(lister: Pick<Lister, 'page'>, concurrency: number) {
    this.#lister = lister;
    this.#queriesMax = Math.min(concurrency, MAX_QUERIES);
  }

  /** The page that a query asks for; the one already on its way, where there is one. */
  async page(query: PageQuery): Promise<ListedPage> {
    const asked = this.#asked.get(query.offset ?? 0);
    if (asked === undefined) {
      this.#asked.clear();
      return this.#lister.page(query);
    }
    this.#asked.delete(query.offset ?? 0);
    return asked;
  }

  /** Sends as many of the queries as may be in flight; those already sent are not sent again. */
  ask(selection: PageQuery['selection'], { offset, limit, end, count }: Ahead): void {
    for (let at = offset; at < end && this.#asked.size < this.#queriesMax; at += limit) {
      if (this.#asked.has(at)) continue;
      const page = this.#lister
        .page({ selection, offset: at, limit })
        // More than were counted have arrived since, or the count was wrong: the next query is to say.
        .then((shown) => ({ ...shown, count: at + shown.ids.length > count ? undefined : count }));
      // It is thrown to the walk when its turn comes.
      page.catch(() => {});
      this.#asked.set(at, page);
    }
  }
}
