import type { Clock } from './shared/clock.js';

export interface GracefulShutdownOptions {
  /** How long running work may take to end, in milliseconds. */
  readonly graceMs: number;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Asks running work to end, and begins no other. */
  readonly stop: () => void;
  /** Resolves when nothing runs any more, and every answer is on its way. */
  readonly idle: () => Promise<unknown>;
  /** Ends what waits for the broker: deletes in flight are booked as unknown, and every caller is told. */
  readonly cutOff: () => void;
  /** Closes everything. */
  readonly close: () => Promise<void>;
}

/** After the grace time: for records and answers of what was at work, in milliseconds. */
const ENDING_MS = 2000;

/** The one shutdown of a gateway: it waits for running work, at most for the grace time, and closes everything. */
export class GracefulShutdown {
  readonly #options: GracefulShutdownOptions;
  readonly #hurry = new AbortController();
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
    if (this.#hasBegun) this.#hurry.abort();
    this.#hasBegun = true;
    return (this.#done ??= this.#shutDown());
  }

  async #shutDown(): Promise<void> {
    const { graceMs, stop, cutOff, close } = this.#options;
    stop();
    if (!(await this.#isIdleWithin(graceMs, this.#hurry.signal))) {
      cutOff();
      await this.#isIdleWithin(ENDING_MS);
    }
    await close();
  }

  /** @returns whether all was idle before so many milliseconds had passed, or `enough` aborted */
  async #isIdleWithin(ms: number, enough?: AbortSignal): Promise<boolean> {
    const { clock, idle } = this.#options;
    const over = new AbortController();
    const signal = enough === undefined ? over.signal : AbortSignal.any([over.signal, enough]);
    const late = clock.sleep(ms, signal).then(
      () => false,
      () => false,
    );
    const isIdle = await Promise.race([idle().then(() => true), late]);
    over.abort();
    return isIdle;
  }
}
