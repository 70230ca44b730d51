import { WorkersBusyError } from '../../shared/workers/errors.js';

/** Work that waits for its turn at one thing; each may hold a body of megabytes. */
const MAX_WAITING = 100;

interface Queue {
  /** Waiting or at work. */
  count: number;
  /** Settles with the last of them; never rejects. */
  last: Promise<unknown>;
}

/**
 * Does the work on each thing in the order in which it came, one piece at a time. Writers of one model or context would only
 * overtake each other otherwise, and check again and again what is outdated by then.
 */
export class Turns {
  readonly #queues = new Map<string, Queue>();

  /** Things at which some work waits or is done. */
  get things(): number {
    return this.#queues.size;
  }

  /**
   * @param key of the thing
   * @throws WorkersBusyError when too much waits for it; what the work throws
   */
  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const queue = this.#queues.get(key) ?? { count: 0, last: Promise.resolve() };
    if (queue.count > MAX_WAITING) throw new WorkersBusyError(queue.count - 1);
    this.#queues.set(key, queue);
    queue.count += 1;
    const done = queue.last.then(work);
    queue.last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      queue.count -= 1;
      if (queue.count === 0) this.#queues.delete(key);
    }
  }
}
