export interface QueueOptions {
  /** Workers there are. */
  readonly workers: number;
  /** Tasks that may wait while all of them are busy. */
  readonly waitingMax: number;
  /** How many tasks of a lane may be handed over together; at least one. */
  readonly batchSize: (lane: string) => number;
}

/** What one worker is to do next. */
export interface Turn<Task> {
  readonly lane: string;
  readonly tasks: readonly Task[];
}

/**
 * Decides which tasks run next, and which may wait; it runs nothing, and reads no clock.
 *
 * Lanes take turns; within a lane, whoever came first goes first. Where there are two workers or more, no lane holds all of
 * them, and all lanes under suspicion together hold one: what is slow is in the way of others for a limited time only.
 * Nor can one lane, or all that are under suspicion, take more than half of the room for waiting.
 */
export class FairQueue<Task> {
  readonly #options: QueueOptions;
  /** How many workers one lane may hold. */
  readonly #laneWorkers: number;
  /** How many tasks of one lane may wait, and how many of all that are under suspicion. */
  readonly #laneWaiting: number;
  /** What waits in each lane, in the order of arrival; the lanes are in the order of their turns. */
  readonly #lanes = new Map<string, Task[]>();
  /** Tasks that wait and are not to be handed over together with others. */
  readonly #alone = new Set<Task>();
  /** How many workers a lane holds, where it holds any. */
  readonly #held = new Map<string, number>();
  /** Until when a lane is under suspicion, in milliseconds of the caller's clock. */
  readonly #suspects = new Map<string, number>();
  #waiting = 0;
  #busy = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#laneWorkers = Math.max(1, options.workers - 1);
    this.#laneWaiting = Math.max(1, Math.floor(options.waitingMax / 2));
  }

  /** How many tasks wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a task in. @returns false when it may not wait: the room is full, or this lane's part of it */
  offer(lane: string, task: Task, now: number): boolean {
    const { workers, waitingMax } = this.#options;
    const waiting = this.#lanes.get(lane) ?? [];
    if (this.#waiting + this.#busy >= waitingMax + workers) return false;
    if (waiting.length + this.#heldBy(lane) >= this.#laneWaiting + this.#laneWorkers) return false;
    if (this.#isSuspect(lane, now) && this.#suspectTasks(now) >= this.#laneWaiting + 1) return false;
    waiting.push(task);
    this.#lanes.set(lane, waiting);
    this.#waiting += 1;
    return true;
  }

  /**
   * The tasks that a free worker is to run now: several at once where the lane's may be, one otherwise. They hold the
   * worker until `release`.
   *
   * @returns undefined when nothing may run
   */
  take(now: number): Turn<Task> | undefined {
    for (const [lane, waiting] of this.#lanes) {
      if (!this.#mayRun(lane, now)) continue;
      const size = this.#isSuspect(lane, now) ? 1 : this.#options.batchSize(lane);
      const tasks = waiting.splice(0, this.#together(waiting, size));
      for (const task of tasks) this.#alone.delete(task);
      this.#lanes.delete(lane);
      if (waiting.length > 0) this.#lanes.set(lane, waiting);
      this.#waiting -= tasks.length;
      this.#held.set(lane, this.#heldBy(lane) + 1);
      this.#busy += 1;
      return { lane, tasks };
    }
    return undefined;
  }

  /**
   * The worker of a turn is free.
   *
   * @param again tasks of the turn that are still to be done: they wait before all others of the lane, and each is handed
   *   over by itself
   */
  release({ lane }: Turn<Task>, again: readonly Task[] = []): void {
    const held = this.#heldBy(lane) - 1;
    if (held > 0) this.#held.set(lane, held);
    else this.#held.delete(lane);
    this.#busy -= 1;
    if (again.length === 0) return;
    const waiting = this.#lanes.get(lane) ?? [];
    waiting.unshift(...again);
    for (const task of again) this.#alone.add(task);
    this.#lanes.set(lane, waiting);
    this.#waiting += again.length;
  }

  /** Takes out the tasks at the heads of the lanes that have waited for too long, as the caller sees it. */
  expired(isLate: (task: Task) => boolean): readonly Task[] {
    const tasks: Task[] = [];
    for (const [lane, waiting] of this.#lanes) {
      const first = waiting.findIndex((task) => !isLate(task));
      const late = waiting.splice(0, first === -1 ? waiting.length : first);
      if (waiting.length === 0) this.#lanes.delete(lane);
      for (const task of late) this.#alone.delete(task);
      this.#waiting -= late.length;
      tasks.push(...late);
    }
    return tasks;
  }

  /** A task waits no longer. @returns false when it did not wait */
  withdraw(lane: string, task: Task): boolean {
    const waiting = this.#lanes.get(lane) ?? [];
    const at = waiting.indexOf(task);
    if (at === -1) return false;
    waiting.splice(at, 1);
    this.#alone.delete(task);
    if (waiting.length === 0) this.#lanes.delete(lane);
    this.#waiting -= 1;
    return true;
  }

  /** Puts a lane under suspicion: a worker was lost to one of its tasks. */
  suspect(lane: string, now: number, until: number): void {
    for (const [known, end] of this.#suspects) if (end <= now) this.#suspects.delete(known);
    this.#suspects.set(lane, until);
  }

  /** Takes out all tasks that wait. */
  drain(): readonly Task[] {
    const tasks = [...this.#lanes.values()].flat();
    this.#lanes.clear();
    this.#alone.clear();
    this.#waiting = 0;
    return tasks;
  }

  #heldBy(lane: string): number {
    return this.#held.get(lane) ?? 0;
  }

  #isSuspect(lane: string, now: number): boolean {
    return (this.#suspects.get(lane) ?? -Infinity) > now;
  }

  #mayRun(lane: string, now: number): boolean {
    if (this.#heldBy(lane) >= this.#laneWorkers) return false;
    if (!this.#isSuspect(lane, now)) return true;
    for (const other of this.#held.keys()) if (this.#isSuspect(other, now)) return false;
    return true;
  }

  #suspectTasks(now: number): number {
    let tasks = 0;
    for (const [lane, waiting] of this.#lanes) if (this.#isSuspect(lane, now)) tasks += waiting.length;
    for (const [lane, held] of this.#held) if (this.#isSuspect(lane, now)) tasks += held;
    return tasks;
  }

  /** How many of the first tasks may be handed over together. */
  #together(waiting: readonly Task[], size: number): number {
    const alone = this.#alone.size === 0 ? -1 : waiting.findIndex((task) => this.#alone.has(task));
    return alone === 0 ? 1 : Math.min(size, alone === -1 ? waiting.length : alone);
  }
}
