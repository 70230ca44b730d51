import type { Clock } from '../../shared/clock.js';

/** A requested rate, in items per second; null for no limit. */
export interface RequestedRate {
  readonly maxPerSecond?: number | null | undefined;
}

/**
 * Limits how fast a purge deletes. All its deletes pass through here, and the rate may be changed while it runs. A token bucket
 * that holds what one second allows, and is full at the start.
 */
export class RateLimiter {
  readonly #clock: Clock;
  #perSecond: number | undefined;
  #tokens: number;
  #refilledMs: number;
  #changed = new AbortController();
  #tail: Promise<unknown> = Promise.resolve();

  /** @param perSecond deletes per second; without it, or null, there is no limit */
  constructor(clock: Clock, perSecond?: RequestedRate['maxPerSecond']) {
    this.#clock = clock;
    this.#perSecond = perSecond ?? undefined;
    this.#tokens = this.burst;
    this.#refilledMs = clock.monotonicMs();
  }

  /** Maximum number of items that one request may delete: what a second allows, at least one. */
  get burst(): number {
    return this.#perSecond === undefined ? Infinity : Math.max(1, this.#perSecond);
  }

  /**
   * Changes the rate from now on; null or undefined removes the limit. Deletes that were let through before are not affected.
   */
  setRate(perSecond: RequestedRate['maxPerSecond']): void {
    this.#refill();
    const isFirst = this.#perSecond === undefined;
    this.#perSecond = perSecond ?? undefined;
    if (this.#perSecond !== undefined) this.#tokens = isFirst ? 0 : Math.min(this.#tokens, this.burst);
    this.#wake();
  }

  /**
   * Waits until `amount` deletes may be sent. Requests are let through in the order in which they came.
   *
   * @returns false, and takes nothing, if `amount` exceeds a burst by now: the rate was lowered, and the request must be sent
   *   in parts
   * @throws the signal's reason if the signal aborts first
   */
  async acquire(amount: number, signal: AbortSignal): Promise<boolean> {
    if (this.#perSecond === undefined && !signal.aborted) return true;
    const turn = this.#tail.then(() => this.#waitFor(amount, signal));
    // A request that gives up lets the next one through.
    this.#tail = turn.catch(() => {});
    return turn;
  }

  /** Gives back what was taken for a request that was not sent after all. */
  refund(amount: number): void {
    if (this.#perSecond === undefined) return;
    this.#refill();
    this.#tokens = Math.min(this.burst, this.#tokens + amount);
    this.#wake();
  }

  /** Lets the request that waits look again. */
  #wake(): void {
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    const passedMs = nowMs - this.#refilledMs;
    this.#refilledMs = nowMs;
    if (this.#perSecond !== undefined)
      this.#tokens = Math.min(this.burst, this.#tokens + (passedMs * this.#perSecond) / 1000);
  }

  async #waitFor(amount: number, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      signal.throwIfAborted();
      this.#refill();
      if (this.#perSecond === undefined) return true;
      if (amount > this.burst) return false;
      // Rounding must not cost another sleep of a millisecond.
      if (this.#tokens >= amount - 1e-6) break;
      const waitMs = Math.ceil(((amount - this.#tokens) * 1000) / this.#perSecond);
      const wake = AbortSignal.any([signal, this.#changed.signal]);
      await this.#clock.sleep(waitMs, wake).catch(() => signal.throwIfAborted());
    }
    this.#tokens -= amount;
    return true;
  }
}
