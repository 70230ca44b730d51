import { GatewayError } from '../errors.js';

/** All workers are busy and no further task may wait; the caller may try again later. */
export class WorkersBusyError extends GatewayError {
  readonly code = 'WORKERS_BUSY';

  constructor(waiting: number) {
    super(`All workers are busy, and ${waiting} tasks are waiting.`);
  }
}

/** The task took too much time or memory and was ended; its worker was replaced. */
export class TaskTooCostlyError extends GatewayError {
  readonly code = 'WORKER_TASK_TOO_COSTLY';

  /** @param bound what the task ran out of */
  constructor(
    readonly bound: 'time' | 'memory',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The task threw an unexpected error, its worker could not run, or the pool was closed. */
export class TaskFailedError extends GatewayError {
  readonly code = 'WORKER_TASK_FAILED';
}
