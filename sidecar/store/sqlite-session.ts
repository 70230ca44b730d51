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
  type Step,
  type StepResult,
  type Work,
} from './sql-work.js';

/** Between two looks at the lock. */
const LOOK_MS = 20;

/** Work that waits at a time; more of it fails at once. */
const WAITING_MAX = 1000;

interface LockOptions {
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
      const nowMs = this.#clock.monotonicMs();
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

/** One connection, shared by the parts of a store: statements, transactions, and what becomes of SQLite's errors. */
export class SqliteSession implements SqlSession {
  readonly #db: Database.Database;
  readonly #queue: LockQueue;
  readonly #foreignWrites: Database.Statement<[], number>;
  #ownWrites = 0;
  readonly #transaction: Database.Transaction<(work: () => Work<unknown>) => unknown>;
  readonly #prepared = new Map<Statement<never, unknown>, Database.Statement<[object]>>();
  readonly #file: bigint | undefined;
  readonly clock: Clock;

  constructor(db: Database.Database, clock: Clock) {
    this.#db = db;
    this.#queue = new LockQueue(clock);
    this.#file = fileOf(db);
    this.clock = clock;
    db.function('now_ms', { deterministic: false }, () => Math.trunc(clock.now()));
    // Changes when another connection has written (PRAGMA data_version).
    this.#foreignWrites = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.#transaction = db.transaction((work: () => Work<unknown>) => this.#drive(work()));
  }

  /** What was waited for locks of other connections since the start. */
  get lockWaits(): LockWaits {
    return this.#queue.waits;
  }

  async get<T>(work: () => Work<T>): Promise<T> {
    return this.#guarded(() => this.#drive(work()), READ);
  }

  async read<T>(work: () => Work<T>): Promise<T> {
    return this.#guarded(() => this.#transaction.deferred(work) as T, READ);
  }

  /** Takes the write lock first. Waits for the lock of another process without blocking the event loop. */
  async write<T>(work: () => Work<T>): Promise<T> {
    return this.#guarded(() => {
      const result = this.#transaction.immediate(work) as T;
      this.#ownWrites += 1;
      return result;
    }, WRITE);
  }

  /** As `write`, for what the revision does not tell of. */
  async change<T>(work: () => Work<T>): Promise<T> {
    return this.#guarded(() => this.#transaction.immediate(work) as T, WRITE);
  }

  /** @throws StoreUnavailableError when nothing can be written now */
  async checkWritable(): Promise<void> {
    await this.#guarded(() => checkWritable(this.#db), { inTurn: true, waitMs: CHECK_WAIT_MS });
  }

  /** Changes with every write, and with every change by another connection. */
  revision(): Promise<string> {
    return this.#guarded(() => `${this.#ownWrites}.${this.#foreignWrites.get() ?? 0}`, READ);
  }

  #drive<T>(work: Work<T>): T {
    let next = work.next();
    while (next.done !== true) next = work.next(this.#execute(next.value));
    return next.value;
  }

  #execute({ statement, parameters }: Step): StepResult {
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
        // SQLite itself goes on to write the file that is gone.
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

/** Which file the path of a database leads to now; undefined where it cannot be told, and for one in memory. */
function fileOf({ name, memory }: Database.Database): bigint | undefined {
  try {
    return memory ? undefined : statSync(name, { bigint: true }).ino;
  } catch {
    return undefined;
  }
}

/** In WAL mode, reads meet no lock but in rare moments. */
const READ: LockOptions = { inTurn: false };
const WRITE: LockOptions = { inTurn: true };

/** A check of whether writes work must answer soon. */
const CHECK_WAIT_MS = 1000;
