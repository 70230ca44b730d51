import type { Clock } from '../clock.js';

/** Something that must be over by a time. */
interface Entry {
  readonly due: number;
  readonly onLate: () => void;
}

/** The sleep in progress: until when, in the time of {@link Deadlines}. */
interface Sleep {
  readonly until: number;
  readonly controller: AbortController;
}

/**
 * Deadlines that share one timer. An entry that ends in time costs almost nothing: the sleep goes on and later finds
 * nothing to do.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #entries = new Set<Entry>();
  #sleep: Sleep | undefined;
  /** Milliseconds that have passed; never decreases, even when the clock is set back. */
  #time = 0;
  #lastReading: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastReading = clock.now();
  }

  /**
   * Calls `onLate` after `ms` milliseconds.
   *
   * @returns ends the entry; must be called in any case
   */
  start(ms: number, onLate: () => void): () => void {
    const entry: Entry = { due: this.#now() + ms, onLate };
    this.#entries.add(entry);
    this.#arm();
    return () => this.#entries.delete(entry);
  }

  /** Forgets all entries and stops sleeping. */
  close(): void {
    this.#entries.clear();
    this.#sleep?.controller.abort();
    this.#sleep = undefined;
  }

  #now(): number {
    const reading = this.#clock.now();
    this.#time += Math.max(0, reading - this.#lastReading);
    this.#lastReading = reading;
    return this.#time;
  }

  #arm(): void {
    let due = Infinity;
    for (const entry of this.#entries) due = Math.min(due, entry.due);
    if (due === Infinity || (this.#sleep !== undefined && this.#sleep.until <= due)) return;
    this.#sleep?.controller.abort();
    const sleep: Sleep = { until: due, controller: new AbortController() };
    this.#sleep = sleep;
    this.#clock.sleep(Math.max(0, due - this.#time), sleep.controller.signal).then(
      () => this.#wake(sleep),
      () => undefined,
    );
  }

  #wake(sleep: Sleep): void {
    if (this.#sleep !== sleep) return;
    this.#sleep = undefined;
    this.#now();
    // Timers may fire slightly early by the clock, but the time slept has passed.
    this.#time = Math.max(this.#time, sleep.until);
    for (const entry of this.#entries) {
      if (entry.due > this.#time) continue;
      this.#entries.delete(entry);
      entry.onLate();
    }
    this.#arm();
  }
}
