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

/** Larger pages than these would hold up the event loop, or a broker that others use too. */
const MAX_PAGE_MS = 1000;
const MAX_PAGE_LENGTH = 2_000_000;

/**
 * The page size: it starts small and grows while the broker is faster with more. Some brokers spend nearly all the time
 * on finding where the page begins.
 */
export class PageSize {
  readonly start: number;
  readonly #most: number;
  #size: number;
  /** The last page that was worth its size, in ms for each entity. */
  #proven: { readonly size: number; readonly msEach: number } | undefined;
  #isSettled: boolean;

  /** @param most no page gets larger than this, however quick the broker is */
  constructor(start: number, most: number) {
    this.start = start;
    this.#most = most;
    this.#size = start;
    this.#isSettled = most <= start;
  }

  get size(): number {
    return this.#size;
  }

  /** No other size will be tried. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Learns from a full page of the current size; other pages teach nothing. */
  note({ limit, ms, length }: MeasuredPage): void {
    if (this.#isSettled || limit !== this.#size) return;
    const msEach = ms / limit;
    if (this.#proven !== undefined && msEach > this.#proven.msEach * MAX_SHARE_OF_TIME) {
      this.refuse();
      return;
    }
    this.#proven = { size: limit, msEach };
    const byTime = (limit * MAX_PAGE_MS) / Math.max(ms, 1);
    const byLength = (limit * MAX_PAGE_LENGTH) / Math.max(length, 1);
    const next = Math.floor(Math.min(limit * MAX_GROWTH, this.#most, byTime, byLength));
    if (next < limit * 2) this.#isSettled = true;
    else this.#size = next;
  }

  /**
   * The broker refuses a size, or is not faster with it: the size before stays. One that was good before and is refused now
   * is given up for the start.
   *
   * @param limit what was asked for. Several pages may be refused at once; all but the first change nothing
   */
  refuse(limit = this.#size): void {
    this.#isSettled = true;
    if (limit > this.#size) return;
    const before = this.#proven?.size ?? this.start;
    this.#size = before < limit ? before : this.start;
  }
}
