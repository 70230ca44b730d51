import type { Database } from 'better-sqlite3';
import { newestFormat, pendingOf } from './formats.js';
import { migrationsFor } from './migrations.js';

/** Marks a SQLite file as a store of this program (SQLite's `application_id`); must never change. */
export const APPLICATION_ID = 0x4e534c44;

/** The initial schema and the migrations; see migrations.ts. The format of a database is its `user_version`. */
export const SQLITE_MIGRATIONS: readonly string[] = migrationsFor({
  text: 'TEXT',
  integer: 'INTEGER',
  id: 'INTEGER PRIMARY KEY',
  counted: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  strict: ' STRICT',
  keyed: ' STRICT, WITHOUT ROWID',
  deferred: '',
  only: ({ sqlite = '' }) => sqlite,
});

/**
 * Brings a database to the newest format in one transaction: all pending migrations or none.
 *
 * @param check checks the database again, now that no other process can change it; throws to refuse the database
 */
export function migrate(
  db: Database,
  check: () => void,
  migrations: readonly string[] = SQLITE_MIGRATIONS,
): void {
  db.transaction(() => {
    check();
    const pending = pendingOf(migrations, formatOf(db));
    if (pending.length === 0) return;
    for (const sql of pending) db.exec(sql);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${newestFormat(migrations)}`);
  }).immediate();
}

/** Returns the format of a database; 0 if it is empty. */
export function formatOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
