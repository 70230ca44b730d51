import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../sidecar/shared/clock.js';

/** A clock whose time passes only when the test says so. */
export class HandClock implements Clock {
  #nowMs: number;
  /** How far the time of day has been set forward. */
  #setMs = 0;
  readonly #sleepers = new Set<{ readonly endMs: number; readonly wake: () => void }>();

  constructor(nowMs = 0) {
    this.#nowMs = nowMs;
  }

  now = () => this.#nowMs + this.#setMs;

  monotonicMs = () => this.#nowMs;

  /** The number of sleeps that have not ended. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
        settle();
      };
      const abort = end(() => reject(signal?.reason as Error));
      const sleeper = { endMs: this.#nowMs + ms, wake: end(resolve) };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
    });

  /** Advances the time, and runs everything that waits for it. */
  async runUntil(nowMs: number): Promise<void> {
    const ms = nowMs - this.#setMs;
    for (;;) {
      for (let turns = 0; turns < 10; turns++) await turn();
      const [next] = [...this.#sleepers].toSorted((one, other) => one.endMs - other.endMs);
      if (next === undefined || next.endMs > ms) break;
      this.#nowMs = next.endMs;
      next.wake();
    }
    this.#nowMs = ms;
  }

  /** Advances the time by that many milliseconds in the same way. */
  pass(ms: number): Promise<void> {
    return this.runUntil(this.now() + ms);
  }

  /** Jumps to a time without waking the sleepers. */
  jumpTo(ms: number): void {
    this.#nowMs = ms - this.#setMs;
  }

  /** Sets the time of day, as an administrator does; no time passes. */
  set(byMs: number): void {
    this.#setMs += byMs;
  }
}
