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

/** How often work has met a lock, and how long it waited for it, in milliseconds. */
export interface LockWaits {
  readonly count: number;
  readonly ms: number;
}

interface Waiting {
  readonly untilMs: number;
  /** Does the work, and hands on what comes of it; false when it is to wait on. */
  readonly attempt: (isLast: boolean) => boolean;
}

/**
 * Runs work on a database, on the event loop, one write in a turn of it. What meets the lock of another connection waits for it
 * without blocking the loop: SQLite itself would block the whole process.
 */
export class LockQueue {
  readonly #clock: Clock;
  #waiting: readonly Waiting[] = [];
  #isAtWork = false;
  /** Something that writes was done in this turn of the event loop: it may have waited for the disk. */
  #hasWritten = false;
  /** What waits has met the lock of another connection. */
  #isLocked = false;
  #waits: LockWaits = { count: 0, ms: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All waits that have ended. */
  get waits(): LockWaits {
    return this.#waits;
  }

  /**
   * Runs work, again and again while it meets a lock: what throws must have changed nothing.
   *
   * @throws what the work throws, the error of the lock among it
   */
  async run<T>(work: () => T, { inTurn, waitMs = LOCK_WAIT_MS }: LockOptions): Promise<T> {
    const isFull = this.#waiting.length >= WAITING_MAX;
    let meetsLock = this.#isLocked;
    if (!inTurn || isFull || (this.#waiting.length === 0 && !this.#hasWritten)) {
      try {
        if (inTurn) this.#noteWrite();
        return work();
      } catch (error) {
        if (!isOfLock(error) || isFull) throw error;
        meetsLock = true;
      }
    }
    return this.#wait(work, waitMs, meetsLock);
  }

  #noteWrite(): void {
    if (this.#hasWritten) return;
    this.#hasWritten = true;
    void nextTurn().then(() => (this.#hasWritten = false));
  }

  #wait<T>(work: () => T, waitMs: number, meetsLock: boolean): Promise<T> {
    const sinceMs = this.#clock.now();
    let isCounted = meetsLock;
    return new Promise((resolve, reject) => {
      const attempt = (isLast: boolean) => {
        try {
          resolve(work());
        } catch (error) {
          isCounted ||= isOfLock(error);
          if (isOfLock(error) && !isLast) return false;
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        const { count, ms } = this.#waits;
        if (isCounted) this.#waits = { count: count + 1, ms: ms + Math.max(0, this.#clock.now() - sinceMs) };
        return true;
      };
      this.#waiting = [...this.#waiting, { untilMs: sinceMs + waitMs, attempt }];
      if (!this.#isAtWork) void this.#workOff();
    });
  }

  /** Does what waits, one after the other, as soon as the lock is gone; what has waited for too long fails. */
  async #workOff(): Promise<void> {
    this.#isAtWork = true;
    await nextTurn();
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      this.#isLocked = !next.attempt(false);
      if (!this.#isLocked) {
        this.#waiting = this.#waiting.slice(1);
        await nextTurn();
        continue;
      }
      const nowMs = this.#clock.now();
      this.#waiting = this.#waiting.filter(({ untilMs, attempt }) => nowMs < untilMs || !attempt(true));
      await this.#clock.sleep(LOOK_MS);
    }
    this.#isLocked = false;
    this.#isAtWork = false;
  }
}

function isOfLock(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(error.code);
}
