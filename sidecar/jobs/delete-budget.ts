import { TooManyMatchesError, type DoneSoFar } from '../purge/index.js';
import type { Clock } from '../shared/clock.js';

/** How many items all processes together may delete for a job, and which of its members says so. */
export interface DeleteBound {
  readonly most: number;
  readonly by: 'maxAffected' | 'maxGrowth';
}

/** What earlier processes did of a job. */
export interface DoneBefore {
  /** Deleted, or may have been. */
  readonly spent: number;
  /** Deleted or found gone for certain; the rest of `spent` may turn out to be left. */
  readonly settled: number;
}

/** Where a budget is kept. */
export interface BudgetKeeping {
  /** Keeps what is spent; rejects when it could not. */
  readonly write: (spent: number) => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** As long as nobody says what was done, everything that was reserved counts as deleted. */
const UNTOLD = (): DoneSoFar => ({ affected: 0, taken: Infinity });

/** Items in the first request that deletes. */
const FIRST_AT_ONCE = 32;

/**
 * A request should delete what the broker deletes in this time: nobody knows what became of the requests in flight at a crash.
 */
const REQUEST_MS = 125;

/** How much larger a request may be than the one before. */
const MAX_GROWTH = 4;

/**
 * How much of its bound a job may still delete. What a request may delete is written down before it is sent, so that the
 * bound holds over a crash, after which nobody knows what was deleted. Requests are kept small, so that little is in doubt then.
 */
export class DeleteBudget {
  readonly #bound: DeleteBound;
  readonly #before: DoneBefore;
  readonly #keeping: BudgetKeeping;
  /** Items of requests whose result is not booked yet. */
  #inFlight = 0;
  /** Those of requests that have ended: they are about to be booked. */
  #ended = 0;
  /** What this process has done. */
  #done: () => DoneSoFar = UNTOLD;
  #atOnce = FIRST_AT_ONCE;
  /** The last write that has begun, and the next one, which waits for it. */
  #writing: Promise<void> = Promise.resolve();
  #nextWrite: Promise<void> | undefined;

  /** The most matches there may be: any more exceed the bound, even if none of the deletes in doubt had an effect. */
  readonly left: number;

  constructor(bound: DeleteBound, before: DoneBefore, keeping: BudgetKeeping) {
    this.left = Math.max(0, bound.most - before.settled);
    this.#bound = bound;
    this.#before = before;
    this.#keeping = keeping;
  }

  /** The most that one request should delete now. */
  get mostAtOnce(): number {
    const { spent, settled } = this.#before;
    // Only what earlier processes left in doubt can make a request too large for the bound.
    const most = spent > settled ? this.#bound.most - this.#spent() : Infinity;
    return Math.max(1, Math.min(this.#atOnce, most));
  }

  /**
   * Takes what one request may delete.
   *
   * @param done what this process has done, as of when it is called
   * @returns to be called when the request has ended; undefined when it might exceed the bound, and must not be sent
   * @throws what the store throws; the request must not be sent then
   */
  async reserve(amount: number, done = UNTOLD): Promise<(() => void) | undefined> {
    this.#done = done;
    await this.#booked();
    if (this.#spent(amount) > this.#bound.most) return undefined;
    this.#inFlight += amount;
    await this.#keep();
    const sentMs = this.#keeping.clock.monotonicMs();
    return () => {
      this.#adapt(amount, this.#keeping.clock.monotonicMs() - sentMs);
      this.#ended += amount;
    };
  }

  /**
   * Gives back what was reserved and is known to be left, once nothing is in flight.
   *
   * @param affected deleted, or may have been
   */
  settle(affected: number): Promise<void> {
    this.#inFlight = 0;
    this.#ended = 0;
    this.#done = () => ({ affected, taken: affected });
    return this.#keep();
  }

  /**
   * The error of a purge that knows only what is left of the bound, in terms of the whole bound.
   *
   * @param hasBegun deletes were sent, perhaps by an earlier process
   */
  explain(error: TooManyMatchesError, hasBegun: boolean): TooManyMatchesError {
    const { most, by } = this.#bound;
    const { spent } = this.#before;
    const { matched, exact } = error;
    if (spent === 0 && !(by === 'maxGrowth' && hasBegun)) return error;
    const more = `The query ${spent === 0 ? '' : 'still '}matches ${exact ? '' : 'at least '}${matched}`;
    const bound =
      by === 'maxGrowth'
        ? `the ${most} that the retention policy allows in all (maxGrowth)`
        : `the ${most} that may be affected in all (maxAffected)`;
    const used = spent === 0 ? '' : `: ${spent} are used already, or may be`;
    const advice =
      by === 'maxGrowth'
        ? 'Check the matches; then raise maxGrowth (0 switches the guard off), or run the purge by hand.'
        : 'Count them with dryRun=true, and purge the rest with another maximum.';
    const message = `${more}, more than is left of ${bound}${used}. ${advice}`;
    return new TooManyMatchesError(matched, most, exact, message, { cause: error });
  }

  /** @param more what is about to be sent as well */
  #spent(more = 0): number {
    const { affected, taken } = this.#done();
    // What is sent again after a lost answer is in both.
    return this.#before.spent + Math.min(affected + this.#inFlight + more, taken);
  }

  /** Writes one after the other, so that an older number never replaces a newer one. */
  #keep(): Promise<void> {
    this.#nextWrite ??= this.#writing
      .catch(() => {})
      .then(() => this.#booked())
      .then(() => {
        this.#nextWrite = undefined;
        this.#writing = this.#keeping.write(this.#spent());
        return this.#writing;
      });
    return this.#nextWrite;
  }

  /** Waits for a turn of the event loop: whatever had ended before it is booked then, and leaves what is in flight. */
  async #booked(): Promise<void> {
    await new Promise<void>((resolve) =>
      setImmediate(() => {
        this.#inFlight = Math.max(0, this.#inFlight - this.#ended);
        this.#ended = 0;
        resolve();
      }),
    );
  }

  #adapt(amount: number, ms: number): void {
    const fitting = Math.max(1, Math.round((amount * REQUEST_MS) / Math.max(1, ms)));
    // A small request says nothing of how long a large one takes.
    this.#atOnce = Math.min(fitting, Math.max(this.#atOnce, amount * MAX_GROWTH));
  }
}
