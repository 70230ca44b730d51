/** Tasks that one message carries, at most. */
const BATCH_MAX = 16;

/** What the tasks of one message may take together, as far as it can be told, in milliseconds. */
const BATCH_MS = 2;

/**
 * A task that took as long, in milliseconds, is slow, and counts in full. What took less may have been quick: a worker that
 * stands back behind the event loop is kept from its core for some milliseconds now and then.
 */
const SLOW_MS = 20;

/** How much the last tasks count in the estimate: after a slow one, some dozens must go well. */
const WEIGHT = 0.1;

/** Lanes that are remembered, at most. */
const LANES_MAX = 1000;

/**
 * What tasks of a lane took lately. Handing a task to another thread costs more than many tasks themselves, so that quick
 * ones are handed over together; but nobody is to wait for somebody else's slow one.
 */
export class LaneCosts {
  readonly #msByLane = new Map<string, number>();

  /** Notes what the tasks of one message took each, in milliseconds; there is at least one. */
  note(lane: string, ms: readonly number[]): void {
    const longest = Math.max(...ms);
    const mean = ms.reduce((sum, one) => sum + one, 0) / ms.length;
    const before = this.#msByLane.get(lane) ?? mean;
    this.#msByLane.delete(lane);
    const estimate = before + WEIGHT * (mean - before);
    this.#msByLane.set(lane, longest < SLOW_MS ? estimate : Math.max(longest, estimate));
    if (this.#msByLane.size <= LANES_MAX) return;
    const [oldest] = this.#msByLane.keys();
    if (oldest !== undefined) this.#msByLane.delete(oldest);
  }

  /** Forgets what tasks of a lane took: something is wrong with one of them. */
  forget(lane: string): void {
    this.#msByLane.delete(lane);
  }

  /** How many tasks of a lane to hand over at once: one, unless they are known to take next to nothing. */
  batchSize(lane: string): number {
    const ms = this.#msByLane.get(lane) ?? Infinity;
    return Math.max(1, Math.min(BATCH_MAX, Math.floor(BATCH_MS / ms)));
  }
}
