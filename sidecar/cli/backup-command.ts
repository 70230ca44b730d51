import { backUp } from '../schemas/store/backup.js';
import { settings } from '../shared/config/settings.js';
import { GatewayError } from '../shared/errors.js';
import { say, type CliContext } from './context.js';
import { CliError, EXIT, type ExitCode } from './exit-codes.js';

/** Copies the database to a file, while a gateway may be writing to it. @throws CliError */
export async function backUpCommand(
  target: string,
  database: string | undefined,
  { env, stdout }: CliContext,
): Promise<ExitCode> {
  const set = env['DATABASE_PATH'];
  const path = database ?? (set === undefined || set === '' ? settings.DATABASE_PATH.default : set);
  if (path === ':memory:')
    throw new CliError(EXIT.usage, 'A database in memory ends with its gateway: it has no backup.');
  try {
    await backUp(path, target);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new CliError(EXIT.failed, error.message, { cause: error });
  }
  say(stdout, `${path} is backed up to ${target}.`);
  return EXIT.done;
}
