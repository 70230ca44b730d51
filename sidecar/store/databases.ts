import { newestFormat } from './formats.js';
import { openDatabase } from './open-database.js';
import { migrateTo } from './postgres-migrations.js';
import { PostgresStore, type PostgresStoreOptions } from './postgres-store.js';
import type { SqlStore } from './sql-store.js';
import { SQLITE_MIGRATIONS } from './sqlite-migrations.js';
import { SqliteStore } from './sqlite-store.js';

export { backUp } from './sqlite-store.js';
export { copyToPostgres } from './copy.js';
export { placeOf } from './postgres-config.js';

/** Where everything is stored: in PostgreSQL if there is a URL, otherwise in a SQLite file. */
export interface DatabasePlace {
  readonly DATABASE_URL?: string | undefined;
  /** The path of a file, or `:memory:`. */
  readonly DATABASE_PATH: string;
}

/** A database of either kind. */
export type DatabaseName =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/** Opens the store of a gateway; called once, at startup. @throws DatabaseUnusableError */
export function openStore(
  { DATABASE_URL, DATABASE_PATH }: DatabasePlace,
  options: PostgresStoreOptions,
): Promise<SqlStore> {
  return DATABASE_URL === undefined
    ? SqliteStore.openAlone(DATABASE_PATH, options.clock)
    : PostgresStore.open(DATABASE_URL, options);
}

/**
 * Brings a database to the newest format, and creates it if it does not exist.
 *
 * @returns the resulting format; in PostgreSQL, a newer version of this program may have migrated it further
 * @throws DatabaseUnusableError
 */
export async function migrateDatabase(database: DatabaseName): Promise<number> {
  if (database.kind === 'postgres') return migrateTo(database.url);
  openDatabase(database.path).close();
  return newestFormat(SQLITE_MIGRATIONS);
}
