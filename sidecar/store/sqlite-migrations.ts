import type { Database } from 'better-sqlite3';
import { newestFormat, pendingOf } from './formats.js';
import { migrationsFor } from './migrations.js';

/** Marks a SQLite file as a store of this program (SQLite's `application_id`); never to be changed. */
export const APPLICATION_ID = 0x4e534c44;

/** The scheme, and what changes it; see migrations.ts. The format of a database is its `user_version`. */
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
 * @param check looks at the database once more, now that no other process can change it; throws to refuse it
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

/** The format of a database; 0 where there is none yet. */
export function formatOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
