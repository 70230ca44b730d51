import assert from 'node:assert/strict';
import { it } from 'node:test';
import { types } from 'pg';
import { connectionConfig, placeOf } from '../../../sidecar/store/postgres-config.js';

const URL_OF_ALL = 'postgres://ada:secret@db:5433/gateway?application_name=gw&sslmode=disable';

it('a connection has time limits for connecting, statements, locks and idle transactions, and keeps its line alive', () => {
  const config = connectionConfig(URL_OF_ALL);
  assert.equal(
    config.options,
    '-c statement_timeout=15000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=15000',
  );
  assert.deepEqual(
    [
      config.connectionTimeoutMillis,
      config.query_timeout,
      config.keepAlive,
      config.keepAliveInitialDelayMillis,
    ],
    [5000, 20_000, true, 10_000],
  );
  assert.equal(config.application_name, 'ngsi-ld-gateway');
});

it('the connect timeout is that of the URL, in seconds, or else five seconds', () => {
  for (const [text, ms] of [
    ['&connect_timeout=1', 1000],
    ['&connect_timeout=0', 5000],
    ['&connect_timeout=-1', 5000],
    ['&connect_timeout=soon', 5000],
    ['', 5000],
  ] as const) {
    const config = connectionConfig(URL_OF_ALL + text);
    assert.equal(config.connectionTimeoutMillis, ms, text);
    assert.equal(new URL(config.connectionString ?? '').searchParams.has('connect_timeout'), false);
  }
});

it('the sslmode of a URL has the meaning of libpq, and the rest of the URL is unchanged', () => {
  const url = new URL(connectionConfig(URL_OF_ALL).connectionString ?? '');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    application_name: 'gw',
    sslmode: 'disable',
    uselibpqcompat: 'true',
  });
  assert.deepEqual(
    [url.username, url.password, url.host, url.pathname],
    ['ada', 'secret', 'db:5433', '/gateway'],
  );
});

it('large integers of PostgreSQL are numbers', () => {
  const parser = connectionConfig(URL_OF_ALL).types?.getTypeParser(types.builtins.INT8, 'text') as unknown;
  const parse = parser as ((text: string) => unknown) | undefined;
  assert.equal(parse?.('9007199254740991'), Number.MAX_SAFE_INTEGER);
});

it('the place of a database has neither credentials nor parameters', () => {
  assert.equal(placeOf(URL_OF_ALL), 'postgres://db:5433/gateway');
});
