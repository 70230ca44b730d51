import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.js';
import { HEAP, HeapFullError, HeapWatch, type StartTimer } from './limits.js';
import type { Batch } from './fair-queue.js';
import type { Task } from './task.js';
import type { Job, JobResult, Loaded, WorkerStart } from './tasks.js';

/**
 * Options of Node for workers: those of this process that concern modules, since workers refuse many of the others.
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
  return kept;
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
  /** The module that the worker loads; it calls `serve`. */
  readonly entry: URL;
  /** The worker has loaded its modules. */
  readonly onLoaded: () => void;
  /** No worker can be loaded; `restart` tries again. */
  readonly onBroken: (cause: unknown) => void;
}

/** What a worker runs, for whom waits for it. */
interface Running {
  readonly resolve: (results: readonly JobResult[]) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * A slot for one worker, which runs one batch of jobs at a time. A worker that is ended or lost is replaced, as long as it had
 * loaded.
 */
export class WorkerSlot {
  readonly #options: SlotOptions;
  #worker: Worker;
  #sent = counter();
  #state: 'loading' | 'free' | 'busy' | 'broken' = 'loading';
  #loaded: Loaded | undefined;
  #running: Running | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
    this.#worker = this.#load();
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
  restart(): void {
    this.#worker = this.#load();
  }

  /**
   * Runs jobs in the worker, one after the other; it must be free.
   *
   * @throws what ended the worker, or what cannot be cloned between threads
   */
  async run(jobs: readonly Job[]): Promise<readonly JobResult[]> {
    const worker = this.#worker;
    let watch: HeapWatch | undefined;
    try {
      return await new Promise<readonly JobResult[]>((resolve, reject) => {
        worker.postMessage(jobs);
        Atomics.add(this.#sent, 0, 1);
        Atomics.notify(this.#sent, 0);
        this.#state = 'busy';
        this.#running = { resolve, reject };
        worker.ref();
        watch = new HeapWatch(worker, () => this.#lose(worker, new HeapFullError()));
      });
    } finally {
      watch?.stop();
    }
  }

  /** The thread of the worker, once that has loaded. */
  get threadId(): number | undefined {
    return this.#loaded?.threadId;
  }

  /** What the system calls the thread of the worker, where it is known. */
  get thread(): string | undefined {
    return this.#loaded?.thread;
  }

  /** Ends the worker, and what it runs. */
  end(): void {
    this.#lose(this.#worker, new Error('The worker was ended.'));
  }

  async close(): Promise<void> {
    this.#state = 'broken';
    this.#takeRunning()?.reject(new Error('The worker was closed.'));
    await this.#worker.terminate();
  }

  #load(): Worker {
    this.#state = 'loading';
    this.#loaded = undefined;
    this.#sent = counter();
    const worker = new Worker(this.#options.entry, {
      workerData: { sent: this.#sent } satisfies WorkerStart,
      resourceLimits: RESOURCES,
      execArgv: workerArguments(process.execArgv),
      // Workers do not need the environment, and it contains secrets.
      env: {},
    });
    worker.on('message', (message: Loaded | readonly JobResult[]) => {
      if (worker !== this.#worker || this.#state === 'broken') return;
      this.#state = 'free';
      // One that has nothing to do does not keep the process.
      worker.unref();
      if ('loaded' in message) {
        this.#loaded = message;
        this.#options.onLoaded();
      } else this.#takeRunning()?.resolve(message);
    });
    worker.on('error', (cause) => this.#lose(worker, cause));
    worker.on('exit', () => this.#lose(worker, new Error('The worker has ended.')));
    return worker;
  }

  /** The worker is of no use any more. */
  #lose(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker || this.#state === 'broken') return;
    void worker.terminate();
    const running = this.#takeRunning();
    if (this.#loaded !== undefined) this.#worker = this.#load();
    else {
      this.#state = 'broken';
      this.#options.onBroken(cause);
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
