import {
  isAboutPageSize,
  problemText,
  type BrokerCapabilities,
  type BrokerProblem,
  type Projection,
} from '../broker/index.js';
import { PROJECTION_WORDS, type ListedResource, type PageQuery } from './page.js';

/** A full page, and its cost. */
export interface MeasuredPage {
  /** Entities asked for, and shown. */
  readonly limit: number;
  readonly ms: number;
  /** Characters of the answer. */
  readonly length: number;
}

/** Maximum factor by which a page grows at a time. */
const MAX_GROWTH = 4;

/** A larger page is kept when it takes at most this share of the time per entity. */
const MAX_SHARE_OF_TIME = 0.8;

/** Pages beyond these limits would block the event loop, or a broker that others use too. */
const MAX_PAGE_MS = 1000;
const MAX_PAGE_LENGTH = 2_000_000;

/**
 * The page size: it starts small and grows while the broker is faster with more. Some brokers spend nearly all the time
 * on finding where the page begins.
 */
export class PageSize {
  readonly start: number;
  /** Number of entities to ask for now. */
  size: number;
  /** Whether no larger size will be tried. */
  isSettled: boolean;
  readonly #most: number;
  /** The last size that was worth it, with its time per entity in milliseconds. */
  #proven: { readonly size: number; readonly msEach: number } | undefined;

  /** @param most maximum size of a page, however fast the broker is */
  constructor(start: number, most: number) {
    this.start = start;
    this.size = start;
    this.isSettled = most <= start;
    this.#most = most;
  }

  /** Learns from a full page of the current size; other pages teach nothing. */
  note({ limit, ms, length }: MeasuredPage): void {
    if (this.isSettled || limit !== this.size) return;
    const msEach = ms / limit;
    if (this.#proven !== undefined && msEach > this.#proven.msEach * MAX_SHARE_OF_TIME) {
      this.refuse();
      return;
    }
    this.#proven = { size: limit, msEach };
    const byTime = (limit * MAX_PAGE_MS) / Math.max(ms, 1);
    const byLength = (limit * MAX_PAGE_LENGTH) / Math.max(length, 1);
    const next = Math.floor(Math.min(limit * MAX_GROWTH, this.#most, byTime, byLength));
    if (next < limit * 2) this.isSettled = true;
    else this.size = next;
  }

  /**
   * Gives up a size that the broker refuses, or with which it is not faster. The size before is used again, or the initial size
   * if the given-up size had worked before.
   *
   * @param limit the refused size. Several pages may be refused at once; all but the first change nothing
   */
  refuse(limit = this.size): void {
    this.isSettled = true;
    if (limit > this.size) return;
    const before = this.#proven?.size ?? this.start;
    this.size = before < limit ? before : this.start;
  }
}

/** One way to ask for a page. */
export interface PageTry {
  readonly query: PageQuery;
  readonly limit: number;
  readonly projection: Projection;
}

/** How the broker reacts to one way of asking for a page. */
export type Reception = 'accepted' | 'too-many' | 'refused';

/** Page sizes to fall back to. */
const SMALLER_PAGES = [500, 200, 100, 50, 20, 10, 5, 2, 1] as const;

/** Returns the next smaller page size; undefined if there is none. */
export function smallerThan(limit: number): number | undefined {
  return SMALLER_PAGES.find((size) => size < limit);
}

/**
 * What is found out about the broker while a page is refused and asked for in other ways. It applies to that page alone until
 * the page is answered. If it is never answered, the query was at fault, and nothing was learnt.
 */
export class Trial {
  readonly #capabilities: BrokerCapabilities;
  readonly #resource: ListedResource;
  readonly #refused = new Set<Projection>();
  #pageSizeMax = Infinity;
  #isCountRefused = false;

  /** Starts with what is known about the broker. */
  constructor(capabilities: BrokerCapabilities, resource: ListedResource) {
    this.#capabilities = capabilities;
    this.#resource = resource;
  }

  get pageSizeMax(): number {
    return Math.min(this.#pageSizeMax, this.#capabilities.get('page-max') ?? Infinity);
  }

  /** Returns the best projection that the broker does not refuse. */
  projectionFor(query: PageQuery): Projection {
    for (const each of this.#resource.projectionsOf(query))
      if (!this.#refused.has(each) && this.#capabilities.get(`refused ${each}`) !== true) return each;
    return 'none';
  }

  /** Whether a query is sent with `count=true`. */
  asksCount({ count }: PageQuery): boolean {
    return count === true && !this.#isCountRefused && this.#capabilities.get('no-count') !== true;
  }

  limitPages(max: number): void {
    this.#pageSizeMax = Math.min(this.#pageSizeMax, max);
  }

  /** Called when the page was answered: what was found out is true of the broker, and is remembered. */
  keep(): void {
    const known = this.#capabilities;
    if (this.#pageSizeMax < Infinity) known.learn('page-max', this.#pageSizeMax);
    for (const projection of this.#refused) known.learn(`refused ${projection}`, true);
    if (this.#isCountRefused) known.learn('no-count', true);
  }

  /**
   * Finds another way to ask for a page that was refused.
   *
   * @param receive asks in some way, and tells how the broker reacts
   * @returns false if the query itself is at fault
   */
  async adapt(
    tried: PageTry,
    problem: BrokerProblem,
    receive: (tried: PageTry) => Promise<Reception>,
  ): Promise<boolean> {
    const { query, limit, projection } = tried;
    const words = problemText(problem);
    if (problem.status === 403)
      return /TooManyResults|too many results/i.test(words) && this.#stepDown(limit);
    if (problem.status !== 400 || (this.#capabilities.get(`page ${projection}`) ?? 0) >= limit) return false;
    const isNamed = PROJECTION_WORDS[projection]?.test(words) === true;
    if (isNamed && this.#fallbacks(tried).length > 0) {
      this.#refused.add(projection);
      return true;
    }
    if (isAboutPageSize(problem)) return this.#stepDown(limit);
    if (this.asksCount(query) && /\bcount\b/i.test(words)) {
      this.#isCountRefused = true;
      return true;
    }
    return this.#findCulprit(tried, receive);
  }

  /**
   * Finds out what a 400 is about if it does not say so: the projection, the limit, the count or the query. Leaves them out one
   * after the other, and notes what was at fault.
   */
  async #findCulprit(tried: PageTry, receive: (tried: PageTry) => Promise<Reception>): Promise<boolean> {
    const { query, limit } = tried;
    const refused = [tried.projection];
    for (const projection of this.#fallbacks(tried)) {
      const reception = await receive({ ...tried, projection });
      if (reception === 'refused') {
        refused.push(projection);
        continue;
      }
      for (const each of refused) this.#refused.add(each);
      return reception === 'accepted' || this.#stepDown(limit);
    }
    const asksCount = this.asksCount(query);
    if (limit === 1 && !asksCount) return false;
    const least: PageTry = { query, limit: 1, projection: 'none' };
    if ((await receive({ ...least, query: { ...query, count: false } })) !== 'accepted') return false;
    if (asksCount && (await receive(least)) !== 'accepted') {
      this.#isCountRefused = true;
      return true;
    }
    return this.#stepDown(limit);
  }

  /** The remaining fallbacks, best first. */
  #fallbacks({ query, projection }: PageTry): readonly Projection[] {
    const all = this.#resource.projectionsOf(query);
    return all.slice(all.indexOf(projection) + 1);
  }

  /** Lowers the page size after a refused page; false if no smaller step is left. */
  #stepDown(limit: number): boolean {
    const smaller = smallerThan(limit);
    if (smaller !== undefined) this.limitPages(smaller);
    return smaller !== undefined;
  }
}
