import { DatabaseUnusableError } from './errors.js';

/**
 * The format of a database in which the first of its migrations results; each of the others brings it to the next number. One
 * that was released is never edited: a change is a new one. Lower numbers were given before anything was released.
 */
export const FIRST_FORMAT = 10;

/** The format in which a list of migrations results. */
export function newestFormat(migrations: readonly unknown[]): number {
  return FIRST_FORMAT + migrations.length - 1;
}

/** The migrations that a database of some format still needs. @param format 0 for an empty one */
export function pendingOf<Migration>(migrations: readonly Migration[], format: number): readonly Migration[] {
  return format === 0 ? migrations : migrations.slice(format - FIRST_FORMAT + 1);
}

/**
 * @param place the path of the database, or its URL without credentials
 * @param format 0 for an empty one
 * @param least the format that a program must know to work with it
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
