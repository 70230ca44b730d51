import Database from 'better-sqlite3';
import type { Clock } from '../shared/clock.js';
import { nextTurn } from '../shared/next-turn.js';

/** How long work waits for the lock of another connection, in milliseconds. */
export const LOCK_WAIT_MS = 5000;

/** Between two looks at the lock. */
const LOOK_MS = 20;

/** Work that waits at a time; more of it fails at once. */
const WAITING_MAX = 1000;

export interface LockOptions {
  /** Not before what waits already. */
  readonly inTurn: boolean;
  /** How long to wait for the lock, in milliseconds. */
  readonly waitMs?: number;
}

interface Waiting {
  readonly untilMs: number;
  /** Does the work, and hands on what comes of it; false when it is to wait on. */
  readonly attempt: (isLast: boolean) => boolean;
}

/**
 * Runs work on a database, on the event loop. What meets the lock of another connection waits for it beside the loop: SQLite
 * itself would hold up the whole process.
 */
export class LockQueue {
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs work, again and again while it meets a lock: what throws must have changed nothing.
   *
   * @throws what the work throws, the error of the lock among it
   */
  async run<T>(work: () => T, { inTurn, waitMs = LOCK_WAIT_MS }: LockOptions): Promise<T> {
    if (!inTurn || this.#waiting.length === 0) {
      try {
        return work();
      } catch (error) {
        if (!isOfLock(error) || this.#waiting.length >= WAITING_MAX) throw error;
      }
    }
    return this.#wait(work, this.#clock.now() + waitMs);
  }

  #wait<T>(work: () => T, untilMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const attempt = (isLast: boolean) => {
        try {
          resolve(work());
        } catch (error) {
          if (isOfLock(error) && !isLast) return false;
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        return true;
      };
      this.#waiting.push({ untilMs, attempt });
      if (this.#waiting.length === 1) void this.#workOff();
    });
  }

  /** Does what waits, one after the other, as soon as the lock is gone; what has waited for too long fails. */
  async #workOff(): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const isLast = this.#clock.now() >= next.untilMs;
      if (next.attempt(isLast)) {
        this.#waiting.shift();
        await nextTurn();
      } else await this.#clock.sleep(LOOK_MS);
    }
  }
}

function isOfLock(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(error.code);
}
