import { TooManyMatchesError } from '../purge/errors.js';

/** What a job may delete over all the processes that work on it, and which of its members says so. */
export interface DeleteBound {
  readonly most: number;
  readonly by: 'maxAffected' | 'maxGrowth';
}

/**
 * How much of its bound a job may still delete. What a request may delete is written down before it is sent, so that the
 * bound holds over a crash, after which it is not known what was deleted.
 */
export class DeleteBudget {
  readonly #bound: DeleteBound;
  readonly #before: number;
  readonly #write: (spent: number) => Promise<void>;
  #reserved = 0;

  /** What this process may delete. */
  readonly left: number;

  /**
   * @param before what earlier processes deleted, or may have deleted
   * @param write keeps what is spent; rejects when it could not
   */
  constructor(bound: DeleteBound, before: number, write: (spent: number) => Promise<void>) {
    this.left = Math.max(0, bound.most - before);
    this.#bound = bound;
    this.#before = before;
    this.#write = write;
  }

  /**
   * Takes what one request may delete.
   *
   * @throws what the store throws; the request must not be sent then
   */
  reserve(amount: number): Promise<void> {
    this.#reserved += amount;
    return this.#write(this.#before + this.#reserved);
  }

  /** Gives back what was reserved and is known to be left, once nothing is in flight. @param affected deleted, gone, or of unknown outcome */
  settle(affected: number): Promise<void> {
    this.#reserved = affected;
    return this.#write(this.#before + affected);
  }

  /**
   * The error of a purge that knows only what is left of the bound, in terms of the whole bound.
   *
   * @param hasBegun deletes were sent, perhaps by an earlier process
   */
  explain(error: TooManyMatchesError, hasBegun: boolean): TooManyMatchesError {
    const { most, by } = this.#bound;
    const { matched, exact } = error;
    if (this.#before === 0 && !(by === 'maxGrowth' && hasBegun)) return error;
    const more = `The query ${this.#before === 0 ? '' : 'still '}matches ${exact ? '' : 'at least '}${matched}`;
    const bound =
      by === 'maxGrowth'
        ? `the ${most} that the retention policy allows in all (maxGrowth)`
        : `the ${most} that may be affected in all (maxAffected)`;
    const used = this.#before === 0 ? '' : `, of which ${this.#before} are used or may be`;
    const advice =
      by === 'maxGrowth'
        ? 'Check the matches; then raise maxGrowth (0 switches the guard off), or run the purge by hand.'
        : 'Count them with dryRun=true, and purge the rest with another maximum.';
    const message = `${more}, more than is left of ${bound}${used}. ${advice}`;
    return new TooManyMatchesError(matched, most, exact, message, { cause: error });
  }
}
