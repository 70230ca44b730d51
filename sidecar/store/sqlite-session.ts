import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { Clock } from '../shared/clock.js';
import { yieldToEventLoop } from '../shared/event-loop.js';
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
const RETRY_PAUSE_MS = 20;

/** The check whether writes work must answer soon. */
const CHECK_WAIT_MS = 1000;

/** How many writes may wait while SQLite refuses to write; further ones fail at once. */
const MAX_WAITING = 1000;

const OF_LOCK = /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/;

/**
 * One connection, shared by the parts of a store: runs statements and transactions on the event loop, and translates SQLite's
 * errors. Writes run one after the other, at most one per turn. A statement that meets the lock of another connection is tried
 * again until the lock is free; SQLite itself would block the whole process.
 */
export class SqliteSession implements SqlSession {
  readonly #db: Database.Database;
  /** Resolves in the turn after the last write. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  readonly #foreignWrites: Database.Statement<[], number>;
  #ownWrites = 0;
  /** Whether SQLite refused the last attempt to write, as it does while another process holds the lock. */
  #isStuck = false;
  readonly #transaction: Database.Transaction<(work: () => SqlRoutine<unknown>) => unknown>;
  readonly #prepared = new Map<Statement<never, unknown>, Database.Statement<[object]>>();
  readonly #file: bigint | undefined;
  readonly clock: Clock;

  constructor(db: Database.Database, clock: Clock) {
    this.#db = db;
    this.#file = fileOf(db);
    this.clock = clock;
    db.function('now_ms', { deterministic: false }, () => Math.trunc(clock.now()));
    // PRAGMA data_version changes when another connection has written.
    this.#foreignWrites = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.#transaction = db.transaction((work: () => SqlRoutine<unknown>) => this.#drive(work()));
  }

  async get<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#attempt(() => this.#drive(work()));
  }

  async read<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#attempt(() => this.#transaction.deferred(work) as T);
  }

  /** Takes the write lock first. */
  async write<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#inTurn(() => {
      const result = this.#transaction.immediate(work) as T;
      this.#ownWrites += 1;
      return result;
    });
  }

  /** Like `write`, for changes that do not affect the revision. */
  async change<T>(work: () => SqlRoutine<T>): Promise<T> {
    return this.#inTurn(() => this.#transaction.immediate(work) as T);
  }

  /** Does not wait for the writes before it. @throws StoreUnavailableError if writes do not work now */
  async checkWritable(): Promise<void> {
    await this.#attempt(() => {
      this.#requireFile();
      checkWritable(this.#db);
    }, CHECK_WAIT_MS);
  }

  /** Returns a text that changes with every `write`, and with every change by another connection. */
  revision(): Promise<string> {
    return this.#attempt(() => `${this.#ownWrites}.${this.#foreignWrites.get() ?? 0}`);
  }

  #drive<T>(work: SqlRoutine<T>): T {
    let next = work.next();
    while (next.done !== true) next = work.next(this.#execute(next.value));
    return next.value;
  }

  #execute({ statement, parameters }: BoundStatement): StatementResult {
    let prepared = this.#prepared.get(statement);
    if (prepared === undefined) {
      prepared = this.#db.prepare<[object]>(withFixedPlan(statement.sql));
      this.#prepared.set(statement, prepared);
    }
    return prepared.reader
      ? { rows: prepared.all(parameters), changes: 0 }
      : { rows: [], changes: prepared.run(parameters).changes };
  }

  /** @throws StoreUnavailableError if the file is no longer there: SQLite itself would keep writing to the deleted file */
  #requireFile(): void {
    if (fileOf(this.#db) !== this.#file)
      throw new StoreUnavailableError(
        'The database file was removed or replaced. Stop the gateway, put the file back, and start it again.',
      );
  }

  /** Runs a write after those that were asked for before, in a later turn of the event loop than they. */
  #inTurn<T>(work: () => T): Promise<T> {
    if (this.#isStuck && this.#waiting >= MAX_WAITING)
      throw new StoreUnavailableError('Too many writes are waiting, and the last one failed.');
    this.#waiting += 1;
    const untilMs = this.clock.monotonicMs() + LOCK_WAIT_MS;
    const write = () => {
      this.#requireFile();
      try {
        const result = work();
        this.#isStuck = false;
        return result;
      } catch (error) {
        this.#isStuck = error instanceof Database.SqliteError;
        throw error;
      }
    };
    const done = this.#lastWrite.then(() => {
      this.#waiting -= 1;
      return this.#attempt(write, untilMs - this.clock.monotonicMs());
    });
    this.#lastWrite = done.then(yieldToEventLoop, yieldToEventLoop);
    return done;
  }

  /** Runs work, and tries it again while it meets the lock of another connection: a failed attempt has changed nothing. */
  async #attempt<T>(work: () => T, waitMs = LOCK_WAIT_MS): Promise<T> {
    for (let untilMs: number | undefined; ;) {
      try {
        if (!this.#db.open) throw new StoreUnavailableError('The store is closed.');
        return work();
      } catch (error) {
        if (!(error instanceof Database.SqliteError)) throw error;
        const nowMs = this.clock.monotonicMs();
        untilMs ??= nowMs + waitMs;
        if (!OF_LOCK.test(error.code) || nowMs >= untilMs)
          throw new StoreUnavailableError(`The database failed: ${error.message} (${error.code}).`, {
            cause: error,
          });
      }
      await this.clock.sleep(RETRY_PAUSE_MS);
    }
  }
}

/**
 * Keeps SQLite from compiling a statement again for each execution, which takes longer than most executions: it expects
 * other values of a parameter to deserve another plan, unless the parameter is part of an expression.
 */
function withFixedPlan(sql: string): string {
  return sql.replaceAll(/(?<== )@\w+/g, '+$&');
}

/** Returns the inode that the path of a database leads to now; undefined if it cannot be read, or for a database in memory. */
function fileOf({ name, memory }: Database.Database): bigint | undefined {
  try {
    return memory ? undefined : statSync(name, { bigint: true }).ino;
  } catch {
    return undefined;
  }
}
