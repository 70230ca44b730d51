import type { Clock } from '../shared/clock.js';

/** The shortest and the longest time after which a watcher reads a record again, in milliseconds. */
const AT_MOST_EVERY_MS = 250;
const AT_LEAST_EVERY_MS = 1000;

/** Wakes the watchers of a purge that another process runs. */
export class Notifier {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something may have changed about a purge. */
  notify(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Waits until it is time to look again, or the signal aborts. Does not reject. */
  async changed(id: string, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const all = AbortSignal.any([signal, stop.signal]);
    const isNotified = new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting.add(resolve));
      all.addEventListener('abort', () => {
        waiting.delete(resolve);
        if (waiting.size === 0) this.#waiting.delete(id);
        resolve();
      });
    });
    const sleep = (ms: number) => this.#clock.sleep(ms, all).catch(() => {});
    await sleep(AT_MOST_EVERY_MS);
    await Promise.race([isNotified, sleep(AT_LEAST_EVERY_MS - AT_MOST_EVERY_MS)]);
    stop.abort();
  }
}
