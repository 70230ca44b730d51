import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.js';
import { HEAP, HeapFullError, HeapWatch, type StartTimer } from './limits.js';
import type { Batch } from './fair-queue.js';
import type { Task } from './task.js';
import type { Job, JobResult, WorkerReady, WorkerStart } from './tasks.js';

/**
 * Returns the Node options for workers: those options of this process that concern modules. Workers refuse many other
 * options.
 *
 * @param execArgv the options of this process
 */
export function workerArguments(execArgv: readonly string[]): string[] {
  const kept: string[] = [];
  for (const [index, argument] of execArgv.entries()) {
    if (/^--(?:enable-source-maps$|(?:import|require)=)/.test(argument)) kept.push(argument);
    else if (argument === '--import' || argument === '--require')
      kept.push(`${argument}=${execArgv[index + 1] ?? ''}`);
  }
  return kept;
}

/**
 * Limits of one worker; it is ended before its heap comes near the limit. Compiling follows references by recursion,
 * which needs a larger stack than usual.
 */
const RESOURCES = {
  maxOldGenerationSizeMb: HEAP.limitMb,
  maxYoungGenerationSizeMb: 32,
  stackSizeMb: 16,
} as const;

export interface SlotOptions {
  /** The module that the worker loads; it calls `serve`. */
  readonly entry: URL;
  /** Called when the worker has loaded its modules. */
  readonly onLoaded: () => void;
  /** Called when the worker cannot be loaded; `restart` tries again. */
  readonly onLoadFailed: (cause: unknown) => void;
}

/** Settles the promise for the jobs that the worker is running. */
interface Running {
  readonly resolve: (results: readonly JobResult[]) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * A slot for one worker, which runs one batch of jobs at a time. A worker that was ended or lost is replaced, provided
 * that it had loaded.
 */
export class WorkerSlot {
  readonly #options: SlotOptions;
  #worker: Worker;
  #messageCount = counter();
  #state: 'loading' | 'free' | 'busy' | 'broken' = 'loading';
  #loaded: WorkerReady | undefined;
  #running: Running | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#worker = this.#load();
  }

  /** Whether the worker can run jobs immediately. */
  get isFree(): boolean {
    return this.#state === 'free';
  }

  get isBusy(): boolean {
    return this.#state === 'busy';
  }

  get isBroken(): boolean {
    return this.#state === 'broken';
  }

  /** Tries again to load a worker after a failure. */
  restart(): void {
    this.#worker = this.#load();
  }

  /**
   * Runs jobs in the worker, one after the other; the worker must be free.
   *
   * @throws the reason why the worker ended, or an error if the jobs cannot be cloned between threads
   */
  async run(jobs: readonly Job[]): Promise<readonly JobResult[]> {
    const worker = this.#worker;
    let watch: HeapWatch | undefined;
    try {
      return await new Promise<readonly JobResult[]>((resolve, reject) => {
        worker.postMessage(jobs);
        Atomics.add(this.#messageCount, 0, 1);
        Atomics.notify(this.#messageCount, 0);
        this.#state = 'busy';
        this.#running = { resolve, reject };
        worker.ref();
        watch = new HeapWatch(worker, () => this.#discard(worker, new HeapFullError()));
      });
    } finally {
      watch?.stop();
    }
  }

  /** The thread id of the worker, once it has loaded. */
  get threadId(): number | undefined {
    return this.#loaded?.threadId;
  }

  /** The system id of the worker's thread, if known. */
  get thread(): string | undefined {
    return this.#loaded?.thread;
  }

  /** Ends the worker and what it is running. */
  end(): void {
    this.#discard(this.#worker, new Error('The worker was ended.'));
  }

  async close(): Promise<void> {
    this.#state = 'broken';
    this.#takeRunning()?.reject(new Error('The worker was closed.'));
    await this.#worker.terminate();
  }

  #load(): Worker {
    this.#state = 'loading';
    this.#loaded = undefined;
    this.#messageCount = counter();
    const worker = new Worker(this.#options.entry, {
      workerData: { messageCount: this.#messageCount } satisfies WorkerStart,
      resourceLimits: RESOURCES,
      execArgv: workerArguments(process.execArgv),
      // Workers do not need the environment, and it contains secrets.
      env: {},
    });
    worker.on('message', (message: WorkerReady | readonly JobResult[]) => {
      if (worker !== this.#worker || this.#state === 'broken') return;
      this.#state = 'free';
      // An idle worker does not keep the process alive.
      worker.unref();
      if ('loaded' in message) {
        this.#loaded = message;
        this.#options.onLoaded();
      } else this.#takeRunning()?.resolve(message);
    });
    worker.on('error', (cause) => this.#discard(worker, cause));
    worker.on('exit', () => this.#discard(worker, new Error('The worker has ended.')));
    return worker;
  }

  /** Discards a worker that can no longer be used. */
  #discard(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker || this.#state === 'broken') return;
    void worker.terminate();
    const running = this.#takeRunning();
    if (this.#loaded !== undefined) this.#worker = this.#load();
    else {
      this.#state = 'broken';
      this.#options.onLoadFailed(cause);
    }
    running?.reject(cause);
  }

  #takeRunning(): Running | undefined {
    const running = this.#running;
    this.#running = undefined;
    return running;
  }
}

function counter(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** The result of a batch: one outcome per task, or the reason why the worker ended. */
export type BatchResult =
  | { readonly outcomes: readonly JobResult[] }
  | { readonly cause: unknown; readonly isLate: boolean };

/**
 * The fraction of a deadline after which the processor time of a worker is first read. Most tasks have ended by then,
 * and reading it costs more than they do.
 */
const FIRST_READING = 0.05;

/**
 * The maximum elapsed time of a batch, however little processor time its worker gets: a number of deadlines, but at
 * least this many milliseconds. It is no longer than the time that tasks behind it may wait.
 */
const MAX_ELAPSED = { deadlines: 4, minMs: 1000 } as const;

/**
 * A batch that a worker is running. Its deadline counts from the start, because the worker has loaded and is free. If
 * the system reports the processor time of the worker, the deadline applies to that: on a busy machine, the task may
 * not be what is slow.
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

  async execute(): Promise<BatchResult> {
    try {
      return { outcomes: await this.#slot.run(this.batch.tasks.map(({ job }) => job)) };
    } catch (cause) {
      return { cause, isLate: this.#isLate };
    } finally {
      this.#cancel();
    }
  }

  /** Ends the worker if the batch is still running after `ms` milliseconds, regardless of its deadline. */
  endWithin(ms: number): void {
    this.#cancel();
    this.#cancel = this.#endAfter(ms);
  }

  /** Ends the worker once its time is used up. @returns a function that stops watching */
  #watch(deadlineMs: number, processorTimeMs: () => number | undefined): () => void {
    const firstMs = FIRST_READING * deadlineMs;
    const maxElapsedMs = Math.max(MAX_ELAPSED.deadlines * deadlineMs, MAX_ELAPSED.minMs);
    let firstCpuMs: number | undefined;
    let elapsedMs = 0;
    let stop: () => void;
    const cancelReading = this.#startTimer(firstMs, () => {
      firstCpuMs = processorTimeMs();
    });
    const wait = (ms: number): void => {
      elapsedMs += ms;
      stop = this.#startTimer(ms, () => {
        const now = processorTimeMs();
        const usedMs = firstCpuMs === undefined || now === undefined ? elapsedMs : firstMs + now - firstCpuMs;
        const leftMs = deadlineMs - usedMs;
        if (leftMs <= firstMs || elapsedMs >= maxElapsedMs) this.#end();
        else wait(leftMs);
      });
    };
    wait(deadlineMs);
    return () => {
      cancelReading();
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
