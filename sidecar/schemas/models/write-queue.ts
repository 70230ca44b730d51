import { WorkersBusyError } from '../../shared/workers/errors.js';
import { retrying } from './concurrency.js';

/** Writes that wait for one resource; each may hold a body of megabytes. */
const MAX_WAITING = 100;

interface Queue {
  /** Waiting or running. */
  count: number;
  /** Settles with the last of them; never rejects. */
  last: Promise<unknown>;
}

/**
 * Runs the writes of one resource one after the other, in the order in which they came, and repeats one that another process
 * overtook. Without the order, writers of one model or context would overtake each other and check outdated states again and
 * again.
 */
export class WriteQueue {
  readonly #queues = new Map<string, Queue>();

  /** How many resources have writes that wait or run. */
  get size(): number {
    return this.#queues.size;
  }

  /**
   * @param key of the resource
   * @param write reads the current state, checks, and writes over that state; see {@link retrying}
   * @throws WorkersBusyError when too many writes wait for the resource; OvertakenError; what `write` throws
   */
  async run<Result>(key: string, write: () => Promise<Result>): Promise<Result> {
    const queue = this.#queues.get(key) ?? { count: 0, last: Promise.resolve() };
    if (queue.count > MAX_WAITING) throw new WorkersBusyError(queue.count - 1);
    this.#queues.set(key, queue);
    queue.count += 1;
    const done = queue.last.then(() => retrying(write));
    queue.last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      queue.count -= 1;
      if (queue.count === 0) this.#queues.delete(key);
    }
  }
}
