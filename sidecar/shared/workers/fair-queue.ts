export interface QueueOptions {
  /** Number of workers. */
  readonly workers: number;
  /** Maximum number of tasks waiting while all workers are busy. */
  readonly maxWaiting: number;
  /** The maximum number of tasks of a queue key to hand over together; at least one. */
  readonly batchSize: (queueKey: string) => number;
}

/** The tasks that one worker runs next. */
export interface Batch<Task> {
  readonly queueKey: string;
  readonly tasks: readonly Task[];
}

/**
 * Decides which tasks run next and which may wait. It runs nothing and reads no clock.
 *
 * Queue keys take turns; tasks of one key run in the order of arrival. With two or more workers, no key can hold all of
 * them, and all quarantined keys together can hold only one, so that slow tasks delay others for a limited time only.
 * Neither one key nor all quarantined keys together can use more than half of the waiting places.
 */
export class FairQueue<Task> {
  readonly #options: QueueOptions;
  /** Maximum number of workers that one queue key may hold. */
  readonly #maxWorkersPerKey: number;
  /** Maximum number of waiting tasks of one queue key, and of all quarantined keys together. */
  readonly #maxWaitingPerKey: number;
  /** Waiting tasks by queue key, in the order of arrival; the order of the keys is that of their turns. */
  readonly #waitingByKey = new Map<string, Task[]>();
  /** Waiting tasks that must be handed over one at a time. */
  readonly #isolated = new Set<Task>();
  /** Number of workers that each queue key holds, if any. */
  readonly #held = new Map<string, number>();
  /** When the quarantine of a queue key ends, in milliseconds of the caller's clock. */
  readonly #quarantines = new Map<string, number>();
  #waiting = 0;
  #busy = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#maxWorkersPerKey = Math.max(1, options.workers - 1);
    this.#maxWaitingPerKey = Math.max(1, Math.floor(options.maxWaiting / 2));
  }

  /** Number of waiting tasks. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Adds a task. @returns false if it may not wait, because the queue or the share of its key is full */
  offer(queueKey: string, task: Task, now: number): boolean {
    const { workers, maxWaiting } = this.#options;
    const waiting = this.#waitingByKey.get(queueKey) ?? [];
    if (this.#waiting + this.#busy >= maxWaiting + workers) return false;
    if (waiting.length + this.#heldBy(queueKey) >= this.#maxWaitingPerKey + this.#maxWorkersPerKey)
      return false;
    if (this.#isQuarantined(queueKey, now) && this.#quarantinedTasks(now) >= this.#maxWaitingPerKey + 1)
      return false;
    waiting.push(task);
    this.#waitingByKey.set(queueKey, waiting);
    this.#waiting += 1;
    return true;
  }

  /**
   * Takes the tasks that a free worker runs now: several if the queue key allows it, otherwise one. They hold the
   * worker until `release`.
   *
   * @returns undefined if nothing may run
   */
  take(now: number): Batch<Task> | undefined {
    for (const [queueKey, waiting] of this.#waitingByKey) {
      if (!this.#mayRun(queueKey, now)) continue;
      const size = this.#isQuarantined(queueKey, now) ? 1 : this.#options.batchSize(queueKey);
      const tasks = waiting.splice(0, this.#batchLength(waiting, size));
      for (const task of tasks) this.#isolated.delete(task);
      this.#waitingByKey.delete(queueKey);
      if (waiting.length > 0) this.#waitingByKey.set(queueKey, waiting);
      this.#waiting -= tasks.length;
      this.#held.set(queueKey, this.#heldBy(queueKey) + 1);
      this.#busy += 1;
      return { queueKey, tasks };
    }
    return undefined;
  }

  /**
   * Records that a task that waited for one specific worker, outside of this queue, runs there now; it holds the worker
   * until `release`.
   */
  hold(queueKey: string, task: Task): Batch<Task> {
    this.#held.set(queueKey, this.#heldBy(queueKey) + 1);
    this.#busy += 1;
    return { queueKey, tasks: [task] };
  }

  /**
   * Records that the worker of a batch is free.
   *
   * @param retries tasks of the batch that still have to be done: they wait ahead of all other tasks of the queue key,
   * and each is handed over alone
   */
  release({ queueKey }: Batch<Task>, retries: readonly Task[] = []): void {
    const held = this.#heldBy(queueKey) - 1;
    if (held > 0) this.#held.set(queueKey, held);
    else this.#held.delete(queueKey);
    this.#busy -= 1;
    if (retries.length === 0) return;
    const waiting = this.#waitingByKey.get(queueKey) ?? [];
    waiting.unshift(...retries);
    for (const task of retries) this.#isolated.add(task);
    this.#waitingByKey.set(queueKey, waiting);
    this.#waiting += retries.length;
  }

  /** Removes and returns the tasks at the head of each queue key that have waited too long. */
  expired(isLate: (task: Task) => boolean): readonly Task[] {
    const tasks: Task[] = [];
    for (const [queueKey, waiting] of this.#waitingByKey) {
      const first = waiting.findIndex((task) => !isLate(task));
      const late = waiting.splice(0, first === -1 ? waiting.length : first);
      if (waiting.length === 0) this.#waitingByKey.delete(queueKey);
      for (const task of late) this.#isolated.delete(task);
      this.#waiting -= late.length;
      tasks.push(...late);
    }
    return tasks;
  }

  /** Removes a task. @returns false if it was not waiting */
  withdraw(queueKey: string, task: Task): boolean {
    const waiting = this.#waitingByKey.get(queueKey) ?? [];
    const at = waiting.indexOf(task);
    if (at === -1) return false;
    waiting.splice(at, 1);
    this.#isolated.delete(task);
    if (waiting.length === 0) this.#waitingByKey.delete(queueKey);
    this.#waiting -= 1;
    return true;
  }

  /** Quarantines a queue key, because one of its tasks cost a worker. */
  quarantine(queueKey: string, now: number, until: number): void {
    for (const [known, end] of this.#quarantines) if (end <= now) this.#quarantines.delete(known);
    this.#quarantines.set(queueKey, until);
  }

  /** Removes and returns all waiting tasks. */
  drain(): readonly Task[] {
    const tasks = [...this.#waitingByKey.values()].flat();
    this.#waitingByKey.clear();
    this.#isolated.clear();
    this.#waiting = 0;
    return tasks;
  }

  #heldBy(queueKey: string): number {
    return this.#held.get(queueKey) ?? 0;
  }

  #isQuarantined(queueKey: string, now: number): boolean {
    return (this.#quarantines.get(queueKey) ?? -Infinity) > now;
  }

  #mayRun(queueKey: string, now: number): boolean {
    if (this.#heldBy(queueKey) >= this.#maxWorkersPerKey) return false;
    if (!this.#isQuarantined(queueKey, now)) return true;
    for (const other of this.#held.keys()) if (this.#isQuarantined(other, now)) return false;
    return true;
  }

  #quarantinedTasks(now: number): number {
    let tasks = 0;
    for (const [queueKey, waiting] of this.#waitingByKey)
      if (this.#isQuarantined(queueKey, now)) tasks += waiting.length;
    for (const [queueKey, held] of this.#held) if (this.#isQuarantined(queueKey, now)) tasks += held;
    return tasks;
  }

  /** Returns how many of the first tasks may be handed over together. */
  #batchLength(waiting: readonly Task[], size: number): number {
    const alone = this.#isolated.size === 0 ? -1 : waiting.findIndex((task) => this.#isolated.has(task));
    return alone === 0 ? 1 : Math.min(size, alone === -1 ? waiting.length : alone);
  }
}
