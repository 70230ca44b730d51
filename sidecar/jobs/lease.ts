import { PurgeStoppedError } from '../purge/index.js';
import type { JobClaim } from '../store/index.js';

/** How often the store is asked about a lease that is in doubt, in milliseconds. */
const ASK_EVERY_MS = 1000;

export interface LeaseOptions {
  /** By what right records are written; see JobClaim. */
  readonly claim: JobClaim;
  /** On the monotonic clock. */
  readonly untilMs: number;
  /** A clock that is never set, and that goes on while this process is stopped. */
  readonly monotonicMs: () => number;
  /** Asks the store whether the lease holds; does not reject. */
  readonly ask: () => Promise<void>;
}

/** The right of this process to work on a purge, and until when it is sure of that right. */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  #untilMs: number;
  #askedMs = -Infinity;
  #isTaken = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#untilMs = options.untilMs;
  }

  get claim(): JobClaim {
    return this.#options.claim;
  }

  /** See HeldJob: 0 for a purge whose caller waits. */
  get number(): number {
    return this.claim.lease;
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
    return !this.lost.aborted && this.#options.monotonicMs() < this.#untilMs;
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

  /**
   * Called before each delete. A job stops as soon as its lease may have ended. No other process can resume a purge whose caller
   * waits, so it only stops when the store says that it was ended, and continues while the store is away.
   *
   * @returns what the delete has to wait for
   * @throws PurgeStoppedError
   */
  check(): Promise<void> | undefined {
    if (this.lost.aborted) throw stopped();
    if (this.holds) return undefined;
    if (this.number > 0) {
      this.lapse();
      throw stopped();
    }
    const nowMs = this.#options.monotonicMs();
    if (nowMs - this.#askedMs < ASK_EVERY_MS) return undefined;
    this.#askedMs = nowMs;
    return this.#options.ask();
  }
}

function stopped(): PurgeStoppedError {
  return new PurgeStoppedError(
    'The purge stopped here: its lease has ended, and another gateway may have it.',
  );
}
