import type { CancelSignal } from '../cancel-signal.js';

/** Functions of a worker, by kind of task. Inputs and results cross threads by structured clone. */
export type TaskTable = Readonly<Record<string, (input: never) => unknown>>;

export interface RunOptions {
  /** How long the task may take from its start, in milliseconds; the pool's own deadline when left out. */
  readonly deadlineMs?: number;
  /** Abandons the task: it leaves the queue, or is ended after a short grace period. */
  readonly signal?: CancelSignal;
  /** Lets a task that has begun finish within its deadline when it is abandoned. For tasks that are often abandoned. */
  readonly mayFinish?: boolean;
  /**
   * Groups tasks that may be slow together, such as all that use one schema. They wait for each other rather than delay
   * others, and never take all workers. Defaults to the kind of the task.
   */
  readonly queueKey?: string;
}

/** Runs tasks outside the calling thread. A task may be run twice, so it must have no side effects. */
export interface TaskRunner<Tasks extends TaskTable> {
  /**
   * @throws {WorkersBusyError} when it cannot even wait in the queue
   * @throws {TaskTooCostlyError} past its deadline, or out of memory
   * @throws {TaskFailedError}
   */
  run<Kind extends keyof Tasks & string>(
    kind: Kind,
    input: Parameters<Tasks[Kind]>[0],
    options?: RunOptions,
  ): Promise<Awaited<ReturnType<Tasks[Kind]>>>;
}

/** A task as it is sent to a worker. */
export interface Job {
  readonly kind: string;
  readonly input: unknown;
}

/** The result of a job. */
export type JobResult = ({ readonly value: unknown } | { readonly error: Error }) & {
  /** How long the job took, in milliseconds. */
  readonly ms: number;
};

/** What a worker says once, when it has loaded its modules and can begin. */
export interface Loaded {
  readonly loaded: true;
  /** What the system calls its thread, where it is known. */
  readonly thread: string | undefined;
}
