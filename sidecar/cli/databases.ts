import type { DatabaseName } from '../store/databases.js';
import { settings } from '../shared/config/settings.js';
import { GatewayError } from '../shared/errors.js';
import { CliError, usage, failure } from './exit-codes.js';

type Env = Readonly<Record<string, string | undefined>>;

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
    throw usage('A database in memory belongs to its gateway: no other process can use it.');
  return { kind: 'sqlite', path };
}

/** Returns the database of a gateway with this environment. @throws CliError */
export function databaseOf(env: Env): DatabaseName {
  const url = env['DATABASE_URL'];
  if (url !== undefined && url !== '') return { kind: 'postgres', url: postgresUrl(url, 'DATABASE_URL') };
  return databaseNamed(`sqlite:${env['DATABASE_PATH'] || settings.DATABASE_PATH.default}`, 'DATABASE_PATH');
}

/** Runs work on databases. Turns a database error into a CliError with the same message. @throws CliError */
export async function withDatabases<T>(work: () => Promise<T>): Promise<T> {
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
