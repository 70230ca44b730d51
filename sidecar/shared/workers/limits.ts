import type { Worker } from 'node:worker_threads';
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

/**
 * Bounds of the heap of a worker, in MB. At the limit of V8, Node 24 ends the whole process rather than the worker if one
 * allocation is large, such as that of a Map that doubles. So a worker is ended long before: what it holds can still become
 * three times as much at once.
 */
export const HEAP = { usedMb: 256, limitMb: 1024 } as const;

/** How often the heap of a worker that runs something is looked at, in milliseconds. */
const LOOK_MS = 20;

/** Watches the heap of a worker, from outside of it, until it is stopped. */
export class HeapWatch {
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;
  #isStopped = false;
  #isFull = false;

  /** @param onFull is called once if the worker holds more than it may, garbage included */
  constructor(worker: Worker, onFull: () => void) {
    this.#timer = setInterval(() => {
      // A worker that has ended has no heap any more.
      if (!this.#isLooking) this.#look(worker, onFull).catch(() => this.stop());
    }, LOOK_MS);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  async #look(worker: Worker, onFull: () => void): Promise<void> {
    this.#isLooking = true;
    const { used_heap_size: used } = await worker.getHeapStatistics();
    this.#isLooking = false;
    if (this.#isStopped || used <= HEAP.usedMb * 2 ** 20) return;
    this.#isFull = true;
    this.stop();
    onFull();
  }
}

/** What ends a worker that holds too much; its code is Node's own. */
export class HeapFullError extends Error {
  readonly code = 'ERR_WORKER_OUT_OF_MEMORY';

  constructor() {
    super(`The worker held more than ${HEAP.usedMb} MB.`);
  }
}
