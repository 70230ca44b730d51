import type { Clock } from '../../shared/clock.js';

/** What is deleted was listed no longer ago than this: it may have stopped matching since. */
const FRESH_MS = 2000;

/** The same where the broker takes longer for a list. */
const FRESH_MAX_MS = 10_000;

/** A round lists what can be deleted in about this share of that time, so that little of it gets too old. */
const ROUND_SHARE = 0.75;

/** A list of matches. */
export interface Listed {
  /** When the broker's answer came, in milliseconds since the epoch. */
  readonly atMs: number;
  /** How long the broker took for it, in milliseconds. */
  readonly tookMs: number;
}

/**
 * How long what was listed may be deleted, in milliseconds: two seconds, or as long as listing it took, so that a purge does not
 * spend most of its time listing where each answer takes seconds; never more than ten seconds.
 */
export function freshMsOf({ tookMs }: Pick<Listed, 'tookMs'>): number {
  return Math.min(FRESH_MAX_MS, Math.max(FRESH_MS, tookMs));
}

/** Whether what was listed is too old to be deleted, as of now. */
export function isStaleSince(clock: Pick<Clock, 'now'>, listed: Listed): () => boolean {
  const freshMs = freshMsOf(listed);
  return () => clock.now() - listed.atMs > freshMs;
}

/** What was listed, and what came of it. */
interface Round {
  readonly listed: Pick<Listed, 'tookMs'>;
  /** Items whose deletes were sent within `ms`. */
  readonly sent: number;
  /** Items that got too old. */
  readonly unsent: number;
  readonly ms: number;
}

/** How far ahead to list: as much as goes before it gets too old, by what has gone so far and by the rate. */
export class ListAhead {
  /** Items in a millisecond; unlimited until something got too old. */
  #speed = Infinity;
  #freshMs = FRESH_MS;

  /** Learns from what was listed and then deleted. */
  note({ listed, sent, unsent, ms }: Round): void {
    this.#freshMs = freshMsOf(listed);
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
    return Math.max(1, Math.floor(Math.min(this.#speed, burst / 1000) * this.#freshMs * ROUND_SHARE));
  }
}
