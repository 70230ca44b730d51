import { type Clock, isDoneWithin } from './shared/clock.js';

export interface GracefulShutdownOptions {
  /** How long running work may take to finish, in milliseconds. */
  readonly graceMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Asks running work to end, and starts no new work. */
  readonly stop: () => void;
  /** Resolves when nothing is running any longer and every answer has been sent. */
  readonly idle: () => Promise<unknown>;
  /** Ends everything that waits for the broker: deletes in flight are counted as unknown, and every caller gets an answer. */
  readonly abortRequests: () => void;
  /** Closes everything. What is not closed soon is left to the end of the process. */
  readonly close: () => Promise<void>;
}

/** Time after the grace time for writing the records and answers of interrupted work, in milliseconds. */
const FINAL_ANSWERS_MS = 2000;

/** Time for closing everything, in milliseconds: connections to a database that hangs would never close. */
const CLOSE_MS = 5000;

/** The shutdown of a gateway: waits for running work, at most for the grace time, and then closes everything. */
export class GracefulShutdown {
  readonly #options: GracefulShutdownOptions;
  readonly #forced = new AbortController();
  #hasBegun = false;
  #done: Promise<void> | undefined;

  constructor(options: GracefulShutdownOptions) {
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Shuts down; a second call ends the grace time. Resolves when everything is closed. */
  begin(): Promise<void> {
    if (this.#hasBegun) this.#forced.abort();
    this.#hasBegun = true;
    return (this.#done ??= this.#shutDown());
  }

  async #shutDown(): Promise<void> {
    const { clock, graceMs, stop, idle, abortRequests: cutOff, close } = this.#options;
    stop();
    if (!(await isDoneWithin(clock, graceMs, idle(), this.#forced.signal))) {
      cutOff();
      await isDoneWithin(clock, FINAL_ANSWERS_MS, idle());
    }
    await isDoneWithin(clock, CLOSE_MS, close());
  }
}
