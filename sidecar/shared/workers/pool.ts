import { extname } from 'node:path';
import { type Clock, systemClock } from '../clock.js';
import { TaskFailedError, TaskTooCostlyError, WorkersBusyError } from './errors.js';
import { type Batch, FairQueue } from './fair-queue.js';
import { startTimer, type StartTimer } from './limits.js';
import { type BatchResult, RunningBatch, WorkerSlot } from './slot.js';
import { isOutOfMemory, Task } from './task.js';
import type { RunOptions, TaskRunner, TaskTable } from './tasks.js';

export interface PoolOptions {
  /** The module that workers load; it calls `serve`. */
  readonly entry: URL;
  /**
   * Maximum number of workers. The first is started for the first task, further ones whenever tasks wait. With two or
   * more, tasks of one queue key cannot occupy all.
   */
  readonly threads: number;
  /** Maximum number of tasks waiting for a worker. */
  readonly queueLength: number;
  /** Time limit of one task from its start, in milliseconds. */
  readonly deadlineMs: number;
  readonly clock?: Clock;
  /** For deadlines. */
  readonly startTimer?: StartTimer;
}

/**
 * Returns the entry module with that name next to another module, with the same file extension (source or built).
 *
 * @param url `import.meta.url` of the other module
 */
export function entryBeside(name: string, url: string): URL {
  return new URL(`./${name}${extname(new URL(url).pathname)}`, url);
}

/** Why a batch did not finish, and how long it ran, in milliseconds. */
type FailedBatch = Extract<BatchResult, { readonly cause: unknown }> & { readonly elapsedMs: number };

/** How long a queue key is quarantined after one of its tasks cost a worker, in milliseconds. */
const QUARANTINE_MS = 30_000;

/** The maximum waiting time of a task, as a number of deadlines, and its lower limit in milliseconds. */
const MAX_WAIT = { deadlines: 5, minMs: 10_000 } as const;

/** How long an abandoned task may continue, in milliseconds: starting a new worker takes longer. */
const GRACE_MS = 100;

/**
 * A pool of worker threads for work on user input. A task that exceeds its deadline is ended together with its worker,
 * which is replaced; the calling thread never blocks. A `FairQueue` decides which tasks run and which may wait, so that
 * tasks of one queue key do not delay others for long.
 */
export class WorkerPool<Tasks extends TaskTable> implements TaskRunner<Tasks> {
  readonly #options: PoolOptions;
  readonly #clock: Clock;
  readonly #costs = new TaskCosts();
  readonly #queue: FairQueue<Task>;
  readonly #slots: WorkerSlot[] = [];
  readonly #running = new Set<RunningBatch>();
  /** Tasks that wait for a specific worker. */
  readonly #pinned = new Map<Task, WorkerSlot>();
  #isClosed = false;
  #isDispatching = false;

  constructor(options: PoolOptions) {
    const { threads, queueLength, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    const batchSize = (queueKey: string) => this.#costs.batchSize(queueKey);
    this.#queue = new FairQueue({ workers: threads, maxWaiting: queueLength, batchSize });
  }

  #addSlot(): void {
    const onLoaded = () => this.#dispatch();
    const onBroken = (cause: unknown) => this.#failWaiting(cause);
    this.#slots.push(new WorkerSlot({ entry: this.#options.entry, onLoaded, onLoadFailed: onBroken }));
  }

  run<Kind extends keyof Tasks & string>(
    kind: Kind,
    input: Parameters<Tasks[Kind]>[0],
    options: RunOptions = {},
  ): Promise<Awaited<ReturnType<Tasks[Kind]>>> {
    const { signal, mayFinish = false, queueKey = kind, threadId, affinity, time, share = 1 } = options;
    const deadlineMs = ((options.deadlineMs ?? this.#options.deadlineMs) - (time?.usedMs ?? 0)) * share;
    return new Promise((resolveTyped, reject) => {
      if (this.#isClosed) throw new TaskFailedError('The workers have been closed.');
      const resolve = (value: unknown) => resolveTyped(value as Awaited<ReturnType<Tasks[Kind]>>);
      if (deadlineMs <= 0)
        throw new TaskTooCostlyError('time', 'The tasks before this one used all the time.');
      const since = this.#clock.monotonicMs();
      const task = new Task({ kind, input, queueKey, affinity, deadlineMs, since, time, resolve, reject });
      if (signal?.aborted === true) {
        task.fail(signal.reason);
        return;
      }
      const pinnedTo =
        threadId === undefined ? undefined : this.#slots.find((slot) => slot.threadId === threadId);
      if (pinnedTo !== undefined) this.#pinned.set(task, pinnedTo);
      else if (!this.#queue.offer(queueKey, task, since)) throw new WorkersBusyError(this.#queue.waiting);
      if (signal !== undefined) task.failOnAbort(signal, () => this.#withdraw(task, mayFinish));
      for (const slot of this.#slots) if (slot.isBroken) slot.restart();
      this.#dispatchSoon();
    });
  }

  /** Returns the number of waiting tasks, and of tasks that workers are running. */
  load(): { readonly waiting: number; readonly running: number } {
    let running = 0;
    for (const { batch } of this.#running) running += batch.tasks.length;
    return { waiting: this.#queue.waiting + this.#pinned.size, running };
  }

  /** Ends all workers; their tasks fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = [...this.#running].flatMap(({ batch }) => batch.tasks);
    for (const task of [...this.#queue.drain(), ...this.#pinned.keys(), ...running])
      task.fail(new TaskFailedError('The workers are being closed.'));
    this.#pinned.clear();
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  /**
   * Hands over tasks that arrive in the same turn of the event loop together, because a message costs as much as a
   * short task.
   */
  #dispatchSoon(): void {
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    setImmediate(() => {
      this.#isDispatching = false;
      this.#dispatch();
    });
  }

  /** Hands tasks to the free workers. */
  #dispatch(): void {
    const earliest =
      this.#clock.monotonicMs() - Math.max(MAX_WAIT.deadlines * this.#options.deadlineMs, MAX_WAIT.minMs);
    for (const task of this.#queue.expired(({ since }) => since < earliest))
      task.fail(new WorkersBusyError(this.#queue.waiting));
    for (const [task, slot] of this.#pinned) {
      if (!slot.isFree) continue;
      this.#pinned.delete(task);
      this.#begin(this.#queue.hold(task.queueKey, task), slot);
    }
    for (;;) {
      const free = this.#slots.filter(({ isFree }) => isFree);
      const batch = free.length === 0 ? undefined : this.#queue.take(this.#clock.monotonicMs());
      if (batch === undefined) break;
      const affinity = batch.tasks[0]?.affinity ?? '';
      const preferred = this.#slots[preferredSlot(affinity, this.#options.threads)];
      const slot = free.find((one) => one === preferred) ?? free[0];
      if (slot !== undefined) this.#begin(batch, slot);
    }
    const isFull = this.#slots.length === this.#options.threads;
    if (this.#queue.waiting > 0 && !isFull && this.#slots.every(({ isBusy }) => isBusy)) this.#addSlot();
  }

  #begin(batch: Batch<Task>, slot: WorkerSlot): void {
    const { startTimer: start = startTimer } = this.#options;
    void this.#execute(new RunningBatch(batch, slot, start, this.#clock.processorTimeMs));
  }

  async #execute(run: RunningBatch): Promise<void> {
    const { batch } = run;
    const start = this.#clock.monotonicMs();
    this.#running.add(run);
    const result = await run.execute();
    this.#running.delete(run);
    if ('cause' in result) {
      this.#fail(batch, { ...result, elapsedMs: this.#clock.monotonicMs() - start });
      this.#dispatch();
      return;
    }
    this.#costs.record(
      batch.queueKey,
      result.outcomes.map(({ ms }) => ms),
    );
    this.#queue.release(batch);
    // The worker must not wait for what callers do with the outcomes.
    this.#dispatch();
    for (const [index, task] of batch.tasks.entries()) task.settle(result.outcomes[index]);
  }

  /**
   * Handles a batch that its worker did not finish. If it had several tasks, any may be to blame, so each is tried
   * again alone.
   */
  #fail(batch: Batch<Task>, { cause, isLate, elapsedMs }: FailedBatch): void {
    const { queueKey, tasks } = batch;
    this.#costs.forget(queueKey);
    if (isLate || isOutOfMemory(cause)) {
      const now = this.#clock.monotonicMs();
      this.#queue.quarantine(queueKey, now, now + QUARANTINE_MS);
    }
    const again = tasks.length > 1 ? tasks.filter(({ isOver }) => !isOver) : [];
    this.#queue.release(batch, again);
    if (again.length > 0) return;
    for (const task of tasks) {
      task.addTime(isLate ? task.deadlineMs : elapsedMs);
      task.fail(task.failure(cause, isLate));
    }
  }

  /** Handles an abandoned task. If its worker runs nothing else, the worker is ended after a short grace period. */
  #withdraw(task: Task, mayFinish: boolean): void {
    if (this.#pinned.delete(task) || this.#queue.withdraw(task.queueKey, task) || mayFinish) return;
    for (const run of this.#running) {
      const { tasks } = run.batch;
      if (tasks.includes(task) && tasks.every(({ isOver }) => isOver)) run.endWithin(GRACE_MS);
    }
  }

  /** Fails all waiting tasks if no worker can be loaded, because they would never run. */
  #failWaiting(cause: unknown): void {
    if (!this.#slots.every(({ isBroken }) => isBroken)) return;
    for (const task of [...this.#queue.drain(), ...this.#pinned.keys()])
      task.fail(new TaskFailedError('No worker could be started.', { cause }));
    this.#pinned.clear();
  }
}

/** Selects the preferred worker of an affinity, which still has what it compiled earlier. */
function preferredSlot(affinity: string, workers: number): number {
  let sum = 0;
  for (let at = 0; at < affinity.length; at += 1) sum += affinity.charCodeAt(at);
  return sum % workers;
}

/** Maximum number of tasks in one message. */
const MAX_BATCH = 64;

/** Maximum estimated time of the tasks in one message together, in milliseconds. */
const BATCH_MS = 2;

/**
 * A task that took at least this long, in milliseconds, is slow and counts in full. A shorter one may be quick in fact:
 * workers run at a lower priority, so they may lose their core for some milliseconds.
 */
const SLOW_MS = 20;

/** Weight of the latest tasks in the estimate: it takes dozens of quick tasks to outweigh a slow one. */
const WEIGHT = 0.1;

/** Maximum number of queue keys to remember. */
const MAX_KEYS = 1000;

/**
 * Estimates how long tasks of each queue key take. Handing a task to another thread costs more than many tasks
 * themselves, so quick tasks are handed over together. A slow task must not delay others in its batch.
 */
export class TaskCosts {
  readonly #msByKey = new Map<string, number>();

  /** Records how long each task of one message took, in milliseconds; at least one task. */
  record(queueKey: string, ms: readonly number[]): void {
    const longest = Math.max(...ms);
    const mean = ms.reduce((sum, one) => sum + one, 0) / ms.length;
    const before = this.#msByKey.get(queueKey) ?? mean;
    this.#msByKey.delete(queueKey);
    const estimate = before + WEIGHT * (mean - before);
    this.#msByKey.set(queueKey, longest < SLOW_MS ? estimate : Math.max(longest, estimate));
    if (this.#msByKey.size <= MAX_KEYS) return;
    const [oldest] = this.#msByKey.keys();
    if (oldest !== undefined) this.#msByKey.delete(oldest);
  }

  /** Forgets the estimate for a queue key, because one of its tasks failed. */
  forget(queueKey: string): void {
    this.#msByKey.delete(queueKey);
  }

  /** Returns how many tasks of a queue key to hand over at once: one, unless they are known to be quick. */
  batchSize(queueKey: string): number {
    const ms = this.#msByKey.get(queueKey) ?? Infinity;
    return Math.max(1, Math.min(MAX_BATCH, Math.floor(BATCH_MS / ms)));
  }
}
