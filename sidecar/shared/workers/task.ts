import type { UsedTime } from '../clock.js';
import type { CancelSignal } from '../cancel-signal.js';
import { errorCode, type GatewayError } from '../errors.js';
import { TaskFailedError, TaskTooCostlyError } from './errors.js';
import type { Job, JobResult } from './tasks.js';

export interface TaskOptions extends Job {
  readonly queueKey: string;
  readonly affinity?: string | undefined;
  /** Time limit from the start of the task, in milliseconds. */
  readonly deadlineMs: number;
  /** When the task began to wait, in milliseconds of the pool's clock. */
  readonly since: number;
  /** Gets the time that the task uses. */
  readonly time?: UsedTime | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A task that a caller is waiting for. */
export class Task {
  readonly queueKey: string;
  readonly affinity: string;
  readonly since: number;
  readonly deadlineMs: number;
  /** The part that is sent to a worker. */
  readonly job: Job;
  readonly #time: UsedTime | undefined;
  readonly #resolve: TaskOptions['resolve'];
  readonly #reject: TaskOptions['reject'];
  #stopListening: () => void = nothing;
  #isOver = false;

  constructor({ kind, input, queueKey, affinity, since, deadlineMs, time, resolve, reject }: TaskOptions) {
    this.queueKey = queueKey;
    this.affinity = affinity ?? queueKey;
    this.since = since;
    this.deadlineMs = deadlineMs;
    this.job = { kind, input };
    this.#time = time;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Whether the caller already has a result or an error. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Fails with the reason of the signal if it aborts first, and then calls `onGivenUp`. */
  failOnAbort(signal: CancelSignal, onGivenUp: () => void): void {
    const giveUp = (): void => {
      this.fail(signal.reason);
      onGivenUp();
    };
    signal.addEventListener('abort', giveUp);
    // A function literal that is assigned to a property directly stays alive, with everything it refers to, until V8's
    // next full collection.
    const stopListening = (): void => signal.removeEventListener('abort', giveUp);
    this.#stopListening = stopListening;
  }

  settle(outcome: JobResult | undefined): void {
    this.addTime(outcome?.usedMs ?? 0);
    if (outcome !== undefined && 'value' in outcome) {
      this.#end();
      this.#resolve(outcome.value);
    } else this.fail(this.failure(outcome?.error));
  }

  /** Counts time that the task has used, in milliseconds. */
  addTime(ms: number): void {
    if (this.#time !== undefined) this.#time.usedMs += Math.min(ms, this.deadlineMs);
  }

  fail(error: unknown): void {
    this.#end();
    this.#reject(error);
  }

  /** Returns the error for a task, given what happened to its worker. */
  failure(cause: unknown, isLate = false): GatewayError {
    if (isLate) return new TaskTooCostlyError('time', `The task took more than ${this.deadlineMs} ms.`);
    if (isOutOfMemory(cause))
      return new TaskTooCostlyError('memory', 'The task used more memory than a worker may.', { cause });
    return new TaskFailedError(`The task ${this.job.kind} failed.`, { cause });
  }

  #end(): void {
    this.#isOver = true;
    this.#stopListening();
  }
}

/** Whether a worker ended because it ran out of memory. */
export function isOutOfMemory(cause: unknown): boolean {
  return errorCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY';
}

function nothing(): void {
  // Most tasks have no signal.
}
