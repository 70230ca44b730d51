import { PostgresStore, type PostgresStoreOptions } from './postgres-store.js';
import type { SqlStore } from './sql-store.js';
import { SqliteStore } from './sqlite-store.js';

/** Where everything is kept: in PostgreSQL where there is a URL, and else in a SQLite file. */
export interface DatabasePlace {
  readonly DATABASE_URL: string | undefined;
  /** Of a file, or `:memory:`. */
  readonly DATABASE_PATH: string;
}

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
    ? SqliteStore.open(DATABASE_PATH, options.clock)
    : PostgresStore.open(DATABASE_URL, options);
}
