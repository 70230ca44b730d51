import { copyToPostgres } from '../store/copy.js';
import { openDatabase } from '../store/open-database.js';
import { newestFormat } from '../store/formats.js';
import { placeOf } from '../store/postgres-config.js';
import { migrateTo } from '../store/postgres-migrations.js';
import { SQLITE_MIGRATIONS } from '../store/sqlite-migrations.js';
import { sayJson, say, type CliContext } from './context.js';
import { databaseNamed, databaseOf, withDatabases } from './databases.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';

/** Brings a database to the newest format, and makes it where there is none. @throws CliError */
export async function migrateCommand(
  database: string | undefined,
  { env, stdout }: CliContext,
): Promise<ExitCode> {
  const named = database === undefined ? databaseOf(env) : databaseNamed(database, '--database');
  if (named.kind === 'postgres') {
    const format = await withDatabases(() => migrateTo(named.url));
    say(stdout, `${placeOf(named.url)} has format ${String(format)}.`);
  } else {
    await withDatabases(async () => openDatabase(named.path).close());
    say(stdout, `${named.path} has format ${String(newestFormat(SQLITE_MIGRATIONS))}.`);
  }
  return EXIT.done;
}

export interface CopyOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

/** Copies all records of a SQLite file to PostgreSQL. @throws CliError */
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
