import type Database from 'better-sqlite3';
import { existsSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '../shared/clock.js';
import { DatabaseUnusableError } from './errors.js';
import { lockDatabase, openDatabase, openForReading, PRIVATE_FILE } from './open-database.js';
import { SqlStore } from './sql-store.js';
import { SqliteSession } from './sqlite-session.js';

/**
 * Copies the store in a file to another file, even while others write to it; its format is not changed. An incomplete
 * copy has a different name, so a file with the target's name is always complete.
 *
 * @throws DatabaseUnusableError if no backup was made, in which case nothing was overwritten; SqliteMissingError
 */
export async function backUp(path: string, target: string): Promise<void> {
  const db = openForReading(path);
  const file = resolve(target);
  const partial = `${file}.partial`;
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isFile() === false)
      throw new DatabaseUnusableError(`${target} is not a file. Name a new file for the backup.`);
    if (found !== undefined)
      throw new DatabaseUnusableError(`${target} already exists, and was not overwritten.`);
    await claim(partial);
    await copyTo(db, partial, file);
  } finally {
    db.close();
  }
}

async function copyTo(db: Database.Database, partial: string, file: string): Promise<void> {
  try {
    // In one step: a copy in several steps starts over whenever another process writes in between.
    await db.backup(partial, { progress: () => Number.MAX_SAFE_INTEGER });
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw failure(error);
  }
}

/** Creates an empty file, so that a second backup to the same target sees that one is in progress. */
async function claim(partial: string): Promise<void> {
  try {
    await (await open(partial, 'wx', PRIVATE_FILE)).close();
  } catch (error) {
    throw existsSync(partial)
      ? new DatabaseUnusableError(
          `${partial} already exists: another backup is running, or was interrupted. If it was interrupted, remove the file.`,
        )
      : failure(error);
  }
}

function failure(error: unknown): DatabaseUnusableError {
  const why = error instanceof Error ? error.message : String(error);
  return new DatabaseUnusableError(`The backup was not made: ${why}.`, { cause: error });
}

/**
 * A store in one SQLite file. Statements run on the event loop: a read takes microseconds, a write as long as its
 * commit. A statement that is blocked by another process's lock waits without blocking the loop, and fails after some
 * seconds.
 */
export class SqliteStore extends SqlStore {
  readonly #db: Database.Database;
  readonly #lock: { close(): void } | undefined;

  /**
   * Opens a store and migrates an older one; creates it if it does not exist.
   *
   * @param path of the file, or `:memory:`
   * @throws DatabaseUnusableError
   */
  static async open(path: string, clock: Clock): Promise<SqliteStore> {
    return new SqliteStore(openDatabase(path), clock);
  }

  /** Opens a store for exclusive use by one gateway. @throws DatabaseUnusableError */
  static async openAlone(path: string, clock: Clock): Promise<SqliteStore> {
    const lock = lockDatabase(path);
    try {
      return new SqliteStore(openDatabase(path), clock, lock);
    } catch (error) {
      lock?.close();
      throw error;
    }
  }

  private constructor(db: Database.Database, clock: Clock, lock?: { close(): void }) {
    super(new SqliteSession(db, clock));
    this.#db = db;
    this.#lock = lock;
  }

  /** Does nothing: SQLite does not notify a process of writes by others. */
  override listen(): void {}

  override async close(): Promise<void> {
    this.#db.close();
    this.#lock?.close();
  }
}
