import { backUp } from '../store/databases.js';
import { say, type CliContext } from './context.js';
import { databaseNamed, databaseOf, withDatabases } from './databases.js';
import { EXIT, type ExitCode, usage } from './exit-codes.js';

/** Copies the database to a file, even while a gateway writes to the database. @throws CliError */
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
  await withDatabases(() => backUp(named.path, target));
  say(stdout, `${named.path} was backed up to ${target}.`);
  return EXIT.done;
}
