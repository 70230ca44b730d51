import { backUp } from '../store/databases.js';
import { say, type CliContext } from './context.js';
import { databaseNamed, databaseOf, withDatabases } from './databases.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';

/** Copies the database to a file, while a gateway may be writing to it. @throws CliError */
export async function backUpCommand(
  target: string,
  database: string | undefined,
  { env, stdout }: CliContext,
): Promise<ExitCode> {
  const named = database === undefined ? databaseOf(env) : databaseNamed(database, '--database');
  if (named.kind === 'postgres')
    throw new CliError(
      EXIT.usage,
      'PostgreSQL has its own backup: pg_dump --format=custom --file=TARGET "$DATABASE_URL", and pg_restore for the way back.',
    );
  await withDatabases(() => backUp(named.path, target));
  say(stdout, `${named.path} is backed up to ${target}.`);
  return EXIT.done;
}
