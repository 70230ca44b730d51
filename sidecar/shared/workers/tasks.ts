import type { CancelSignal } from '../cancel-signal.js';

/** What a worker can do: functions by kind of task. What they take and give crosses threads by structured clone. */
export type TaskTable = Readonly<Record<string, (input: never) => unknown>>;

export interface RunOptions {
  /** How long the task may take from its start, in milliseconds; the pool's own deadline when left out. */
  readonly deadlineMs?: number;
  /** Gives the task up: it leaves the queue, or is ended unless it is done in a moment. */
  readonly signal?: CancelSignal;
  /** A task that has begun may go on, within its deadline, when it was given up: for those that are given up often. */
  readonly mayFinish?: boolean;
  /**
   * What may be slow together, such as everything that uses one schema: its tasks wait for each other rather than
   * for others, and never take all workers. The kind of the task when left out.
   */
  readonly lane?: string;
}

/** Runs tasks somewhere else than on the calling thread. A task may be run twice, so it must have no effects. */
export interface TaskRunner<Tasks extends TaskTable> {
  /**
   * @throws {WorkersBusyError} when it cannot even wait
   * @throws {TaskTooCostlyError} past its deadline, or out of memory
   * @throws {TaskFailedError}
   */
  run<Kind extends keyof Tasks & string>(
    kind: Kind,
    input: Parameters<Tasks[Kind]>[0],
    options?: RunOptions,
  ): Promise<Awaited<ReturnType<Tasks[Kind]>>>;
}

/** What the pool hands to a worker, some at once. */
export interface Job {
  readonly kind: string;
  readonly input: unknown;
}

/** What a worker gives back for a job. */
export type Outcome = ({ readonly value: unknown } | { readonly error: Error }) & {
  /** How long the job took, in milliseconds. */
  readonly ms: number;
};

/** What a worker says once, when it has loaded its modules and can begin. */
export interface Loaded {
  readonly loaded: true;
}
