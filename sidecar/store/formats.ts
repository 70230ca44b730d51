import { DatabaseUnusableError } from './errors.js';

/**
 * The format that the first migration of a database results in; each further migration adds one. A released migration
 * is never edited: every change is a new migration. Lower numbers were used before the first release.
 */
export const FIRST_FORMAT = 20;

/** Returns the format that a list of migrations results in. */
export function newestFormat(migrations: readonly unknown[]): number {
  return FIRST_FORMAT + migrations.length - 1;
}

/** Returns the migrations that a database still needs. @param format the format of the database; 0 if it is empty */
export function pendingOf<Migration>(migrations: readonly Migration[], format: number): readonly Migration[] {
  return format === 0 ? migrations : migrations.slice(format - FIRST_FORMAT + 1);
}

/**
 * @param place the path of the database, or its URL without credentials
 * @param format 0 for an empty database
 * @param least the lowest format that a program must know in order to use the database
 * @throws DatabaseUnusableError
 */
export function requireKnownFormat(
  place: string,
  { format, least }: { readonly format: number; readonly least: number },
  migrations: readonly unknown[],
): void {
  const known = newestFormat(migrations);
  if (least > known)
    throw new DatabaseUnusableError(
      `${place} has format ${format}, and this program knows formats up to ` +
        `${known}. Run the newer program, or name a backup made before the upgrade.`,
    );
  if (format > 0 && format < FIRST_FORMAT)
    throw new DatabaseUnusableError(
      `${place} has format ${format}, which this version no longer reads, and was ` +
        'left as it is. Name a new database. To keep its models, export them with ' +
        'the version that wrote it (ngsi-ld-gateway models export), and import them.',
    );
}
