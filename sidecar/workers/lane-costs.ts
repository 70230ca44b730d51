/** Tasks that one message carries, at most. */
const BATCH_MAX = 16;

/** What the tasks of one message may take together, as far as it can be told, in milliseconds. */
const BATCH_MS = 2;

/** What is left of a costly task in the estimate, after each cheaper one: some dozens must go well. */
const DECAY = 0.9;

/** Lanes that are remembered, at most. */
const LANES_MAX = 1000;

/**
 * What tasks of a lane took lately. Handing a task to another thread costs more than many tasks themselves, so that quick
 * ones are handed over together; but nobody is to wait for somebody else's slow one.
 */
export class LaneCosts {
  readonly #msByLane = new Map<string, number>();

  /** Notes what one task took, in milliseconds. */
  note(lane: string, ms: number): void {
    const before = this.#msByLane.get(lane) ?? 0;
    this.#msByLane.delete(lane);
    this.#msByLane.set(lane, Math.max(ms, before * DECAY));
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
