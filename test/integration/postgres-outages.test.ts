import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Client } from 'pg';
import { StoreUnavailableError } from '../../sidecar/store/errors.js';
import { PostgresStore } from '../../sidecar/store/postgres-store.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { createDatabase } from '../support/postgres.js';
import { ALL, handClock } from '../support/store-samples.js';

const closers: (() => Promise<unknown>)[] = [];

after(async () => {
  for (const close of closers.reverse()) await close();
});

/** Opens a store whose connections can be cut, and records its notices. */
async function open(parameters: Readonly<Record<string, string>> = {}) {
  const database = await createDatabase();
  const direct = new URL(database.url);
  const proxy = await CuttingProxy.start(Number(direct.port));
  const url = new URL(database.url);
  url.port = String(proxy.port);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const clock = handClock();
  const told: string[] = [];
  const store = await PostgresStore.open(url.href, {
    clock,
    random: () => 1,
    onAway: (error) => told.push(`away: ${error instanceof Error ? error.message : ''}`),
    onBack: () => told.push('back'),
  });
  closers.push(
    () => database.drop(),
    () => proxy.close(),
    () => store.close(),
  );
  return { database, proxy, store, clock, told, url };
}

async function refusal(work: Promise<unknown>): Promise<StoreUnavailableError> {
  const error: unknown = await work.then(
    () => assert.fail('it worked'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StoreUnavailableError, String(error));
  assert.ok(error.cause !== undefined);
  return error;
}

it('a PostgreSQL store works with fewer connections than it would make, however much is asked of it at once', async () => {
  const { database, store, told, url } = await open();
  await store.close();
  const role = `limited_${String(process.pid)}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' CONNECTION LIMIT 3`);
  closers.push(async () => {
    await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });
  await database.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  Object.assign(url, { username: role, password: 'secret' });
  const limited = await PostgresStore.open(url.href, {
    clock: handClock(),
    onAway: (error) => told.push(String(error)),
  });
  closers.push(() => limited.close());
  const all = await Promise.all(Array.from({ length: 50 }, () => limited.jobs.list({ limit: 1, offset: 0 })));
  assert.deepEqual([all.length, told], [50, []]);
});

describe('a store whose connections to PostgreSQL break', { timeout: 300_000 }, () => {
  it('a PostgreSQL store repeats a read or write whose connection breaks before its commit, whichever statement is running', async () => {
    const { proxy, store, database } = await open();
    await store.domains.create({ name: 'first' });
    for (const word of ['BEGIN', 'UPDATE revision', 'SELECT id, name', 'INSERT INTO domain'])
      for (const when of ['before', 'after'] as const) {
        proxy.cutAt(word, when);
        await store.domains.create({ name: `${word} ${when}` });
      }
    for (const word of ['BEGIN', 'FROM domain']) {
      proxy.cutAt(word, 'after');
      assert.equal((await store.domains.list(ALL)).total, 9);
    }
    assert.ok(proxy.connections > 8);
    assert.deepEqual(await database.query('SELECT number::int FROM revision'), [{ number: 9 }]);
  });

  it('a PostgreSQL store never repeats a write whose commit was sent, and reports that its outcome is unknown', async () => {
    const { proxy, store } = await open();
    for (const [when, total] of [
      ['before', 0],
      ['after', 1],
    ] as const) {
      // With the end of the text, because "READ COMMITTED" occurs at the start of a transaction.
      proxy.cutAt('COMMIT\0', when);
      const error = await refusal(store.domains.create({ name: 'energy' }));
      assert.match(error.message, /it is not known whether the write took effect/);
      assert.equal((await store.domains.list(ALL)).total, total);
    }
  });

  it('calls to a PostgreSQL store fail after connect_timeout if the server accepts connections but does not answer', async () => {
    const { store, proxy, told, clock } = await open({ connect_timeout: '1' });
    proxy.cutAll();
    proxy.silence();
    await refusal(store.domains.list(ALL));
    proxy.cutAll();
    clock.time += 10_000;
    assert.equal((await store.domains.list(ALL)).total, 0);
    assert.deepEqual([told.length, told.at(-1)], [2, 'back']);
  });

  it('a write to a PostgreSQL store fails if another transaction holds the lock for too long, and works afterwards', async () => {
    const { store, database } = await open({ options: '-c lock_timeout=100' });
    const blocker = new Client(database.url);
    await blocker.connect();
    await blocker.query('BEGIN; UPDATE revision SET number = number');
    const error = await refusal(store.domains.create({ name: 'energy' }));
    assert.match(error.message, /lock timeout/);
    await blocker.query('ROLLBACK');
    await blocker.end();
    await store.domains.create({ name: 'energy' });
  });

  it('a PostgreSQL store is not ready while the server accepts no writes, and is ready again afterwards', async () => {
    const { store, database, clock, proxy } = await open();
    assert.equal(await store.isReady(), true);
    const name = new URL(database.url).pathname.slice(1);
    const setReadOnly = (value: string) =>
      database.query(
        `BEGIN READ WRITE; ALTER DATABASE ${name} SET default_transaction_read_only = ${value}; COMMIT`,
      );
    await setReadOnly('on');
    proxy.cutAll();
    clock.time += 5000;
    assert.equal(await store.isReady(), false);
    assert.equal((await store.domains.list(ALL)).total, 0);
    const error = await refusal(store.domains.create({ name: 'energy' }));
    assert.match(error.message, /read-only transaction \(25006\)/);
    await setReadOnly('off');
    // Connections to a server that accepts no writes are given up, so that a new connection can
    // find one that does.
    await store.domains.create({ name: 'energy' });
    clock.time += 5000;
    assert.equal(await store.isReady(), true);
  });
});
