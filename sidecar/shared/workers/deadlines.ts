import type { Clock } from '../clock.js';

/** Something that is to be over by a time. */
interface Entry {
  readonly due: number;
  readonly onLate: () => void;
}

/** The one sleep that goes on: until when, in the time of {@link Deadlines}. */
interface Sleep {
  readonly until: number;
  readonly controller: AbortController;
}

/**
 * Deadlines with one timer for all of them: an entry that ends in time costs next to nothing, for a sleep is not given up
 * with it, but finds later that there is nothing to do.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #entries = new Set<Entry>();
  #sleep: Sleep | undefined;
  /** Milliseconds that have passed; never goes back, whatever the clock is set to. */
  #time = 0;
  #lastReading: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastReading = clock.now();
  }

  /**
   * Calls `onLate` after `ms` milliseconds.
   *
   * @returns ends the entry; to be called in any case, once it is over
   */
  start(ms: number, onLate: () => void): () => void {
    const entry: Entry = { due: this.#now() + ms, onLate };
    this.#entries.add(entry);
    this.#arm();
    return () => this.#entries.delete(entry);
  }

  /** Forgets all entries, and sleeps no longer. */
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
    // Timers may be early by the clock's reckoning, but what was slept has passed.
    this.#time = Math.max(this.#time, sleep.until);
    for (const entry of this.#entries) {
      if (entry.due > this.#time) continue;
      this.#entries.delete(entry);
      entry.onLate();
    }
    this.#arm();
  }
}
