import { GatewayError } from '../errors.js';

/** All workers are busy and enough tasks wait; the caller may try again later. */
export class WorkersBusyError extends GatewayError {
  readonly code = 'WORKERS_BUSY';

  constructor(waiting: number) {
    super(`All workers are busy, and ${waiting} tasks wait for them.`);
  }
}

/** The task was ended because it took more than it may; its worker was replaced. */
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

/** The task threw something unforeseen, its worker could not run, or the pool was closed. */
export class TaskFailedError extends GatewayError {
  readonly code = 'WORKER_TASK_FAILED';
}
