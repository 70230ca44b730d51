import { closeSync, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { errorCode, GatewayError } from '../shared/errors.js';
import { makeFolders } from '../shared/make-folders.js';
import { DatabaseInUseError, DatabaseUnusableError } from './errors.js';
import { requireKnownFormat } from './formats.js';
import { isMountedAlone } from './single-file-mount.js';
import { APPLICATION_ID, formatOf, migrate, SQLITE_MIGRATIONS } from './sqlite-migrations.js';

/** How long opening waits for another process's lock, in milliseconds. Short, because it blocks the event loop. */
const BUSY_TIMEOUT_MS = 500;

/** Above this size, the write-ahead log shrinks once no reader needs it any more. It usually has 4 MiB. */
const LOG_LIMIT_BYTES = 16 * 1024 * 1024;

const IN_MEMORY = ':memory:';

/** A migrated empty in-memory database, kept for the next one: migrating takes most of the time of opening. */
let migratedInMemory: Buffer | undefined;

/**
 * Opens the database of a store and migrates it to the newest format. Creates the database and its directories if they
 * do not exist. Once open, it never waits for a lock: a statement that meets one fails with SQLITE_BUSY at once.
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
      db.pragma(`journal_size_limit = ${LOG_LIMIT_BYTES}`);
      // FULL, so that an answered write survives a power failure. NORMAL would be about twice as fast, but models are
      // written rarely.
      db.pragma('synchronous = FULL');
      db.pragma('foreign_keys = ON');
      // In a container with a read-only file system, there may be no folder for temporary files.
      db.pragma('temp_store = MEMORY');
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
 * Keeps other gateways from using a database until the lock is closed or the process ends in any way. The lock belongs
 * to the operating system, on a file next to the database.
 *
 * @throws DatabaseInUseError
 */
export function lockDatabase(path: string): { close(): void } | undefined {
  if (path === IN_MEMORY) return undefined;
  return opened(path, () => {
    prepareFile(absolute(path), path);
    // The files of SQLite are beside the real file, too; a symbolic link would have a lock of another name.
    const lock = new Database(`${realpathSync(absolute(path))}.lock`, { timeout: BUSY_TIMEOUT_MS });
    return prepared(lock, () => {
      try {
        // On a file that it may only read, SQLite takes a lock for reading, which many can have; the second statement fails then.
        lock.exec('BEGIN EXCLUSIVE; PRAGMA user_version = 1');
      } catch (cause) {
        const isBusy = errorCode(cause) === 'SQLITE_BUSY';
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
    const file = absolute(path);
    if (!existsSync(file)) throw new DatabaseUnusableError(`The database ${path} does not exist.`);
    requireRegularFile(file, path);
    const db = new Database(file, {
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

/** The mode of a file with the content of a store, such as queries and credentials: only its owner may read it. */
export const PRIVATE_FILE = 0o600;

/**
 * Creates a missing file and its directories. SQLite gives the files beside it the same mode.
 *
 * @throws DatabaseUnusableError if the path is not a regular file, e.g. a device, or is mounted without its folder
 */
function prepareFile(file: string, path: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    makeFolders(dirname(file));
    closeSync(openSync(file, 'a', PRIVATE_FILE));
    return;
  }
  requireRegularFile(file, path);
  if (isMountedAlone(file))
    throw new DatabaseUnusableError(
      `${path} is mounted as a single file. SQLite keeps what was written last in files beside it (-wal), which would be lost ` +
        'with the container: mount the folder of the database instead.',
    );
}

/** Opening a pipe would wait for ever. @throws DatabaseUnusableError */
function requireRegularFile(file: string, path: string): void {
  if (!statSync(file).isFile())
    throw new DatabaseUnusableError(`${path} cannot be used as a database: it is not a file.`);
}

/**
 * Makes a path absolute, because empty names and `file:` URIs have special meanings to SQLite. Its driver drops white
 * space at the end of a path; without it here, the lock would have another name than that of the same file.
 */
function absolute(path: string): string {
  return path === IN_MEMORY ? path : resolve(path).trimEnd();
}

/** Refuses anything but an empty database or a store that this program knows. Changes nothing. */
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
    const code = errorCode(error) ?? '';
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

/** Error codes of Node.js if the binary of better-sqlite3 is missing, or was built for another system. */
const NOT_LOADED: ReadonlySet<string> = new Set(['MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']);

/** Reasons by the error codes of SQLite and of the file system. */
const WHY_UNUSABLE: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/, 'another process has locked it; stop that process first'],
  [/^SQLITE_ERROR$/, 'it is incomplete; restore it from a backup'],
  [/^SQLITE_CORRUPT/, 'it is damaged; restore it from a backup'],
  [
    /^SQLITE_READONLY|^EACCES|^EPERM|^EROFS/,
    'this user has no permission to write it, its directory, or a file beside it (-wal, -shm, .lock)',
  ],
  [
    /^SQLITE_CANTOPEN/,
    'this user has no permission to open or create it, or a file beside it (-wal, -shm, .lock)',
  ],
  [/^ENOENT/, 'its directory cannot be created'],
  [/^EEXIST|^ENOTDIR/, 'part of its path is a file, not a directory'],
  [/^SQLITE_FULL|^ENOSPC/, 'the disk is full'],
  [/^SQLITE_|^E(?!RR_)[A-Z]/, 'the system reported an error'],
];

/** better-sqlite3 has no binary for this system, or the binary was removed. */
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

/** A test write of 64 KiB. */
const ROOM = "INSERT INTO content (sha256, size, text) VALUES ('', 65536, hex(zeroblob(32768)))";

/**
 * Checks whether writes work, without changing anything: inserts 64 KiB and rolls that back, and writes the format
 * number again.
 *
 * @throws SqliteError when the database is locked, read-only or full
 */
export function checkWritable(db: Database.Database): void {
  db.transaction(() => {
    db.exec(`SAVEPOINT room; ${ROOM}; ROLLBACK TO room; RELEASE room`);
    db.pragma(`user_version = ${formatOf(db)}`);
  }).immediate();
}
