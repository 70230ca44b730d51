import { existsSync } from 'node:fs';
import { copyToPostgres, migrateDatabase, placeOf } from '../store/databases.js';
import { sayJson, say, type CliContext } from './context.js';
import { databaseNamed, databaseOf, withDatabases } from './databases.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';

/**
 * Migrates a database to the newest format. A SQLite file must already exist, because its path may be mistyped.
 *
 * @throws CliError
 */
export async function migrateCommand(
  database: string | undefined,
  { env, stdout }: CliContext,
): Promise<ExitCode> {
  const named = database === undefined ? databaseOf(env) : databaseNamed(database, '--database');
  if (named.kind === 'sqlite' && !existsSync(named.path))
    throw usage(`There is no database ${named.path}. A gateway creates its own when it starts.`);
  const format = await withDatabases(() => migrateDatabase(named));
  const place = named.kind === 'postgres' ? placeOf(named.url) : named.path;
  say(stdout, `${place} has format ${String(format)}.`);
  return EXIT.done;
}

export interface CopyOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

/** Copies all records from a SQLite file to PostgreSQL. @throws CliError */
export async function copyCommand(
  { from, to, json = false }: CopyOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { env, stdout } = context;
  const source =
    from === undefined ? databaseOf({ ...env, DATABASE_URL: undefined }) : databaseNamed(from, '--from');
  const target = to === undefined ? databaseOf(env) : databaseNamed(to, '--to');
  if (source.kind !== 'sqlite' || target.kind !== 'postgres')
    throw usage(
      'Copies are from SQLite to PostgreSQL: --from sqlite:PATH (or DATABASE_PATH), --to postgres://… (or DATABASE_URL).',
    );
  const report = await withDatabases(() => copyToPostgres(source.path, target.url));
  if (json) {
    sayJson(context, { from: source.path, to: placeOf(target.url), ...report });
    return EXIT.done;
  }
  const counts = Object.entries(report.counts).map(([name, count]) => `  ${name}: ${String(count)}`);
  const place = placeOf(target.url);
  say(
    stdout,
    report.isChanged
      ? `${source.path} was copied to ${place}:`
      : `${place} has the same content as ${source.path}:`,
    ...counts,
    `  SHA-256 of all records, on both sides: ${report.sha256}`,
    ...report.workers.map(
      (worker) =>
        `Purges of ${worker} have not ended, and any gateway on the copy would continue them: stop ${worker} first.`,
    ),
  );
  return EXIT.done;
}
