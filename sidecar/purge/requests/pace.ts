import type { Clock } from '../../shared/clock.js';

/** How fast a purge may delete. All its deletes pass here, and the rate may be changed while it runs. */
export interface Pace {
  /** Deletes per second; undefined when there is no limit. */
  readonly perSecond: number | undefined;
  /** From now on; undefined takes the limit away. What was allowed before is not taken back. */
  setPerSecond(perSecond: number | undefined): void;
  /** The most that one request may delete: what a second allows, at least one. */
  readonly burst: number;
  /**
   * Waits until `amount` deletes may be sent. Requests are let through in the order in which they came.
   *
   * @returns false, and takes nothing, when that is more than a burst by now: the rate was lowered, and the request must be
   *   sent in parts
   * @throws the signal's reason when it aborts first
   */
  take(amount: number, signal: AbortSignal): Promise<boolean>;
  /** Gives back what was taken for a request that was not sent after all. */
  giveBack(amount: number): void;
}

/** A token bucket that holds what one second allows, and is full at first. */
export function createPace(clock: Clock, perSecond?: number): Pace {
  let rate = perSecond;
  let tokens = burstOf(rate);
  let filledMs = clock.now();
  let changed = new AbortController();
  let tail: Promise<void> = Promise.resolve();

  function fill(): void {
    const nowMs = clock.now();
    // A clock that was set back gives nothing, and takes nothing away.
    const passedMs = Math.max(0, nowMs - filledMs);
    filledMs = nowMs;
    if (rate !== undefined) tokens = Math.min(burstOf(rate), tokens + (passedMs * rate) / 1000);
  }

  async function waitFor(amount: number, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      signal.throwIfAborted();
      fill();
      if (rate === undefined) return true;
      if (amount > burstOf(rate)) return false;
      // Rounding must not cost another sleep of a millisecond.
      if (tokens >= amount - 1e-6) break;
      const waitMs = Math.ceil(((amount - tokens) * 1000) / rate);
      const wake = AbortSignal.any([signal, changed.signal]);
      await clock.sleep(waitMs, wake).catch(() => signal.throwIfAborted());
    }
    tokens -= amount;
    return true;
  }

  return {
    get perSecond() {
      return rate;
    },
    get burst() {
      return burstOf(rate);
    },
    setPerSecond(next) {
      fill();
      const before = rate;
      rate = next;
      if (next !== undefined) tokens = before === undefined ? 0 : Math.min(tokens, burstOf(next));
      changed.abort();
      changed = new AbortController();
    },
    take(amount, signal) {
      if (rate === undefined && !signal.aborted) return Promise.resolve(true);
      const turn = tail.then(() => waitFor(amount, signal));
      // One that gives up lets the next one through.
      tail = turn.then(
        () => {},
        () => {},
      );
      return turn;
    },
    giveBack(amount) {
      if (rate === undefined) return;
      fill();
      tokens = Math.min(burstOf(rate), tokens + amount);
    },
  };
}

function burstOf(rate: number | undefined): number {
  return rate === undefined ? Infinity : Math.max(1, rate);
}
