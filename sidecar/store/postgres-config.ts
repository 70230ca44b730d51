import { Client, TypeOverrides, types, type ClientConfig } from 'pg';
import { unusable } from './postgres-errors.js';

/** How long a connection may take to be made, and a statement waits for a free one, in milliseconds. */
const CONNECT_MS = 5000;

/** What PostgreSQL itself ends: statements, waits for a lock, and transactions in which nothing happens, in milliseconds. */
const LIMITS = {
  statement_timeout: 15_000,
  lock_timeout: 5000,
  idle_in_transaction_session_timeout: 15_000,
} as const;

/** Without any answer for so long, the connection is given up, in milliseconds. */
const ANSWER_MS = 20_000;

/** Counts, times and ids are safe integers; the driver would make texts of them. */
const TYPES = new TypeOverrides();
TYPES.setTypeParser(types.builtins.INT8, Number);

/**
 * The driver's configuration for a URL as libpq takes it, `sslmode` and its companions with the meaning they have there.
 * `options` comes after the limits set here, and so may change them.
 *
 * @throws DatabaseUnusableError when it names certificates that cannot be read
 */
export function connectionConfig(url: string): ClientConfig {
  const parsed = new URL(url);
  const { searchParams } = parsed;
  const limits = Object.entries(LIMITS).map(([name, ms]) => `-c ${name}=${ms}`);
  const options = [...limits, searchParams.get('options') ?? ''].join(' ').trim();
  const connectSeconds = Number(searchParams.get('connect_timeout') ?? 0);
  for (const name of ['options', 'connect_timeout']) searchParams.delete(name);
  searchParams.set('uselibpqcompat', 'true');
  const config: ClientConfig = {
    connectionString: parsed.href,
    application_name: 'ngsi-ld-gateway',
    options,
    connectionTimeoutMillis: connectSeconds > 0 ? connectSeconds * 1000 : CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: TYPES,
  };
  try {
    // Reads the files that it names.
    new Client(config);
  } catch (error) {
    throw unusable(placeOf(url), error);
  }
  return config;
}

/** What to call a database in messages: its URL without credentials and parameters. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
