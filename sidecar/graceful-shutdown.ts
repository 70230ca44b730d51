import type { Clock } from './shared/clock.js';

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
  /** Closes everything. */
  readonly close: () => Promise<void>;
}

/** Time after the grace time for writing the records and answers of interrupted work, in milliseconds. */
const FINAL_ANSWERS_MS = 2000;

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
    const { graceMs, stop, abortRequests: cutOff, close } = this.#options;
    stop();
    if (!(await this.#isIdleWithin(graceMs, this.#forced.signal))) {
      cutOff();
      await this.#isIdleWithin(FINAL_ANSWERS_MS);
    }
    await close();
  }

  /** Waits for all work to finish. @returns whether it did before `ms` milliseconds had passed or `enough` was aborted */
  async #isIdleWithin(ms: number, interrupted?: AbortSignal): Promise<boolean> {
    const { clock, idle } = this.#options;
    const done = new AbortController();
    const signal = interrupted === undefined ? done.signal : AbortSignal.any([done.signal, interrupted]);
    const timeout = clock.sleep(ms, signal).then(
      () => false,
      () => false,
    );
    const isIdle = await Promise.race([idle().then(() => true), timeout]);
    done.abort();
    return isIdle;
  }
}
