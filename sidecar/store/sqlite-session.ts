import Database from 'better-sqlite3';
import type { Clock } from '../shared/clock.js';
import { StoreUnavailableError } from './errors.js';
import { LockQueue, type LockOptions, type LockWaits } from './lock-queue.js';
import { checkWritable } from './open-database.js';
import type { SqlSession, Statement, Step, StepResult, Work } from './sql-work.js';

/** One connection, shared by the parts of a store: statements, transactions, and what becomes of SQLite's errors. */
export class SqliteSession implements SqlSession {
  readonly #db: Database.Database;
  readonly #queue: LockQueue;
  readonly #foreignWrites: Database.Statement<[], number>;
  #ownWrites = 0;
  /** The pending read of the revision, shared by all who ask before it is made. */
  #look: Promise<string> | undefined;
  readonly #transaction: Database.Transaction<(work: () => void) => void>;
  readonly #prepared = new Map<Statement<never, unknown>, Database.Statement<[object]>>();
  readonly clock: Clock;

  constructor(db: Database.Database, clock: Clock) {
    this.#db = db;
    this.#queue = new LockQueue(clock);
    this.clock = clock;
    db.function('now_ms', { deterministic: false }, () => Math.trunc(clock.now()));
    // Changes when another connection has written (PRAGMA data_version).
    this.#foreignWrites = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.#transaction = db.transaction((work: () => void) => {
      work();
    });
  }

  /** What was waited for locks of other connections since the start. */
  get lockWaits(): LockWaits {
    return this.#queue.waits;
  }

  async get<T>(work: () => Work<T>): Promise<T> {
    return this.#guarded(() => this.#drive(work()), READ);
  }

  async read<T>(work: () => Work<T>): Promise<T> {
    return this.#guarded(() => this.#run('deferred', work), READ);
  }

  /** Takes the write lock first. Waits for the lock of another process without blocking the event loop. */
  async write<T>(work: () => Work<T>): Promise<T> {
    const counted = () => {
      this.#ownWrites += 1;
      return work();
    };
    return this.#guarded(() => this.#run('immediate', counted), WRITE);
  }

  /** As `write`: SQLite has one writer. */
  async change<T>(work: () => Work<T>): Promise<T> {
    return this.write(work);
  }

  /** @throws StoreUnavailableError when nothing can be written now */
  async checkWritable(): Promise<void> {
    await this.#guarded(() => checkWritable(this.#db), { inTurn: true, waitMs: CHECK_WAIT_MS });
  }

  /** Changes with every write, by any connection. */
  revision(): Promise<string> {
    // All requests that come in the same turn of the event loop share one look, after the last of them.
    this.#look ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.#look = undefined;
      return this.#guarded(() => `${this.#ownWrites}.${this.#foreignWrites.get() ?? 0}`, READ);
    });
    return this.#look;
  }

  #run<T>(mode: 'deferred' | 'immediate', work: () => Work<T>): T {
    const results: T[] = [];
    this.#transaction[mode](() => {
      results.push(this.#drive(work()));
    });
    return results[0] as T;
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

/** In WAL mode, reads meet no lock but in rare moments. */
const READ: LockOptions = { inTurn: false };
const WRITE: LockOptions = { inTurn: true };

/** A check of whether writes work must answer soon. */
const CHECK_WAIT_MS = 1000;
