import type { Worker } from 'node:worker_threads';

/** Calls `act` after so many milliseconds. @returns calls it off */
export type StartTimer = (ms: number, act: () => void) => () => void;

export const startTimer: StartTimer = (ms, act) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

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

  /** @param onFull is called once if the worker holds more than it may, garbage included */
  constructor(worker: Worker, onFull: () => void) {
    this.#timer = setInterval(() => {
      // A worker that has ended has no heap any more.
      if (!this.#isLooking) this.#look(worker, onFull).catch(() => this.stop());
    }, LOOK_MS);
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
