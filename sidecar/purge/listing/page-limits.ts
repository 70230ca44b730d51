import {
  isAboutPageSize,
  wordsOf,
  type BrokerMemory,
  type BrokerProblem,
  type Projection,
} from '../broker/index.js';
import { PROJECTION_WORDS, type ListedResource, type PageQuery } from './page.js';

/** A full page, and what it took. */
export interface MeasuredPage {
  /** Entities asked for, and shown. */
  readonly limit: number;
  readonly ms: number;
  /** Characters of the answer. */
  readonly length: number;
}

/** A page is made this much larger at a time. */
const MAX_GROWTH = 4;

/** A larger page is kept when it takes at most this share of the time per entity. */
const MAX_SHARE_OF_TIME = 0.8;

/** Larger pages than these would block the event loop, or a broker that others use too. */
const MAX_PAGE_MS = 1000;
const MAX_PAGE_LENGTH = 2_000_000;

/**
 * The page size: it starts small and grows while the broker is faster with more. Some brokers spend nearly all the time
 * on finding where the page begins.
 */
export class PageSize {
  readonly start: number;
  /** Entities to ask for now. */
  size: number;
  /** No other size will be tried. */
  isSettled: boolean;
  readonly #most: number;
  /** The last page that was worth its size, in ms for each entity. */
  #proven: { readonly size: number; readonly msEach: number } | undefined;

  /** @param most no page gets larger than this, however quick the broker is */
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
   * The broker refuses a size, or is not faster with it: the size before stays. One that was good before and is refused now
   * is given up for the start.
   *
   * @param limit what was asked for. Several pages may be refused at once; all but the first change nothing
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

/** How the broker takes a page that is asked for in some way. */
export type Reception = 'accepted' | 'too-many' | 'refused';

/** Page sizes to fall back to, as the contract of the product names them. */
const SMALLER_PAGES = [500, 200, 100, 50, 20, 10, 5, 2, 1] as const;

/** The next smaller page size; undefined when there is none. */
export function smallerThan(limit: number): number | undefined {
  return SMALLER_PAGES.find((size) => size < limit);
}

/**
 * What a page finds out about the broker while it is refused and asked for in other ways. It holds for that page alone until
 * the page is answered: otherwise the query was at fault, and nothing was learnt.
 */
export class Trial {
  readonly #capabilities: BrokerMemory;
  readonly #resource: ListedResource;
  readonly #refused = new Set<Projection>();
  #pageSizeMax = Infinity;
  #isCountRefused = false;

  /** A trial begins with what is known. */
  constructor(capabilities: BrokerMemory, resource: ListedResource) {
    this.#capabilities = capabilities;
    this.#resource = resource;
  }

  get pageSizeMax(): number {
    return Math.min(this.#pageSizeMax, this.#capabilities.get('page-max') ?? Infinity);
  }

  /** The best way that is not refused to ask for no more than is needed. */
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

  /** The page was answered: what was found out is true of the broker. */
  keep(): void {
    const known = this.#capabilities;
    if (this.#pageSizeMax < Infinity) known.learn('page-max', this.#pageSizeMax);
    for (const projection of this.#refused) known.learn(`refused ${projection}`, true);
    if (this.#isCountRefused) known.learn('no-count', true);
  }

  /**
   * Finds another way to ask for a page that was refused.
   *
   * @param receive asks in some way, and tells what came of it
   * @returns false when the query itself is at fault
   */
  async adapt(
    tried: PageTry,
    problem: BrokerProblem,
    receive: (tried: PageTry) => Promise<Reception>,
  ): Promise<boolean> {
    const { query, limit, projection } = tried;
    const words = wordsOf(problem);
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
   * A 400 that does not say what it is about: the projection, the limit, the count or the query. Finds out by leaving
   * them out one after the other, and notes what was at fault.
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

  /** Lowers the page size after a refused page; false when no smaller step is left. */
  #stepDown(limit: number): boolean {
    const smaller = smallerThan(limit);
    if (smaller !== undefined) this.limitPages(smaller);
    return smaller !== undefined;
  }
}
