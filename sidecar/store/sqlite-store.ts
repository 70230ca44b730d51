import type Database from 'better-sqlite3';
import type { Clock } from '../shared/clock.js';
import { copyDatabase } from './backup.js';
import { type LockWaits, SqliteSession } from './sqlite-session.js';
import { openDatabase } from './open-database.js';
import { SqlStore } from './sql-store.js';

/**
 * A store in one SQLite file. Statements run on the event loop: a read takes microseconds, a write as long as its commit. A
 * statement that meets the lock of another process waits for it without blocking the loop, and fails after some seconds.
 */
export class SqliteStore extends SqlStore {
  readonly #db: Database.Database;
  readonly #session: SqliteSession;

  /**
   * Opens a store, and creates it if there is none; migrates an older one.
   *
   * @param path of the file, or `:memory:`
   * @throws DatabaseUnusableError
   */
  static async open(path: string, clock: Clock): Promise<SqliteStore> {
    return new SqliteStore(openDatabase(path), clock);
  }

  private constructor(db: Database.Database, clock: Clock) {
    const session = new SqliteSession(db, clock);
    super(session);
    this.#db = db;
    this.#session = session;
  }

  /** See LockWaits. */
  override get lockWaits(): LockWaits {
    return this.#session.lockWaits;
  }

  /**
   * Copies the store, as it is at one moment, to a file that can be opened as a store; others may keep writing.
   *
   * @throws DatabaseUnusableError if the file exists already, or cannot be written
   */
  async backup(target: string): Promise<void> {
    await copyDatabase(this.#db, target);
  }

  /** Does nothing: SQLite does not tell a process what others write. */
  override listen(): void {}

  override async close(): Promise<void> {
    this.#db.close();
  }
}
