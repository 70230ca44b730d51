/** What a worker can do: functions by kind of task. What they take and give crosses threads by structured clone. */
export type TaskTable = Readonly<Record<string, (input: never) => unknown>>;

export interface RunOptions {
  /** How long the task may take from its start, in milliseconds; the pool's own deadline when left out. */
  readonly deadlineMs?: number;
  /** Gives the task up: it leaves the queue, or its worker is ended. */
  readonly signal?: AbortSignal;
}

/** Runs tasks somewhere else than on the calling thread. */
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

/** What the pool hands to a worker. */
export interface Job {
  readonly id: number;
  readonly kind: string;
  readonly input: unknown;
}

/** What a worker says when it takes up a job: its deadline counts from then. */
export interface Started {
  readonly started: number;
}
