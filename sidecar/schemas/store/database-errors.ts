import { GatewayError } from '../../shared/errors.js';

/** The file holds something, but no SQLite database. */
export class NotADatabaseError extends GatewayError {
  readonly code = 'DATABASE_NOT_SQLITE';

  constructor(path: string, options?: ErrorOptions) {
    super(
      `${path} is not a SQLite database. Name another file, or move this one away to start with an empty store.`,
      options,
    );
  }
}

/** A SQLite database, but of another program. */
export class ForeignDatabaseError extends GatewayError {
  readonly code = 'DATABASE_FOREIGN';

  constructor(path: string) {
    super(`${path} is a SQLite database of another application, and was left as it is. Name another file.`);
  }
}

/** The store was written by a newer version of this program. */
export class NewerDatabaseError extends GatewayError {
  readonly code = 'DATABASE_NEWER';

  constructor(path: string, version: number, known: number) {
    super(
      `${path} has format ${version}, and this program knows formats up to ${known}. Run the newer program, or name a backup made before the upgrade.`,
    );
  }
}

/** The file cannot be opened, read or written. */
export class DatabaseUnusableError extends GatewayError {
  readonly code = 'DATABASE_UNUSABLE';
}
