import { existsSync } from 'node:fs';
import { settings } from '../shared/config/settings.js';
import { GatewayError } from '../shared/errors.js';
import { backUp, copyToPostgres, type DatabaseName, migrateDatabase, placeOf } from '../store/databases.js';
import { writeJsonLine, writeLines, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode, failure, usage } from './exit-codes.js';

/** Migrates a database to the newest format. A SQLite file must already exist, because its path may be mistyped. */
export async function migrateCommand(
  database: string | undefined,
  { env, stdout }: CliContext,
): Promise<ExitCode> {
  const named = database === undefined ? databaseOf(env) : databaseNamed(database, '--database');
  if (named.kind === 'sqlite') requireFile(named.path);
  const format = await withDatabases(() => migrateDatabase(named));
  const place = named.kind === 'postgres' ? placeOf(named.url) : named.path;
  writeLines(stdout, `${place} has format ${String(format)}.`);
  return EXIT.done;
}

export interface CopyOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

/** Copies all records from a SQLite file to PostgreSQL. */
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
  requireFile(source.path);
  const report = await withDatabases(() => copyToPostgres(source.path, target.url));
  if (json) {
    writeJsonLine(context, { from: source.path, to: placeOf(target.url), ...report });
    return EXIT.done;
  }
  const counts = Object.entries(report.counts).map(([name, count]) => `  ${name}: ${String(count)}`);
  const place = placeOf(target.url);
  writeLines(
    stdout,
    report.isChanged
      ? `${source.path} was copied to ${place}:`
      : `${place} has the same content as ${source.path}:`,
    ...counts,
    `  SHA-256 of all records, on both sides: ${report.sha256}`,
    ...report.workers.map(
      (worker) =>
        `Purges of ${worker} have not ended, and any gateway on the copy would resume them. Stop ${worker} first.`,
    ),
  );
  return EXIT.done;
}

/** Copies the database to a file, even while a gateway writes to the database. */
export async function backUpCommand(
  target: string,
  database: string | undefined,
  { env, stdout }: CliContext,
): Promise<ExitCode> {
  const named = database === undefined ? databaseOf(env) : databaseNamed(database, '--database');
  if (named.kind === 'postgres')
    throw usage(
      'PostgreSQL has its own backup: use pg_dump --format=custom --file=TARGET "$DATABASE_URL", and pg_restore to restore it.',
    );
  requireFile(named.path);
  await withDatabases(() => backUp(named.path, target));
  writeLines(stdout, `${named.path} was backed up to ${target}.`);
  return EXIT.done;
}

/**
 * Parses the name of a database on the command line: `sqlite:PATH`, a path, or a `postgres://` URL.
 *
 * @param option name of the option, for error messages
 * @throws CliError, whose message contains no password
 */
export function databaseNamed(text: string, option: string): DatabaseName {
  if (/^postgres(?:ql)?:/i.test(text)) return { kind: 'postgres', url: postgresUrl(text, option) };
  const path = text.replace(/^sqlite:/, '');
  if (path === '') throw usage(`${option} must be sqlite:PATH or postgres://….`);
  if (path === ':memory:')
    throw usage('An in-memory database belongs to its gateway: no other process can use it.');
  return { kind: 'sqlite', path };
}

/** Returns the database of a gateway with this environment. */
export function databaseOf(env: CliContext['env']): DatabaseName {
  const url = env['DATABASE_URL'];
  if (url !== undefined && url !== '') return { kind: 'postgres', url: postgresUrl(url, 'DATABASE_URL') };
  return databaseNamed(`sqlite:${env['DATABASE_PATH'] || settings.DATABASE_PATH.default}`, 'DATABASE_PATH');
}

/** @throws CliError if there is no SQLite file, because its path may be mistyped */
function requireFile(path: string): void {
  if (!existsSync(path))
    throw usage(
      `There is no database ${path}. Run the command in the folder of the gateway, or name its database in DATABASE_PATH.`,
    );
}

/** Runs work on databases. Turns a database error into a CliError with the same message. */
async function withDatabases<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GatewayError) || error instanceof CliError) throw error;
    throw failure(error.message, { cause: error });
  }
}

function postgresUrl(text: string, option: string): string {
  try {
    return settings.DATABASE_URL.parse(text);
  } catch (error) {
    throw usage(`${option} ${error instanceof Error ? error.message : 'is wrong'}.`);
  }
}
