/**
 * How much of its `maxAffected` a job may still delete. What a request may delete is written down before it is sent, so
 * that the maximum holds over a crash, after which it is not known what was deleted.
 */
export class DeleteBudget {
  readonly #before: number;
  readonly #write: (spent: number) => Promise<void>;
  #reserved = 0;

  /** What this process may delete. */
  readonly left: number;

  /**
   * @param bound the maximum of the whole job
   * @param before what earlier processes deleted, or may have deleted
   * @param write keeps what is spent; rejects when it could not
   */
  constructor(bound: number, before: number, write: (spent: number) => Promise<void>) {
    this.left = Math.max(0, bound - before);
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
}
