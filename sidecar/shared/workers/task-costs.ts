/** Tasks in one message. */
const MAX_BATCH = 16;

/** Estimated time that the tasks of one message may take together, in milliseconds. */
const BATCH_MS = 2;

/**
 * A task that took at least this long, in milliseconds, is slow and counts in full. A shorter one may have been quick:
 * workers run at a lower priority, so they may lose their core for some milliseconds.
 */
const SLOW_MS = 20;

/** Weight of the latest tasks in the estimate: after a slow one, dozens of quick ones must follow. */
const WEIGHT = 0.1;

/** Queue keys that are remembered. */
const MAX_KEYS = 1000;

/**
 * How long tasks of each queue key took recently. Handing a task to another thread costs more than many tasks themselves,
 * so quick tasks are handed over together. A slow task must not delay others in its batch.
 */
export class TaskCosts {
  readonly #msByKey = new Map<string, number>();

  /** Records how long each task of one message took, in milliseconds; at least one. */
  note(queueKey: string, ms: readonly number[]): void {
    const longest = Math.max(...ms);
    const mean = ms.reduce((sum, one) => sum + one, 0) / ms.length;
    const before = this.#msByKey.get(queueKey) ?? mean;
    this.#msByKey.delete(queueKey);
    const estimate = before + WEIGHT * (mean - before);
    this.#msByKey.set(queueKey, longest < SLOW_MS ? estimate : Math.max(longest, estimate));
    if (this.#msByKey.size <= MAX_KEYS) return;
    const [oldest] = this.#msByKey.keys();
    if (oldest !== undefined) this.#msByKey.delete(oldest);
  }

  /** Forgets how long tasks of a queue key took, because one of them failed. */
  forget(queueKey: string): void {
    this.#msByKey.delete(queueKey);
  }

  /** How many tasks of a queue key to hand over at once: one, unless they are known to be quick. */
  batchSize(queueKey: string): number {
    const ms = this.#msByKey.get(queueKey) ?? Infinity;
    return Math.max(1, Math.min(MAX_BATCH, Math.floor(BATCH_MS / ms)));
  }
}
