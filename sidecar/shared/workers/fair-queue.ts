export interface QueueOptions {
  /** How many workers there are. */
  readonly workers: number;
  /** Tasks that may wait while all of them are busy. */
  readonly maxWaiting: number;
  /** How many tasks of a queue key may be handed over together; at least one. */
  readonly batchSize: (queueKey: string) => number;
}

/** Tasks that one worker runs next. */
export interface Batch<Task> {
  readonly queueKey: string;
  readonly tasks: readonly Task[];
}

/**
 * Decides which tasks run next and which may wait. It runs nothing and reads no clock.
 *
 * Queue keys take turns; tasks of one key run in the order of arrival. With two workers or more, no key holds all of
 * them, and all quarantined keys together hold one, so that slow tasks delay others for a limited time only. Neither one
 * key nor all quarantined keys together take more than half of the places for waiting.
 */
export class FairQueue<Task> {
  readonly #options: QueueOptions;
  /** How many workers one queue key may hold. */
  readonly #maxWorkersPerKey: number;
  /** How many tasks of one queue key may wait, and how many of all quarantined keys together. */
  readonly #maxWaitingPerKey: number;
  /** Waiting tasks by queue key, in the order of arrival; the keys are in the order of their turns. */
  readonly #waitingByKey = new Map<string, Task[]>();
  /** Waiting tasks that must be handed over by themselves. */
  readonly #alone = new Set<Task>();
  /** How many workers each queue key holds, if any. */
  readonly #held = new Map<string, number>();
  /** Until when a queue key is quarantined, in milliseconds of the caller's clock. */
  readonly #quarantines = new Map<string, number>();
  #waiting = 0;
  #busy = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#maxWorkersPerKey = Math.max(1, options.workers - 1);
    this.#maxWaitingPerKey = Math.max(1, Math.floor(options.maxWaiting / 2));
  }

  /** How many tasks wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Adds a task. @returns false when it may not wait because the queue, or the share of its key, is full */
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
   * The tasks that a free worker runs now: several where the queue key allows it, one otherwise. They hold the worker
   * until `release`.
   *
   * @returns undefined when nothing may run
   */
  take(now: number): Batch<Task> | undefined {
    for (const [queueKey, waiting] of this.#waitingByKey) {
      if (!this.#mayRun(queueKey, now)) continue;
      const size = this.#isQuarantined(queueKey, now) ? 1 : this.#options.batchSize(queueKey);
      const tasks = waiting.splice(0, this.#together(waiting, size));
      for (const task of tasks) this.#alone.delete(task);
      this.#waitingByKey.delete(queueKey);
      if (waiting.length > 0) this.#waitingByKey.set(queueKey, waiting);
      this.#waiting -= tasks.length;
      this.#held.set(queueKey, this.#heldBy(queueKey) + 1);
      this.#busy += 1;
      return { queueKey, tasks };
    }
    return undefined;
  }

  /** A task that waits elsewhere, for one certain worker, runs there now: it holds the worker until `release`. */
  hold(queueKey: string, task: Task): Batch<Task> {
    this.#held.set(queueKey, this.#heldBy(queueKey) + 1);
    this.#busy += 1;
    return { queueKey, tasks: [task] };
  }

  /**
   * The worker of a batch is free.
   *
   * @param again tasks of the batch that are still to be done: they wait before all others of the queue key, and each is
   *   handed over by itself
   */
  release({ queueKey }: Batch<Task>, again: readonly Task[] = []): void {
    const held = this.#heldBy(queueKey) - 1;
    if (held > 0) this.#held.set(queueKey, held);
    else this.#held.delete(queueKey);
    this.#busy -= 1;
    if (again.length === 0) return;
    const waiting = this.#waitingByKey.get(queueKey) ?? [];
    waiting.unshift(...again);
    for (const task of again) this.#alone.add(task);
    this.#waitingByKey.set(queueKey, waiting);
    this.#waiting += again.length;
  }

  /** Removes the tasks at the head of each queue key that have waited too long. */
  expired(isLate: (task: Task) => boolean): readonly Task[] {
    const tasks: Task[] = [];
    for (const [queueKey, waiting] of this.#waitingByKey) {
      const first = waiting.findIndex((task) => !isLate(task));
      const late = waiting.splice(0, first === -1 ? waiting.length : first);
      if (waiting.length === 0) this.#waitingByKey.delete(queueKey);
      for (const task of late) this.#alone.delete(task);
      this.#waiting -= late.length;
      tasks.push(...late);
    }
    return tasks;
  }

  /** Removes a task. @returns false when it did not wait */
  withdraw(queueKey: string, task: Task): boolean {
    const waiting = this.#waitingByKey.get(queueKey) ?? [];
    const at = waiting.indexOf(task);
    if (at === -1) return false;
    waiting.splice(at, 1);
    this.#alone.delete(task);
    if (waiting.length === 0) this.#waitingByKey.delete(queueKey);
    this.#waiting -= 1;
    return true;
  }

  /** Quarantines a queue key, because one of its tasks cost a worker. */
  quarantine(queueKey: string, now: number, until: number): void {
    for (const [known, end] of this.#quarantines) if (end <= now) this.#quarantines.delete(known);
    this.#quarantines.set(queueKey, until);
  }

  /** Removes all waiting tasks. */
  drain(): readonly Task[] {
    const tasks = [...this.#waitingByKey.values()].flat();
    this.#waitingByKey.clear();
    this.#alone.clear();
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

  /** How many of the first tasks may be handed over together. */
  #together(waiting: readonly Task[], size: number): number {
    const alone = this.#alone.size === 0 ? -1 : waiting.findIndex((task) => this.#alone.has(task));
    return alone === 0 ? 1 : Math.min(size, alone === -1 ? waiting.length : alone);
  }
}
