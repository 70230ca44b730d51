import { TooManyMatchesError, type DoneSoFar } from '../purge/index.js';
import type { Clock } from '../shared/clock.js';

/** The maximum number of items that all processes together may delete for a job, and the member that sets it. */
export interface DeleteBound {
  readonly most: number;
  readonly by: 'maxAffected' | 'maxGrowth';
}

/** What earlier processes did for a job. */
export interface DoneBefore {
  /** Items that were deleted, or may have been. */
  readonly spent: number;
  /** Items that were certainly deleted or already gone. The rest of `spent` may turn out not to be deleted. */
  readonly settled: number;
}

export interface BudgetStorage {
  /** Stores the number of spent items; rejects if that fails. */
  readonly write: (spent: number) => Promise<void>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Until it is known what was done, everything reserved counts as deleted. */
const UNKNOWN_PROGRESS = (): DoneSoFar => ({ affected: 0, taken: Infinity });

const FIRST_REQUEST_SIZE = 32;

/**
 * Target duration of a delete request, in milliseconds. Requests are kept short because the outcome of those in flight
 * is unknown after a crash.
 */
const REQUEST_MS = 125;

/** How much larger a request may be than the previous one. */
const MAX_GROWTH = 4;

/**
 * How much of its bound a job may still delete. The amount is stored before each request is sent, so that the bound
 * also holds after a crash, when it is unknown what was deleted. Requests are kept small, so that few items are in
 * doubt then.
 */
export class DeleteBudget {
  readonly #bound: DeleteBound;
  readonly #before: DoneBefore;
  readonly #storage: BudgetStorage;
  /** Items of requests whose result is not yet included in `#done`. */
  #inFlight = 0;
  /** The part of `#inFlight` whose requests have ended; it is about to be subtracted. */
  #ended = 0;
  #done: () => DoneSoFar = UNKNOWN_PROGRESS;
  #requestSize = FIRST_REQUEST_SIZE;
  /** The latest write that has begun, and the next one, which waits for it. */
  #writing: Promise<void> = Promise.resolve();
  #nextWrite: Promise<void> | undefined;

  /** The maximum number of matches: any more exceed the bound, even if none of the deletes in doubt had an effect. */
  readonly remaining: number;

  constructor(bound: DeleteBound, before: DoneBefore, keeping: BudgetStorage) {
    this.remaining = Math.max(0, bound.most - before.settled);
    this.#bound = bound;
    this.#before = before;
    this.#storage = keeping;
  }

  get maxPerRequest(): number {
    const { spent, settled } = this.#before;
    // Only deletes of earlier processes that are in doubt can make a request too large for the bound.
    const most = spent > settled ? this.#bound.most - this.#spent() : Infinity;
    return Math.max(1, Math.min(this.#requestSize, most));
  }

  /**
   * Reserves the items of one request.
   *
   * @param done returns what this process has done at the time of the call
   * @returns a function to call when the request has ended; undefined if the request might exceed the bound and must
   * not be sent
   * @throws what the store throws; the request must not be sent then
   */
  async reserve(amount: number, done = UNKNOWN_PROGRESS): Promise<(() => void) | undefined> {
    this.#done = done;
    await this.#nextTurn();
    if (this.#spent(amount) > this.#bound.most) return undefined;
    this.#inFlight += amount;
    await this.#save();
    const sentMs = this.#storage.clock.monotonicMs();
    return () => {
      this.#adapt(amount, this.#storage.clock.monotonicMs() - sentMs);
      this.#ended += amount;
    };
  }

  /**
   * Releases what was reserved but is known not to be deleted, once nothing is in flight.
   *
   * @param affected items that were deleted, or may have been
   */
  settle(affected: number): Promise<void> {
    this.#inFlight = 0;
    this.#ended = 0;
    this.#done = () => ({ affected, taken: affected });
    return this.#save();
  }

  /**
   * Restates the error of a purge, which only knows what is left of the bound, in terms of the whole bound.
   *
   * @param hasBegun whether deletes were sent, perhaps by an earlier process
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
    const used = spent === 0 ? '' : `, with up to ${spent} already used`;
    const advice =
      by === 'maxGrowth'
        ? 'Check the matches; then raise maxGrowth (0 switches the guard off), or run the purge by hand.'
        : 'Count them with dryRun=true, and purge the rest with another maximum.';
    const message = `${more}, which is more than is left of ${bound}${used}. ${advice}`;
    return new TooManyMatchesError(matched, most, exact, message, { cause: error });
  }

  /** @param more items that are about to be sent as well */
  #spent(more = 0): number {
    const { affected, taken } = this.#done();
    // Items that are sent again after a lost answer are included in both `affected` and `#inFlight`.
    return this.#before.spent + Math.min(affected + this.#inFlight + more, taken);
  }

  /** Stores what is spent. Writes run one after the other, so that an older number never replaces a newer one. */
  #save(): Promise<void> {
    this.#nextWrite ??= this.#writing
      .catch(() => {})
      .then(() => this.#nextTurn())
      .then(() => {
        this.#nextWrite = undefined;
        this.#writing = this.#storage.write(this.#spent());
        return this.#writing;
      });
    return this.#nextWrite;
  }

  /**
   * Waits for a turn of the event loop: by then, the results of requests that had ended before are in `#done`, so these
   * requests no longer count as in flight.
   */
  async #nextTurn(): Promise<void> {
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
    // The duration of a small request does not predict that of a large one.
    this.#requestSize = Math.min(fitting, Math.max(this.#requestSize, amount * MAX_GROWTH));
  }
}
