import { EventEmitter } from 'node:events';
import { Piscina } from 'piscina';
import type { Clock } from '../clock.js';
import { HEAP, HeapFullError, HeapWatch, type StartTimer } from './limits.js';
import type { Batch } from './fair-queue.js';
import type { Task } from './task.js';
import type { Job, JobResult, Loaded } from './tasks.js';

/**
 * Options of Node for workers: those of this process that concern modules, since workers refuse many of the others.
 *
 * Piscina tries `require` before `import`. A worker that is ended while it requires an ES module aborts the whole process
 * (Node 20.20: "Assertion failed" in CreateRequiredModuleFacade); one that imports it does not.
 *
 * @param execArgv of this process
 */
export function workerArguments(execArgv: readonly string[]): string[] {
  const kept: string[] = [];
  for (const [index, argument] of execArgv.entries()) {
    if (/^--(?:enable-source-maps$|(?:import|require)=)/.test(argument)) kept.push(argument);
    else if (argument === '--import' || argument === '--require')
      kept.push(`${argument}=${execArgv[index + 1] ?? ''}`);
  }
  return [...kept, '--no-experimental-require-module'];
}

/**
 * Bounds of one worker; it is ended before its heap comes near to the limit. Compiling follows references by recursion, which
 * needs more than the usual stack.
 */
const RESOURCES = {
  maxOldGenerationSizeMb: HEAP.limitMb,
  maxYoungGenerationSizeMb: 32,
  stackSizeMb: 16,
} as const;

export interface SlotOptions {
  /** The module that the worker loads; its default export is made by `serve`. */
  readonly entry: URL;
  /** The worker has loaded its modules. */
  readonly onLoaded: () => void;
  /** No worker can be loaded; `restart` tries again. */
  readonly onBroken: (cause: unknown) => void;
}

/**
 * A slot for one worker. A worker that is ended or lost is replaced. Each slot is a Piscina of its own: only then is it
 * known whether its worker has loaded and what it runs, and deadlines must not count the time that loading takes.
 */
export class WorkerSlot {
  readonly #options: SlotOptions;
  #piscina: Piscina<readonly Job[], readonly JobResult[]>;
  #state: 'loading' | 'free' | 'busy' | 'broken' = 'loading';
  #thread: string | undefined;
  #threadId: number | undefined;
  /** Ends what Piscina runs; it costs much less than an AbortController. */
  #ender = new EventEmitter();

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#piscina = this.#load();
  }

  /** Whether it can run jobs at once. */
  get isFree(): boolean {
    return this.#state === 'free';
  }

  get isBusy(): boolean {
    return this.#state === 'busy';
  }

  get isBroken(): boolean {
    return this.#state === 'broken';
  }

  /** Tries again to load a worker after that failed. */
  async restart(): Promise<void> {
    const broken = this.#piscina;
    this.#state = 'loading';
    this.#piscina = this.#load();
    await broken.destroy();
  }

  /**
   * Runs jobs in the worker, one after the other; it must be free.
   *
   * @throws what ended the worker, or what cannot be cloned between threads
   */
  async run(jobs: readonly Job[]): Promise<readonly JobResult[]> {
    this.#state = 'busy';
    this.#ender = new EventEmitter();
    const [worker] = this.#piscina.threads;
    const watch = worker && new HeapWatch(worker, () => this.end());
    try {
      return await this.#piscina.run(jobs, { signal: this.#ender });
    } catch (cause) {
      throw watch?.isFull === true ? new HeapFullError() : cause;
    } finally {
      watch?.stop();
      if (this.isBusy) this.#state = 'free';
    }
  }

  /** The thread of the worker, once that has loaded. */
  get threadId(): number | undefined {
    return this.#threadId;
  }

  /** What the system calls the thread of the worker, where it is known. */
  get thread(): string | undefined {
    return this.#thread;
  }

  /** Ends the worker, and what it runs. */
  end(): void {
    this.#ender.emit('abort');
  }

  async close(): Promise<void> {
    this.#state = 'broken';
    await this.#piscina.destroy();
  }

  #load(): Piscina<readonly Job[], readonly JobResult[]> {
    const piscina = new Piscina<readonly Job[], readonly JobResult[]>({
      filename: this.#options.entry.href,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Infinity,
      recordTiming: false,
      resourceLimits: RESOURCES,
      execArgv: workerArguments(process.execArgv),
      // Workers do not need the environment, and it contains secrets.
      env: {},
    });
    const isCurrent = () => this.#piscina === piscina && this.#state !== 'broken';
    // The only message is `Loaded`.
    piscina.on('message', ({ thread, threadId }: Loaded) => {
      if (!isCurrent()) return;
      this.#threadId = threadId;
      this.#thread = thread;
      this.#state = 'free';
      this.#options.onLoaded();
    });
    piscina.on('workerDestroy', () => {
      if (isCurrent()) this.#state = 'loading';
    });
    // A worker that fails without a task cannot load its module; Piscina tries this once more by itself.
    piscina.on('error', (cause: unknown) => {
      if (!isCurrent() || piscina.threads.length > 0) return;
      this.#state = 'broken';
      this.#options.onBroken(cause);
    });
    return piscina;
  }
}

/** How a batch ended: an outcome for each of its tasks, or what ended the worker. */
export type BatchResult =
  | { readonly outcomes: readonly JobResult[] }
  | { readonly cause: unknown; readonly isLate: boolean };

/**
 * The part of a deadline after which the processor time of a worker is looked at first. Most tasks have ended by then, and it
 * costs more than they do.
 */
const FIRST_LOOK = 0.05;

/**
 * How many deadlines may pass, and at least so many milliseconds, whatever a worker gets of the processor: no longer than tasks
 * behind it wait.
 */
const MAX_PASSED = { deadlines: 4, leastMs: 1000 } as const;

/**
 * A batch that a worker runs. Its deadline counts from the start, because the worker has loaded and is free. Where the system
 * says how much processor time the worker had, that counts: beside other work, the machine may be slow, and not the task.
 */
export class RunningBatch {
  readonly batch: Batch<Task>;
  readonly #slot: WorkerSlot;
  readonly #startTimer: StartTimer;
  #cancel: () => void;
  #isLate = false;

  /** @param processorTimeMs see Clock */
  constructor(
    batch: Batch<Task>,
    slot: WorkerSlot,
    startTimer: StartTimer,
    processorTimeMs?: Clock['processorTimeMs'],
  ) {
    this.batch = batch;
    this.#slot = slot;
    this.#startTimer = startTimer;
    const deadlineMs = Math.min(...batch.tasks.map((task) => task.deadlineMs));
    this.#cancel =
      processorTimeMs === undefined
        ? this.#endAfter(deadlineMs)
        : this.#watch(deadlineMs, () => processorTimeMs(slot.thread));
  }

  async carryOut(): Promise<BatchResult> {
    try {
      return { outcomes: await this.#slot.run(this.batch.tasks.map(({ job }) => job)) };
    } catch (cause) {
      return { cause, isLate: this.#isLate };
    } finally {
      this.#cancel();
    }
  }

  /** Ends the worker if the batch still runs in `ms` milliseconds, regardless of its deadline. */
  endWithin(ms: number): void {
    this.#cancel();
    this.#cancel = this.#endAfter(ms);
  }

  /** Ends the worker once it has had its time. @returns ends that */
  #watch(deadlineMs: number, processorTimeMs: () => number | undefined): () => void {
    const firstMs = FIRST_LOOK * deadlineMs;
    const mostMs = Math.max(MAX_PASSED.deadlines * deadlineMs, MAX_PASSED.leastMs);
    let atFirst: number | undefined;
    let passedMs = 0;
    let stop: () => void;
    const stopLook = this.#startTimer(firstMs, () => {
      atFirst = processorTimeMs();
    });
    const wait = (ms: number): void => {
      passedMs += ms;
      stop = this.#startTimer(ms, () => {
        const now = processorTimeMs();
        const usedMs = atFirst === undefined || now === undefined ? passedMs : firstMs + now - atFirst;
        const leftMs = deadlineMs - usedMs;
        if (leftMs <= firstMs || passedMs >= mostMs) this.#end();
        else wait(leftMs);
      });
    };
    wait(deadlineMs);
    return () => {
      stopLook();
      stop();
    };
  }

  #endAfter(ms: number): () => void {
    return this.#startTimer(ms, () => this.#end());
  }

  #end(): void {
    this.#isLate = true;
    this.#slot.end();
  }
}
