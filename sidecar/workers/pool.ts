import { extname } from 'node:path';
import { Piscina } from 'piscina';
import { systemClock, type Clock } from '../shared/clock.js';
import { TaskFailedError, TaskTooCostlyError, WorkersBusyError } from './errors.js';
import type { Job, RunOptions, Started, TaskRunner, TaskTable } from './tasks.js';

export interface PoolOptions {
  /** The module that workers load; its default export is made by `serve`. */
  readonly entry: URL;
  /** Workers at most; the first starts at once, others when needed. */
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

/** Bounds of one worker. Compiling follows references by recursion, which needs more than the usual stack. */
const RESOURCES = { maxOldGenerationSizeMb: 256, stackSizeMb: 16 } as const;

interface Running {
  readonly begin: () => void;
  readonly end: (reason: Error) => void;
  hasBegun: boolean;
}

/**
 * A pool of worker threads for work on what users supply. A task past its deadline is ended with its worker, and a new
 * worker takes the place; the calling thread never waits for one.
 */
export class WorkerPool<Tasks extends TaskTable> implements TaskRunner<Tasks> {
  readonly #piscina: Piscina<Job, unknown>;
  readonly #options: PoolOptions;
  readonly #clock: Clock;
  readonly #running = new Map<number, Running>();
  #lastId = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#piscina = new Piscina({
      filename: options.entry.href,
      // One at least, for a worker that was ended is replaced up to the minimum only, while tasks may wait.
      minThreads: 1,
      maxThreads: options.threads,
      idleTimeout: Infinity,
      resourceLimits: RESOURCES,
      // Workers need nothing of the environment, and secrets are in it.
      env: {},
    });
    this.#piscina.on('message', ({ started }: Started) => this.#running.get(started)?.begin());
    // A worker that fails without a task cannot load its module: nothing would ever run what waits.
    this.#piscina.on('error', (cause: unknown) => {
      const waiting = [...this.#running.values()].filter(({ hasBegun }) => !hasBegun);
      for (const { end } of waiting) end(new TaskFailedError('No worker could be started.', { cause }));
    });
  }

  async run<Kind extends keyof Tasks & string>(
    kind: Kind,
    input: Parameters<Tasks[Kind]>[0],
    { deadlineMs = this.#options.deadlineMs, signal }: RunOptions = {},
  ): Promise<Awaited<ReturnType<Tasks[Kind]>>> {
    const { threads, queueLength } = this.#options;
    if (this.#isClosed) throw new TaskFailedError('The workers have been closed.');
    if (this.#running.size >= threads + queueLength) throw new WorkersBusyError(queueLength);
    const id = (this.#lastId += 1);
    const ended = new AbortController();
    const settled = new AbortController();
    const running: Running = {
      hasBegun: false,
      begin: () => {
        running.hasBegun = true;
        const late = new TaskTooCostlyError('time', `The task took more than ${deadlineMs} ms.`);
        this.#clock.sleep(deadlineMs, settled.signal).then(
          () => ended.abort(late),
          () => undefined,
        );
      },
      end: (reason) => ended.abort(reason),
    };
    this.#running.set(id, running);
    const signals = signal === undefined ? [ended.signal] : [ended.signal, signal];
    try {
      const result = await this.#piscina.run({ id, kind, input }, { signal: AbortSignal.any(signals) });
      return result as Awaited<ReturnType<Tasks[Kind]>>;
    } catch (error) {
      if (ended.signal.aborted) throw ended.signal.reason;
      signal?.throwIfAborted();
      throw failureOf(kind, error);
    } finally {
      this.#running.delete(id);
      settled.abort();
    }
  }

  /** Ends all workers; what they were doing fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { end } of this.#running.values()) end(new TaskFailedError('The workers are being closed.'));
    await this.#piscina.destroy();
  }
}

function failureOf(kind: string, cause: unknown): TaskTooCostlyError | TaskFailedError {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new TaskTooCostlyError('memory', 'The task took more memory than a worker may.', { cause });
  return new TaskFailedError(`The task ${kind} failed.`, { cause });
}
