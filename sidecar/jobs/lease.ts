import { PurgeStoppedError } from '../purge/index.js';

/** How often the store is asked about a lease that is in doubt, in milliseconds. */
const ASK_EVERY_MS = 1000;

/** By what right this process works on a purge, and until when it may be sure of it. */
export class Lease {
  /** See HeldPurge. */
  readonly number: number;
  readonly #monotonicMs: () => number;
  readonly #lost = new AbortController();
  #untilMs: number;
  #askedMs = -Infinity;
  #isTaken = false;

  /**
   * @param untilMs on the monotonic clock
   * @param monotonicMs a clock that is never set, and that goes on while this process is stopped
   */
  constructor(number: number, untilMs: number, monotonicMs: () => number) {
    this.number = number;
    this.#untilMs = untilMs;
    this.#monotonicMs = monotonicMs;
  }

  /** Aborts when the purge has to stop here. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether another process has the purge, or has ended it. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Whether no other process can have taken the purge. */
  get holds(): boolean {
    return !this.lost.aborted && this.#monotonicMs() < this.#untilMs;
  }

  renew(untilMs: number): void {
    this.#untilMs = untilMs;
  }

  /** Stops the purge here, since another process may take it. */
  lapse(): void {
    this.#lost.abort();
  }

  /** Another process has taken it. */
  take(): void {
    this.#isTaken = true;
    this.#lost.abort();
  }

  /** Called before each delete of a job. @throws PurgeStoppedError once the lease may not hold */
  require(): undefined {
    if (this.holds) return undefined;
    this.lapse();
    throw stopped();
  }

  /**
   * Called before each delete of a purge whose caller waits: no other process can go on with it, so it only stops when the store
   * says that it was ended. While the store is away, it goes on.
   *
   * @param ask asks the store whether the lease holds; does not reject
   * @throws PurgeStoppedError
   */
  inquire(ask: () => Promise<void>): Promise<void> | undefined {
    if (this.lost.aborted) throw stopped();
    const nowMs = this.#monotonicMs();
    if (this.holds || nowMs - this.#askedMs < ASK_EVERY_MS) return undefined;
    this.#askedMs = nowMs;
    return ask();
  }
}

function stopped(): PurgeStoppedError {
  return new PurgeStoppedError(
    'The purge stopped here: its lease has ended, and another gateway may have it.',
  );
}
