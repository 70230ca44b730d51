import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { GatewayError } from '../shared/errors.js';
import { DatabaseInUseError, DatabaseUnusableError } from './errors.js';
import { requireKnownFormat } from './formats.js';
import { APPLICATION_ID, formatOf, migrate, SQLITE_MIGRATIONS } from './sqlite-migrations.js';

/** How long opening waits for the lock of another process. Short, because it blocks the event loop. */
const BUSY_TIMEOUT_MS = 500;

const IN_MEMORY = ':memory:';

/** An empty one in memory, for the next: the migrations take most of the time that opening takes. */
let migratedInMemory: Buffer | undefined;

/**
 * Opens the database of a store, and creates it, directories included, where there is none; migrates it to the newest
 * format. Once it is open, it waits for no lock: a statement that meets one fails with SQLITE_BUSY at once.
 *
 * @param path of the file, or `:memory:`
 * @throws DatabaseUnusableError, SqliteMissingError
 */
export function openDatabase(path: string): Database.Database {
  return opened(path, () => {
    const file = absolute(path);
    if (file !== IN_MEMORY) prepareFile(file, path);
    const isInMemory = file === IN_MEMORY;
    const db = new Database((isInMemory && migratedInMemory) || file, { timeout: BUSY_TIMEOUT_MS });
    return prepared(db, () => {
      inspect(db, path);
      // Readers, including a running backup, do not block the writer, and the writer does not block them.
      db.pragma('journal_mode = WAL');
      // An answered write survives a power cut, too. NORMAL would be about twice as fast; models are written rarely.
      db.pragma('synchronous = FULL');
      db.pragma('foreign_keys = ON');
      migrate(db, () => {
        inspect(db, path);
      });
      if (isInMemory) migratedInMemory ??= db.serialize();
      checkWritable(db);
      db.pragma('busy_timeout = 0');
    });
  });
}

/**
 * Keeps other gateways from a database until the lock is closed, or the process ends, however it does: the lock is one of the
 * operating system, on a file beside the database.
 *
 * @throws DatabaseInUseError
 */
export function lockDatabase(path: string): { close(): void } | undefined {
  if (path === IN_MEMORY) return undefined;
  return opened(path, () => {
    prepareFile(absolute(path), path);
    const lock = new Database(`${absolute(path)}.lock`, { timeout: BUSY_TIMEOUT_MS });
    return prepared(lock, () => {
      try {
        lock.exec('BEGIN EXCLUSIVE');
      } catch (cause) {
        const isBusy = cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_BUSY';
        throw isBusy ? new DatabaseInUseError(path, { cause }) : cause;
      }
    });
  });
}

/**
 * Opens the database of an existing store for reading, without migrating it.
 *
 * @throws DatabaseUnusableError, SqliteMissingError
 */
export function openForReading(path: string): Database.Database {
  return opened(path, () => {
    if (!existsSync(absolute(path))) throw new DatabaseUnusableError(`The database ${path} does not exist.`);
    const db = new Database(absolute(path), {
      readonly: true,
      fileMustExist: true,
      timeout: BUSY_TIMEOUT_MS,
    });
    return prepared(db, () => {
      inspect(db, path);
      if (formatOf(db) === 0) throw new DatabaseUnusableError(`${path} is an empty database.`);
    });
  });
}

/** Creates the directories of a missing file. @throws DatabaseUnusableError for a path that is not a file, such as a device */
function prepareFile(file: string, path: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) makeDirectories(dirname(file));
  else if (!found.isFile())
    throw new DatabaseUnusableError(`${path} cannot be used as a database: ${NO_FILE}.`);
}

/** Creates a directory and its parents. A recursive mkdir never returns where none can be created, as below /proc. */
function makeDirectories(directory: string): void {
  if (isDirectory(directory)) return;
  makeDirectories(dirname(directory));
  try {
    mkdirSync(directory);
  } catch (error) {
    // Another process was quicker.
    if (!isDirectory(directory)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** To SQLite, empty names and `file:` URIs have special meanings; an absolute path does not. */
function absolute(path: string): string {
  return path === IN_MEMORY ? path : resolve(path);
}

/** Refuses what is neither an empty database nor a store that this program knows. Changes nothing. */
function inspect(db: Database.Database, path: string): void {
  const application = db.pragma('application_id', { simple: true });
  const format = formatOf(db);
  if (application === APPLICATION_ID) {
    requireKnownFormat(path, { format, least: format }, SQLITE_MIGRATIONS);
    return;
  }
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  if (application !== 0 || format !== 0 || !isEmpty)
    throw new DatabaseUnusableError(
      `${path} is a SQLite database of another application, and was left as it is. Name another file.`,
    );
}

function prepared(db: Database.Database, prepare: () => void): Database.Database {
  try {
    prepare();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function opened(path: string, open: () => Database.Database): Database.Database {
  try {
    return open();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (NOT_LOADED.has(code)) throw new SqliteMissingError({ cause: error });
    if (code === 'SQLITE_NOTADB')
      throw new DatabaseUnusableError(
        `${path} is not a SQLite database. Name another file, or move this one away to start with an empty store.`,
        { cause: error },
      );
    const why = WHY_UNUSABLE.find(([pattern]) => pattern.test(code))?.[1];
    if (why === undefined) throw error;
    throw new DatabaseUnusableError(`${path} cannot be used as a database: ${why} (${code}).`, {
      cause: error,
    });
  }
}

const NO_FILE = 'it is not a file';

/** Codes of Node.js where the binary of better-sqlite3 is missing, or was made for another system. */
const NOT_LOADED: ReadonlySet<string> = new Set(['MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']);

/** By the codes of SQLite and of the file system. */
const WHY_UNUSABLE: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/, 'another process keeps it locked; end that one first'],
  [/^SQLITE_ERROR$/, 'it is incomplete; restore it from a backup'],
  [/^SQLITE_CORRUPT/, 'it is damaged; restore it from a backup'],
  [/^SQLITE_READONLY|^EACCES|^EPERM|^EROFS/, 'this user may not write it, or its directory'],
  [/^SQLITE_CANTOPEN/, 'this user may not open or create it'],
  [/^ENOENT/, 'its directory cannot be created'],
  [/^EEXIST|^ENOTDIR/, 'part of its path is a file, not a directory'],
  [/^SQLITE_FULL|^ENOSPC/, 'the disk is full'],
  [/^SQLITE_|^E(?!RR_)[A-Z]/, 'the system reports a failure'],
];

/** better-sqlite3 brings no binary for this system, or it was removed. */
class SqliteMissingError extends GatewayError {
  readonly kind = 'internalError';

  constructor(options?: ErrorOptions) {
    super(
      `SQLite cannot be loaded: better-sqlite3 has no binary for ${process.platform}-${process.arch}. ` +
        `Install the packages again with \`npm ci\`, or set DATABASE_URL to keep everything in PostgreSQL.`,
      options,
    );
  }
}

/** What a write may need: room for 64 KiB. */
const ROOM = "INSERT INTO content (sha256, size, text) VALUES ('', 65536, hex(zeroblob(32768)))";

/**
 * Finds out whether writes work, without changing anything: it inserts 64 KiB and rolls that back, and writes the number of the
 * format once more.
 *
 * @throws SqliteError when the database is locked, read-only or full
 */
export function checkWritable(db: Database.Database): void {
  db.transaction(() => {
    db.exec(`SAVEPOINT room; ${ROOM}; ROLLBACK TO room; RELEASE room`);
    db.pragma(`user_version = ${formatOf(db)}`);
  }).immediate();
}
