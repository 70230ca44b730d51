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

/** Where everything is kept: in PostgreSQL where there is a URL, and else in a SQLite file. */
export interface DatabasePlace {
  readonly DATABASE_URL?: string | undefined;
  /** Of a file, or `:memory:`. */
  readonly DATABASE_PATH: string;
}

/** One of the two, by itself. */
export type DatabaseName =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

/**
 * Opens the store of a gateway; done once, by the wiring.
 *
 * @throws DatabaseUnusableError
 */
export function openStore(
  { DATABASE_URL, DATABASE_PATH }: DatabasePlace,
  options: PostgresStoreOptions,
): Promise<SqlStore> {
  return DATABASE_URL === undefined
    ? SqliteStore.openAlone(DATABASE_PATH, options.clock)
    : PostgresStore.open(DATABASE_URL, options);
}

/**
 * Brings a database to the newest format, and makes it where there is none.
 *
 * @returns the format that it has then; in PostgreSQL, a newer version may have brought it further
 * @throws DatabaseUnusableError
 */
export async function migrateDatabase(database: DatabaseName): Promise<number> {
  if (database.kind === 'postgres') return migrateTo(database.url);
  openDatabase(database.path).close();
  return newestFormat(SQLITE_MIGRATIONS);
}
