/** How far back it looks, in milliseconds: long enough to be steady, short enough to notice a throttle. */
const WINDOW_MS = 5000;

/** Samples are at least this far apart, in milliseconds, so that there are few of them. */
const MIN_SPACING_MS = 100;

/** A rate is not known before this time has passed, in milliseconds. */
const MIN_SPAN_MS = 500;

interface Sample {
  readonly atMs: number;
  readonly done: number;
}

/** The rate of something over the last seconds. */
export class RateMeter {
  #samples: Sample[] = [];

  /** Notes how much is done now. A count that goes back, since it was corrected, begins anew. */
  note(atMs: number, done: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && (done < last.done || atMs < last.atMs)) this.#samples = [];
    const before = this.#samples.at(-2);
    if (before !== undefined && atMs - before.atMs < MIN_SPACING_MS) this.#samples.pop();
    this.#samples.push({ atMs, done });
    while ((this.#samples[1]?.atMs ?? Infinity) <= atMs - WINDOW_MS) this.#samples.shift();
  }

  /** Per second; undefined while it is not known. */
  get perSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < MIN_SPAN_MS) return undefined;
    return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
  }

  /** Milliseconds until so much is done; undefined while that is not known. */
  leftMs(total: number): number | undefined {
    const [rate, done] = [this.perSecond, this.#samples.at(-1)?.done ?? 0];
    return rate === undefined || rate <= 0 ? undefined : (Math.max(0, total - done) / rate) * 1000;
  }
}
