/** How far back it looks, in milliseconds: long enough to be calm, short enough to notice a throttle. */
const WINDOW_MS = 5000;

interface Sample {
  readonly atMs: number;
  readonly done: number;
}

/** The rate of something as of the last seconds. */
export class RateMeter {
  #samples: Sample[] = [];

  /** Notes how much is done now. Going back (a count that was corrected) begins anew. */
  note(atMs: number, done: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && (done < last.done || atMs < last.atMs)) this.#samples = [];
    this.#samples.push({ atMs, done });
    while ((this.#samples[1]?.atMs ?? Infinity) <= atMs - WINDOW_MS) this.#samples.shift();
  }

  /** In a second; undefined while it cannot be told. */
  get perSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.atMs - first.atMs < 500) return undefined;
    return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
  }

  /** Milliseconds until so much is done; undefined while it cannot be told. */
  leftMs(total: number): number | undefined {
    const [rate, done] = [this.perSecond, this.#samples.at(-1)?.done ?? 0];
    return rate === undefined || rate <= 0 ? undefined : (Math.max(0, total - done) / rate) * 1000;
  }
}
