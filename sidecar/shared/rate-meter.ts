/** The length of the window, in milliseconds: long enough for a steady rate, short enough to notice throttling. */
const WINDOW_MS = 5000;

/** Minimum distance between samples in milliseconds, to keep their number small. */
const MIN_SPACING_MS = 100;

/** Minimum time before a rate is reported, in milliseconds. */
const MIN_SPAN_MS = 500;

interface Sample {
  readonly atMs: number;
  readonly done: number;
}

/** Measures a rate over the last few seconds. */
export class RateMeter {
  #samples: Sample[] = [];

  /** Notes the current count. If the count decreases because it was corrected, measuring starts over. */
  record(atMs: number, done: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && (done < last.done || atMs < last.atMs)) this.#samples = [];
    const before = this.#samples.at(-2);
    if (before !== undefined && atMs - before.atMs < MIN_SPACING_MS) this.#samples.pop();
    this.#samples.push({ atMs, done });
    while ((this.#samples[1]?.atMs ?? Infinity) <= atMs - WINDOW_MS) this.#samples.shift();
  }

  /** The rate per second; undefined while unknown. */
  get perSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < MIN_SPAN_MS) return undefined;
    return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
  }

  /** Returns the milliseconds until the total is reached; undefined while unknown. */
  remainingMs(total: number): number | undefined {
    const [rate, done] = [this.perSecond, this.#samples.at(-1)?.done ?? 0];
    return rate === undefined || rate <= 0 ? undefined : (Math.max(0, total - done) / rate) * 1000;
  }
}
