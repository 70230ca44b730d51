/** The rate is that of so many milliseconds: long enough to be steady, short enough to follow a change. */
const WINDOW_MS = 10_000;

/** Measures how many items are settled in a second. */
export class RateMeter {
  /** How many were settled at a time, oldest first; at most two a second are kept. */
  readonly #samples: { readonly atMs: number; readonly settled: number }[] = [];

  note(settled: number, atMs: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && atMs - last.atMs < WINDOW_MS / 20) return;
    this.#samples.push({ atMs, settled });
    while (this.#samples.length > 2 && atMs - (this.#samples[0]?.atMs ?? atMs) > WINDOW_MS)
      this.#samples.shift();
  }

  /** Items per second as of lately; undefined before it can be told. */
  perSecond(settled: number, nowMs: number): number | undefined {
    const first = this.#samples[0];
    if (first === undefined || nowMs - first.atMs < 100) return undefined;
    return (Math.max(0, settled - first.settled) * 1000) / (nowMs - first.atMs);
  }
}
