import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Clock } from '../shared/clock.js';
import { nextTurn } from '../shared/next-turn.js';
import { StoreUnavailableError } from './errors.js';
import { checkWritable } from './open-database.js';
import {
  LOCK_WAIT_MS,
  type SqlSession,
  type Statement,
  type BoundStatement,
  type StatementResult,
  type SqlRoutine,
} from './sql-routines.js';

/** The pause between two attempts to get the lock, in milliseconds. */
const POLL_INTERVAL_MS = 20;

/** How many tasks may wait at a time; further ones fail at once. */
const MAX_WAITING = 1000;

interface LockOptions {
  /** Wait behind the tasks that are already waiting. */
  readonly inTurn: boolean;
  /** How long to wait for the lock, in milliseconds. */
  readonly waitMs?: number;
}

/** How often work was blocked by a lock, and the total waiting time in milliseconds. */
export interface LockWaits {
  readonly count: number;
  readonly ms: number;
}

interface Waiting {
  readonly untilMs: number;
  /** Runs the work and passes on its result; returns false if it must keep waiting. */
  readonly attempt: (isLast: boolean) => boolean;
}

/**
 * Runs work on a database on the event loop, at most one write per turn. Work that is blocked by another connection's
 * lock waits for it without blocking the loop: SQLite itself would block the whole process.
 */
export class LockQueue {
  readonly #clock: Clock;
  #waiting: readonly Waiting[] = [];
  #isAtWork = false;
  /** Something was written in this turn of the event loop, which may have waited for the disk. */
  #hasWritten = false;
  /** The first waiting task was blocked by another connection's lock. */
  #isLocked = false;
  #waits: LockWaits = { count: 0, ms: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The total of all waits that have ended. */
  get waits(): LockWaits {
    return this.#waits;
  }

  /**
   * Runs work, and retries it while it is blocked by a lock: work that throws must not have changed anything.
   *
   * @throws what the work throws, including the error of the lock
   */
  async run<T>(work: () => T, { inTurn, waitMs = LOCK_WAIT_MS }: LockOptions): Promise<T> {
    const isFull = this.#waiting.length >= MAX_WAITING;
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
    const sinceMs = this.#clock.monotonicMs();
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
        if (isCounted) this.#waits = { count: count + 1, ms: ms + this.#clock.monotonicMs() - sinceMs };
        return true;
      };
      this.#waiting = [...this.#waiting, { untilMs: sinceMs + waitMs, attempt }];
      if (!this.#isAtWork) void this.#drain();
    });
  }

  /** Runs waiting tasks one after the other as soon as the lock is free; those that have waited too long fail. */
  async #drain(): Promise<void> {
    this.#isAtWork = true;
    await nextTurn();
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      this.#isLocked = !next.attempt(false);
      if (!this.#isLocked) {
        this.#waiting = this.#waiting.slice(1);
        await nextTurn();
        continue;
      }
      const nowMs = this.#clock.monotonicMs();
      this.#waiting = this.#waiting.filter(({ untilMs, attempt }) => nowMs < untilMs || !attempt(true));
      await this.#clock.sleep(POLL_INTERVAL_MS);
    }
    this.#isLocked = false;
    this.#isAtWork = false;
  }
}

function isOfLock(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(error.code);
}

/** One connection, shared by the parts of a store: runs statements and transactions, and translates SQLite's errors. */
export class SqliteSession implements SqlSession {
  readonly #db: Database.Database;
  readonly #queue: LockQueue;
  readonly #foreignWrites: Database.Statement<[], number>;
  #ownWrites = 0;
  readonly #transaction: Database.Transaction<(work: () => SqlRoutine<unknown>) => unknown>;
  readonly #prepared = new Map<Statement<never, unknown>, Database.Statement<[object]>>();
  readonly #file: bigint | undefined;
  readonly clock: Clock;

  constructor(db: Database.Database, clock: Clock) {
    this.#db = db;
    this.#queue = new LockQueue(clock);
    this.#file = fileOf(db);
    this.clock = clock;
    db.function('now_ms', { deterministic: false }, () => Math.trunc(clock.now()));
    // PRAGMA data_version changes when another connection has written.
    this.#foreignWrites = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.#transaction = db.transaction((work: () => SqlRoutine<unknown>) => this.#drive(work()));
  }

  /** Time spent waiting for other connections' locks since startup. */
  get lockWaits(): LockWaits {
    return this.#queue.waits;
  }

  async get<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#guarded(() => this.#drive(work()), READ);
  }

  async read<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#guarded(() => this.#transaction.deferred(work) as T, READ);
  }

  /** Takes the write lock first. Waits for another process's lock without blocking the event loop. */
  async write<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#guarded(() => {
      const result = this.#transaction.immediate(work) as T;
      this.#ownWrites += 1;
      return result;
    }, WRITE);
  }

  /** Like `write`, for changes that do not affect the revision. */
  async change<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#guarded(() => this.#transaction.immediate(work) as T, WRITE);
  }

  /** @throws StoreUnavailableError if writes do not work now */
  async checkWritable(): Promise<void> {
    await this.#guarded(() => checkWritable(this.#db), { inTurn: true, waitMs: CHECK_WAIT_MS });
  }

  /** Returns a text that changes with every `write`, and with every change by another connection. */
  revision(): Promise<string> {
    return this.#guarded(() => `${this.#ownWrites}.${this.#foreignWrites.get() ?? 0}`, READ);
  }

  #drive<T>(work: SqlRoutine<T>): T {
    let next = work.next();
    while (next.done !== true) next = work.next(this.#execute(next.value));
    return next.value;
  }

  #execute({ statement, parameters }: BoundStatement): StatementResult {
    let prepared = this.#prepared.get(statement);
    if (prepared === undefined) {
      prepared = this.#db.prepare<[object]>(statement.sql);
      this.#prepared.set(statement, prepared);
    }
    return prepared.reader
      ? { rows: prepared.all(parameters), changes: 0 }
      : { rows: [], changes: prepared.run(parameters).changes };
  }

  async #guarded<T>(work: () => T, options: LockOptions): Promise<T> {
    try {
      return await this.#queue.run(() => {
        if (!this.#db.open) throw new StoreUnavailableError('The store is closed.');
        // SQLite itself would keep writing to the deleted file.
        if (options.inTurn && fileOf(this.#db) !== this.#file)
          throw new StoreUnavailableError(
            'The database file was removed or replaced. Stop the gateway, put the file back, and start it again.',
          );
        return work();
      }, options);
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
      throw new StoreUnavailableError(`The database failed: ${error.message} (${error.code}).`, {
        cause: error,
      });
    }
  }
}

/** Returns the inode that the path of a database leads to now; undefined if it cannot be read, or for a database in memory. */
function fileOf({ name, memory }: Database.Database): bigint | undefined {
  try {
    return memory ? undefined : statSync(name, { bigint: true }).ino;
  } catch {
    return undefined;
  }
}

/** In WAL mode, reads are blocked by a lock only in rare moments. */
const READ: LockOptions = { inTurn: false };
const WRITE: LockOptions = { inTurn: true };

/** The check whether writes work must answer soon. */
const CHECK_WAIT_MS = 1000;
