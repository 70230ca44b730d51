import type { Clock } from '../clock.js';
import { GatewayError } from '../errors.js';

/**
 * No worker was free in time, or the queue or the share of the task's queue key is full; the caller may try again later. Other
 * workers may be free.
 */
export class WorkersBusyError extends GatewayError {
  readonly kind = 'busy';
  override readonly retryAfter = '1';

  constructor(waiting: number) {
    super(
      `No worker is free for this task, and ${waiting} other tasks are waiting. Send the request again later.`,
    );
  }
}

/**
 * A task took too much time or memory and was ended; its worker was replaced.
 *
 * A schema that is too costly to accept is refused with a different error. For a schema that was accepted, the task was
 * only too slow this time.
 */
export class TaskTooCostlyError extends GatewayError {
  readonly kind = 'busy';
  override readonly retryAfter = '1';

  /** @param bound the limit that the task exceeded */
  constructor(
    readonly bound: 'time' | 'memory',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A task threw an unexpected error, its worker could not run, or the pool was closed. */
export class TaskFailedError extends GatewayError {
  readonly kind = 'internalError';
}

/**
 * Returns the result of a task. If the task takes too much time or memory, returns or throws what `instead` does.
 *
 * @throws what the task and `instead` throw
 */
export async function unlessTooCostly<Result, Instead = never>(
  task: Promise<Result>,
  instead: (error: TaskTooCostlyError) => Instead,
): Promise<Result | Instead> {
  try {
    return await task;
  } catch (error) {
    if (error instanceof TaskTooCostlyError) return instead(error);
    throw error;
  }
}

/** The pause before retrying when the workers are busy, in milliseconds. */
const BUSY_RETRY_MS = 200;

/**
 * Returns the result of a task, for a caller that prefers waiting to failing: retries until a worker accepts the task.
 *
 * @throws the signal's reason, and what the task throws
 */
export async function retryWhileBusy<Result>(
  task: () => Promise<Result>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof WorkersBusyError)) throw error;
      await clock.sleep(BUSY_RETRY_MS, signal);
    }
  }
}
