import type { Clock } from '../shared/clock.js';

/** No delete is sent later than this after the answer that listed what it deletes: it may have stopped matching since. */
const MAX_AGE_MS = 2000;

/** A round lists what can be deleted in about this time, so that little of it gets too old. */
const ROUND_MS = 1500;

/** Whether what was listed at a time is too old to be deleted, as of now. */
export function isStaleSince(clock: Pick<Clock, 'now'>, listedAtMs: number): () => boolean {
  return () => clock.now() - listedAtMs > MAX_AGE_MS;
}

/** How far ahead to list: as much as goes before it gets too old, by what has gone so far and by the rate. */
export class ListAhead {
  /** Items in a millisecond; unlimited until something got too old. */
  #speed = Infinity;

  /**
   * Learns from what was listed and then deleted.
   *
   * @param sent items whose deletes were sent within `ms`
   * @param unsent items that got too old
   */
  note({ sent, unsent, ms }: { readonly sent: number; readonly unsent: number; readonly ms: number }): void {
    const speed = sent / Math.max(1, ms);
    if (unsent > 0) this.#speed = speed;
    // Small rounds are slower than they need to be: let them grow.
    else this.#speed = Math.max(this.#speed, speed) * 1.5;
  }

  /**
   * The number of items to list.
   *
   * @param burst the most that may be deleted in a second
   */
  next(burst: number): number {
    return Math.max(1, Math.floor(Math.min(this.#speed, burst / 1000) * ROUND_MS));
  }
}
