import type { Clock } from '../clock.js';
import { GatewayError } from '../errors.js';

/** No worker was free in time, or no further task may wait; the caller may try again later. */
export class WorkersBusyError extends GatewayError {
  readonly kind = 'busy';
  override readonly retryAfter = '1';

  constructor(waiting: number) {
    super(
      `No worker is free for this, and ${waiting} other tasks wait for one. Send the request again later.`,
    );
  }
}

/**
 * The task took too much time or memory and was ended; its worker was replaced.
 *
 * A schema that is too costly to accept is refused with another error. With one that was accepted, the work was only too
 * slow this time.
 */
export class TaskTooCostlyError extends GatewayError {
  readonly kind = 'busy';
  override readonly retryAfter = '1';

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
  readonly kind = 'internalError';
}

/**
 * The result of a task. For one that takes too much time or memory, what `instead` returns or throws.
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

/** The pause before busy workers are asked again, in milliseconds. */
const ASK_AGAIN_MS = 200;

/**
 * The result of a task for a caller who would rather wait than come again: it is given to the workers until they are not busy.
 *
 * @throws the signal's reason, and what the task throws
 */
export async function onceFree<Result>(
  task: () => Promise<Result>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof WorkersBusyError)) throw error;
      await clock.sleep(ASK_AGAIN_MS, signal);
    }
  }
}
