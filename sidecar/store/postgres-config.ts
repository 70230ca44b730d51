import { Client, TypeOverrides, types, type ClientConfig } from 'pg';
import { unusable } from './postgres-errors.js';

/** The time limit for making a connection, and for a statement waiting for a free one, in milliseconds. */
const CONNECT_MS = 5000;

/** Limits that PostgreSQL enforces: statement time, lock wait, and idle time in a transaction, in milliseconds. */
const LIMITS = {
  statement_timeout: 15_000,
  lock_timeout: 5000,
  idle_in_transaction_session_timeout: 15_000,
} as const;

/** A connection without any answer for this long is abandoned, in milliseconds. */
const ANSWER_MS = 20_000;

/** Returns int8 as a number: counts, times and ids are safe integers, and the driver would return strings. */
const TYPES = new TypeOverrides();
TYPES.setTypeParser(types.builtins.INT8, Number);

/**
 * Makes the driver's configuration from a libpq URL; `sslmode` and related parameters have the same meaning as in
 * libpq. The URL's `options` follow the limits set here and can override them.
 *
 * @throws DatabaseUnusableError if the URL names certificates that cannot be read
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
    // Reads the certificate files that the URL names.
    new Client(config);
  } catch (error) {
    throw unusable(placeOf(url), error);
  }
  return config;
}

/** Returns what to call a database in messages: its URL without credentials and parameters. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
