/** How slowly clients may send their bodies and take their answers. */
export interface ClientPace {
  /** How long nothing may move, and how far a client may be behind the slowest pace, in ms. */
  readonly idleMs: number;
  /** The slowest pace on average. */
  readonly bytesPerSecond: number;
}

/** Slower than any network that people use: below it, a client only pretends to be at work. */
export const MIN_BYTES_PER_SECOND = 1000;

/**
 * How far a client is behind the slowest pace. Time in which it is not its turn is not booked, and nothing is saved up: who was
 * quick at first may not be slow later.
 */
export class ClientLag {
  readonly #bytesPerSecond: number;
  #ms = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /**
   * Books a while in which it was the client's turn.
   *
   * @param elapsedMs its length
   * @param bytes that moved in it
   * @returns the lag, in ms
   */
  book(elapsedMs: number, bytes: number): number {
    this.#ms = Math.max(0, this.#ms + elapsedMs - timeFor(bytes, this.#bytesPerSecond));
    return this.#ms;
  }
}

/** The time that a client may take for some bytes, in ms. */
export function timeFor(bytes: number, bytesPerSecond: number): number {
  return (bytes * 1000) / bytesPerSecond;
}
