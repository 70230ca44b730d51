import type { Worker } from 'node:worker_threads';
import { workerHeapMb } from '../memory.js';

/** Calls `act` after a number of milliseconds. @returns a function that cancels it */
export type StartTimer = (ms: number, act: () => void) => () => void;

export const startTimer: StartTimer = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/**
 * Limits of a worker's heap, in MB. When V8's limit is reached by a large allocation, such as that of a Map that doubles,
 * Node 24 ends the whole process instead of the worker. So a worker is ended long before, at a size that can still triple
 * without reaching the limit.
 */
export const HEAP = { usedMb: workerHeapMb(), limitMb: 1024 } as const;

/** How often the heap of a busy worker is checked, in milliseconds. */
const HEAP_POLL_MS = 20;

/** Watches the heap of a worker from outside until it is stopped. */
export class HeapWatch {
  readonly #timer: NodeJS.Timeout;
  #isChecking = false;
  #isStopped = false;

  /** @param onFull called once if the heap of the worker exceeds its limit, including garbage */
  constructor(worker: Worker, onFull: () => void) {
    this.#timer = setInterval(() => {
      // A worker that has ended has no heap.
      if (!this.#isChecking) this.#check(worker, onFull).catch(() => this.stop());
    }, HEAP_POLL_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  async #check(worker: Worker, onFull: () => void): Promise<void> {
    this.#isChecking = true;
    const { used_heap_size: used } = await worker.getHeapStatistics();
    this.#isChecking = false;
    if (this.#isStopped || used <= HEAP.usedMb * 2 ** 20) return;
    this.stop();
    onFull();
  }
}

/** The error for ending a worker whose heap is too large; its code is the same as Node's own. */
export class HeapFullError extends Error {
  readonly code = 'ERR_WORKER_OUT_OF_MEMORY';

  constructor() {
    super(`The worker held more than ${HEAP.usedMb} MB.`);
  }
}
