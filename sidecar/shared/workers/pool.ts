import { extname } from 'node:path';
import { systemClock, type Clock } from '../clock.js';
import { Deadlines } from './deadlines.js';
import { TaskFailedError, WorkersBusyError } from './errors.js';
import { FairQueue, type Turn } from './fair-queue.js';
import { LaneCosts } from './lane-costs.js';
import { TurnRun, WorkerSlot } from './slot.js';
import { isOutOfMemory, Task } from './task.js';
import type { RunOptions, TaskRunner, TaskTable } from './tasks.js';

export interface PoolOptions {
  /** The module that workers load; its default export is made by `serve`. */
  readonly entry: URL;
  /** Workers; with two or more, none of what they do can keep all of them. */
  readonly threads: number;
  /** Tasks that may wait for a worker. */
  readonly queueLength: number;
  /** How long one task may take from its start, in milliseconds. */
  readonly deadlineMs: number;
  readonly clock?: Clock;
}

/**
 * The entry module of that name beside another module. Both are sources or both are built, so that they end alike.
 *
 * @param url `import.meta.url` of the other module
 */
export function entryBeside(name: string, url: string): URL {
  return new URL(`./${name}${extname(new URL(url).pathname)}`, url);
}

/** How long a lane is under suspicion after a worker was lost to one of its tasks, in milliseconds. */
const SUSPICION_MS = 30_000;

/** How many deadlines a task waits, and how long at least in milliseconds: for longer, no caller would. */
const WAIT = { deadlines: 5, leastMs: 10_000 } as const;

/** How long a task may go on when nobody waits for it any more: a new worker costs more than this, in milliseconds. */
const GRACE_MS = 100;

/**
 * A pool of worker threads for work on what users supply. A task past its deadline is ended with its worker, and a new
 * worker takes the place; the calling thread never waits for one. Whose turn it is, and who may wait, is decided by a
 * `FairQueue`: what goes on in one lane does not keep the others waiting for long.
 */
export class WorkerPool<Tasks extends TaskTable> implements TaskRunner<Tasks> {
  readonly #options: PoolOptions;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #costs = new LaneCosts();
  readonly #queue: FairQueue<Task>;
  readonly #slots: readonly WorkerSlot[];
  readonly #running = new Set<TurnRun>();
  #isClosed = false;
  #isDispatching = false;

  constructor(options: PoolOptions) {
    const { threads, queueLength, entry, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#deadlines = new Deadlines(clock);
    const batchSize = (lane: string) => this.#costs.batchSize(lane);
    this.#queue = new FairQueue({ workers: threads, waitingMax: queueLength, batchSize });
    const onLoaded = () => this.#dispatch();
    const onBroken = (cause: unknown) => this.#giveUpWithout(cause);
    this.#slots = Array.from({ length: threads }, () => new WorkerSlot({ entry, onLoaded, onBroken }));
  }

  run<Kind extends keyof Tasks & string>(
    kind: Kind,
    input: Parameters<Tasks[Kind]>[0],
    { deadlineMs = this.#options.deadlineMs, signal, mayFinish = false, lane = kind }: RunOptions = {},
  ): Promise<Awaited<ReturnType<Tasks[Kind]>>> {
    return new Promise((resolveTyped, reject) => {
      if (this.#isClosed) throw new TaskFailedError('The workers have been closed.');
      const resolve = (value: unknown) => resolveTyped(value as Awaited<ReturnType<Tasks[Kind]>>);
      const since = this.#clock.now();
      const task = new Task({ kind, input, lane, deadlineMs, since, resolve, reject });
      if (signal?.aborted === true) {
        task.fail(signal.reason);
        return;
      }
      if (!this.#queue.offer(lane, task, since)) throw new WorkersBusyError(this.#queue.waiting);
      if (signal !== undefined) task.heed(signal, () => this.#withdraw(task, mayFinish));
      for (const slot of this.#slots) if (slot.isBroken) void slot.restart();
      this.#dispatchSoon();
    });
  }

  /** Tasks that wait for a worker. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Tasks that workers are at. */
  get atWork(): number {
    let tasks = 0;
    for (const { turn } of this.#running) tasks += turn.tasks.length;
    return tasks;
  }

  /** Ends all workers; what they were doing fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#deadlines.close();
    const running = [...this.#running].flatMap(({ turn }) => turn.tasks);
    for (const task of [...this.#queue.drain(), ...running])
      task.fail(new TaskFailedError('The workers are being closed.'));
    await Promise.all(this.#slots.map((slot) => slot.close()));
  }

  /** What comes in the same turn of the event loop is handed over together: each message costs as much as a short task. */
  #dispatchSoon(): void {
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    setImmediate(() => {
      this.#isDispatching = false;
      this.#dispatch();
    });
  }

  /** Gives free workers what they are to do. What comes while they are busy can be handed over together. */
  #dispatch(): void {
    const earliest = this.#clock.now() - Math.max(WAIT.deadlines * this.#options.deadlineMs, WAIT.leastMs);
    for (const task of this.#queue.expired(({ since }) => since < earliest))
      task.fail(new WorkersBusyError(this.#queue.waiting));
    for (;;) {
      const free = this.#slots.filter(({ isFree }) => isFree);
      const turn = free.length === 0 ? undefined : this.#queue.take(this.#clock.now());
      if (turn === undefined) return;
      const home = this.#slots[homeOf(turn.lane, this.#slots.length)];
      const slot = free.find((one) => one === home) ?? free[0];
      if (slot !== undefined) void this.#carryOut(new TurnRun(turn, slot, this.#deadlines));
    }
  }

  async #carryOut(run: TurnRun): Promise<void> {
    const { turn } = run;
    this.#running.add(run);
    const result = await run.carryOut();
    this.#running.delete(run);
    if ('cause' in result) {
      this.#fail(turn, result.cause, result.isLate);
      this.#dispatch();
      return;
    }
    this.#costs.note(
      turn.lane,
      result.outcomes.map(({ ms }) => ms),
    );
    this.#queue.release(turn);
    // The worker is not to wait for what callers do with the outcomes.
    this.#dispatch();
    for (const [index, task] of turn.tasks.entries()) task.settle(result.outcomes[index]);
  }

  /** A worker was not done with a turn. Which of several tasks is to blame is not known: each is then tried by itself. */
  #fail(turn: Turn<Task>, cause: unknown, isLate: boolean): void {
    const { lane, tasks } = turn;
    this.#costs.forget(lane);
    if (isLate || isOutOfMemory(cause)) {
      const now = this.#clock.now();
      this.#queue.suspect(lane, now, now + SUSPICION_MS);
    }
    const again = tasks.length > 1 ? tasks.filter(({ isOver }) => !isOver) : [];
    this.#queue.release(turn, again);
    if (again.length === 0) for (const task of tasks) task.fail(task.failure(cause, isLate));
  }

  /** Nobody waits for a task any more. A worker that is at it and at nothing else is to be done soon. */
  #withdraw(task: Task, mayFinish: boolean): void {
    if (this.#queue.withdraw(task.lane, task) || mayFinish) return;
    for (const run of this.#running) {
      const { tasks } = run.turn;
      if (tasks.includes(task) && tasks.every(({ isOver }) => isOver)) run.hurry(GRACE_MS);
    }
  }

  /** No worker can be loaded: nothing would ever run what waits. */
  #giveUpWithout(cause: unknown): void {
    if (!this.#slots.every(({ isBroken }) => isBroken)) return;
    for (const task of this.#queue.drain())
      task.fail(new TaskFailedError('No worker could be started.', { cause }));
  }
}

/** The same worker for the same lane, where it is free: what it has compiled is still there. */
function homeOf(lane: string, workers: number): number {
  let sum = 0;
  for (let at = 0; at < lane.length; at += 1) sum += lane.charCodeAt(at);
  return sum % workers;
}
