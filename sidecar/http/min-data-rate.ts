/** The slowest rate at which clients may send their bodies and read their answers. */
export interface MinDataRate {
  /** The longest pause, and how far a client may fall behind the slowest rate, in ms. */
  readonly idleMs: number;
  /** The slowest average rate. */
  readonly bytesPerSecond: number;
}

/** Slower than any network in real use: a slower client only pretends to send or read. */
export const MIN_BYTES_PER_SECOND = 1000;

/**
 * How far a client is behind the slowest rate. Time in which it is not the client's turn does not count, and a lead is
 * not saved: a client that was fast at first may not be slow later.
 */
export class ClientLag {
  readonly #bytesPerSecond: number;
  #ms = 0;

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Records a period in which it was the client's turn. @returns the lag, in ms */
  record(elapsedMs: number, bytes: number): number {
    this.#ms = Math.max(0, this.#ms + elapsedMs - transferTimeMs(bytes, this.#bytesPerSecond));
    return this.#ms;
  }
}

/** The time that a client may take for a number of bytes, in ms. */
export function transferTimeMs(bytes: number, bytesPerSecond: number): number {
  return (bytes * 1000) / bytesPerSecond;
}
