import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { Client } from 'pg';
import { connectionConfig } from '../../sidecar/store/postgres-config.js';
import {
  migratePostgres,
  migrateTo,
  POSTGRES_MIGRATIONS,
  type PostgresMigration,
} from '../../sidecar/store/postgres-migrations.js';
import { PostgresStore } from '../../sidecar/store/postgres-store.js';
import { createDatabase, isOwnServer, type TestDatabase } from '../support/postgres.js';
import { purgeRecord } from '../support/store-contract-purges.js';
import { ALL, dump, handClock, modelVersion, reference, SETTINGS } from '../support/store-samples.js';
import { takeStep } from '../support/store-steps.js';
import { FIRST_FORMAT, newestFormat } from '../../sidecar/store/formats.js';
import { column } from '../support/columns.js';

const databases: TestDatabase[] = [];

after(async () => {
  for (const database of databases) await database.drop();
});

async function fresh(options?: string): Promise<TestDatabase> {
  const database = await createDatabase(undefined, options);
  databases.push(database);
  return database;
}

function open(url: string): Promise<PostgresStore> {
  return PostgresStore.open(url, { clock: handClock() });
}

function migrate(database: TestDatabase, migrations: readonly PostgresMigration[]): Promise<number> {
  return migratePostgres(connectionConfig(database.url), 'the database', migrations);
}

const formatOf = async (database: TestDatabase) =>
  (await database.query('SELECT format, least FROM gateway_format'))[0];

const STEPS: readonly PostgresMigration[] = [
  { sql: 'CREATE TABLE a (x bigint)', least: FIRST_FORMAT },
  { sql: 'ALTER TABLE a RENAME TO b', least: FIRST_FORMAT + 1 },
  { sql: 'INSERT INTO b VALUES (3)', least: FIRST_FORMAT + 1 },
];

it('migrations of PostgreSQL run in order from the current format, and record the minimum format that a program must know', async () => {
  const database = await fresh();
  await migrate(database, STEPS.slice(0, 1));
  assert.deepEqual(await formatOf(database), { format: FIRST_FORMAT, least: FIRST_FORMAT });
  await migrate(database, STEPS);
  await migrate(database, STEPS);
  assert.deepEqual(await formatOf(database), { format: FIRST_FORMAT + 2, least: FIRST_FORMAT + 1 });
  assert.deepEqual(await database.query('SELECT x::int FROM b'), [{ x: 3 }]);
});

it('migrations of PostgreSQL are applied together or not at all', async () => {
  const database = await fresh();
  await migrate(database, STEPS.slice(0, 1));
  const broken = [...STEPS, { sql: 'CREATE TABLE b (x bigint)', least: 1 }];
  await assert.rejects(migrate(database, broken), /already exists/);
  assert.deepEqual(await formatOf(database), { format: FIRST_FORMAT, least: FIRST_FORMAT });
  assert.deepEqual(await database.query('SELECT * FROM a'), []);
});

it('migrations of PostgreSQL run only once if several processes start together', async () => {
  const database = await fresh();
  const stores = await Promise.all([1, 2, 3, 4, 5].map(() => open(database.url)));
  const { least } = POSTGRES_MIGRATIONS.at(-1) ?? {};
  assert.deepEqual(await formatOf(database), { format: newestFormat(POSTGRES_MIGRATIONS), least });
  await stores[0]?.domains.create({ name: 'energy' });
  assert.equal((await stores[4]?.domains.list(ALL))?.total, 1);
  for (const store of stores) await store.close();
});

it('an older program accepts a newer PostgreSQL schema, unless the schema requires a format that the program does not know', async () => {
  const database = await fresh();
  await (await open(database.url)).close();
  const known = newestFormat(POSTGRES_MIGRATIONS);
  const { least } = POSTGRES_MIGRATIONS.at(-1) ?? {};
  await database.query(`UPDATE gateway_format SET format = ${String(known + 1)}`);
  const store = await open(database.url);
  await store.domains.create({ name: 'energy' });
  await store.close();
  assert.deepEqual(await formatOf(database), { format: known + 1, least });

  await database.query(`UPDATE gateway_format SET least = ${String(known + 1)}`);
  await assert.rejects(open(database.url), { name: 'DatabaseUnusableError' });
  assert.deepEqual(await formatOf(database), { format: known + 1, least: known + 1 });
});

it('a PostgreSQL schema from before the first release is refused with advice, and not changed', async () => {
  const database = await fresh();
  await (await open(database.url)).close();
  await database.query('UPDATE gateway_format SET format = 19, least = 10');
  const refusal = {
    name: 'DatabaseUnusableError',
    message:
      /^postgres:\/\/[^@]+ has format 19, which this version no longer reads, and was left as it is\. Name a new database\. To keep its models, export them/,
  };
  await assert.rejects(open(database.url), refusal);
  await assert.rejects(migrateTo(database.url), refusal);
  assert.deepEqual(await formatOf(database), { format: 19, least: 10 });
});

it('PostgreSQL has an index for every foreign key', async () => {
  const database = await fresh();
  await (await open(database.url)).close();
  const keys = await database.query<{ table: string; columns: readonly number[]; indexed: boolean }>(`
    SELECT conrelid::regclass::text AS table, conkey AS columns, EXISTS (
      SELECT FROM pg_index WHERE indrelid = conrelid AND indkey[0] = ANY (conkey)
    ) AS indexed
    FROM pg_constraint WHERE contype = 'f'`);
  assert.ok(keys.length >= 15);
  assert.deepEqual(
    keys.filter(({ indexed }) => !indexed),
    [],
  );
});

it('a PostgreSQL store that is opened again has all its content, and sees the writes of another store', async () => {
  const database = await fresh();
  const one = await open(database.url);
  for (let n = 0; n < 30; n += 1) await takeStep(one, n);
  const before = await dump(one);
  const two = await open(database.url);
  assert.deepEqual(await dump(two), before);
  const seen = await two.revision();
  await one.domains.create({ name: 'energy' });
  assert.notEqual(await two.revision(), seen);
  assert.equal((await two.domains.get('energy')).name, 'energy');
  await Promise.all([one.close(), two.close()]);
});

it('a PostgreSQL store works in the schema named by search_path, next to other schemas', async () => {
  const database = await fresh();
  await database.query(
    'CREATE SCHEMA "Gate way"; CREATE TABLE domain (theirs text); CREATE TABLE "Gate way"."other (*" (x int)',
  );
  const url = `${database.url}?options=${encodeURIComponent('-c search_path="Gate\\ way"')}`;
  const store = await open(url);
  await store.domains.create({ name: 'energy' });
  await store.close();
  assert.deepEqual(await database.query('SELECT name FROM "Gate way".domain'), [{ name: 'energy' }]);
  assert.deepEqual(await database.query('SELECT * FROM public.domain'), []);
});

it('a PostgreSQL store refuses a database whose encoding cannot store all characters', async () => {
  const database = await fresh("ENCODING 'LATIN1' TEMPLATE template0");
  await assert.rejects(open(database.url), {
    name: 'DatabaseUnusableError',
    message: /has the encoding LATIN1, .* ENCODING 'UTF8'/,
  });
  assert.deepEqual(await database.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), []);
});

it('a PostgreSQL store refuses a missing schema, and a schema with tables of another application', async () => {
  const database = await fresh();
  const elsewhere = `${database.url}?options=${encodeURIComponent('-c search_path=nowhere')}`;
  await assert.rejects(open(elsewhere), { name: 'DatabaseUnusableError', message: /has no current schema/ });
  await database.query('CREATE TABLE model (theirs text); CREATE TABLE more (x int)');
  await assert.rejects(open(database.url), {
    name: 'DatabaseUnusableError',
    message: /contains tables of another application \(model\), and was left as it is/,
  });
  assert.equal((await database.query("SELECT FROM pg_class WHERE relname = 'gateway_format'")).length, 0);
});

it('opening a PostgreSQL store fails at once if waiting cannot help, without the password in the message', async () => {
  const database = await fresh();
  const wrong = (change: (url: URL) => void) => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };
  const urls = [
    wrong((url) => (url.pathname = '/nowhere')),
    wrong((url) => url.searchParams.set('sslmode', 'verify-full')),
    wrong((url) => url.searchParams.set('sslrootcert', '/no/such/file')),
    ...(isOwnServer(database.url) ? [wrong((url) => (url.password = 'hunter2'))] : []),
  ];
  for (const url of urls) {
    await assert.rejects(open(url), (error) => {
      assert.ok(error instanceof Error);
      assert.equal(error.name, 'DatabaseUnusableError', error.message);
      assert.match(error.message, /^postgres:\/\/[^@]+ cannot be used as a database: /);
      assert.doesNotMatch(error.message, /secret|hunter2/);
      return true;
    });
  }
});

it('connections to PostgreSQL have time limits, unless the URL sets others', async () => {
  const database = await fresh();
  const limits = async (url: string) => {
    const client = new Client(connectionConfig(url));
    await client.connect();
    const { rows } = await client.query<{ name: string; setting: string }>(
      "SELECT name, setting FROM pg_settings WHERE name ~ '^(statement|lock|idle_in_trans).*timeout$|^application_name$' ORDER BY name",
    );
    await client.end();
    return rows.map(({ setting }) => setting);
  };
  assert.deepEqual(await limits(database.url), ['ngsi-ld-gateway', '15000', '5000', '15000']);
  const options = encodeURIComponent('-c statement_timeout=1000');
  assert.deepEqual(await limits(`${database.url}?application_name=gw&options=${options}`), [
    'gw',
    '15000',
    '5000',
    '1000',
  ]);
});

it('a PostgreSQL store gives the same ETags as SQLite', async () => {
  const { SqliteStore } = await import('../../sidecar/store/sqlite-store.js');
  const postgres = await open((await fresh()).url);
  const sqlite = await SqliteStore.open(':memory:', handClock());
  // This comes before any deletion, because SQLite reuses ids.
  for (const store of [postgres, sqlite]) for (let n = 0; n < 7; n += 1) await takeStep(store, n);
  assert.deepEqual(await dump(postgres), await dump(sqlite));
  await Promise.all([postgres.close(), sqlite.close()]);
});

it('exactly one of fifty concurrent writers of a model wins on PostgreSQL, and no write is lost', async () => {
  const database = await fresh();
  const stores = await Promise.all(
    [1, 2, 3].map(() => PostgresStore.open(database.url, { clock: { ...handClock() } })),
  );
  const [first] = stores;
  assert.ok(first !== undefined);
  const key = { domain: 'energy', name: 'Meter' };
  await first.domains.create({ name: 'energy' });
  const write = (round: number) => async (_: unknown, index: number) => {
    const store = stores[index % stores.length] ?? first;
    const version = modelVersion(`${String(round)} ${String(index)}`);
    if (round === 0) return store.models.create(key, SETTINGS, version);
    return store.models.update(key, { settings: SETTINGS, version }, [etag]);
  };
  let etag = '';
  for (let round = 0; round < 3; round += 1) {
    const ends = await Promise.allSettled(Array.from({ length: 50 }, write(round)));
    const won = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    assert.equal(won.length, 1);
    const refusal = round === 0 ? 'alreadyExists' : 'preconditionFailed';
    for (const end of ends)
      if (end.status === 'rejected') assert.equal((end.reason as { kind: string }).kind, refusal);
    assert.deepEqual(await first.models.get(key), won[0]);
    etag = won[0]?.model.etag ?? '';
    assert.equal(won[0]?.version.number, round + 1);
  }
  // Without a condition, every write makes a version.
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) =>
      (stores[index % stores.length] ?? first).models.update(key, {
        settings: SETTINGS,
        version: modelVersion(`free ${String(index)}`),
      }),
    ),
  );
  const { items } = await first.models.versions(key, ALL);
  assert.deepEqual(
    column(items, 'number'),
    Array.from({ length: 53 }, (_, index) => index + 1),
  );
  assert.equal(new Set(items.slice(3).map(({ schema }) => schema.sha256)).size, 50);
  for (const store of stores) await store.close();
});

it('on PostgreSQL, nothing can refer to a document or context that is being deleted, whichever write comes first', async () => {
  const database = await fresh();
  const [one, two] = [await open(database.url), await open(database.url)];
  await one.domains.create({ name: 'energy' });
  for (let round = 0; round < 20; round += 1) {
    const [uri, name] = [`https://a.example/${String(round)}`, `c${String(round)}`];
    const { content } = (await one.references.put(reference(uri, '{}'))).reference;
    await one.contexts.create(name, { text: '{}', contexts: new Set() });
    const version = modelVersion('a', {
      references: new Map([[uri, content.sha256]]),
      contexts: new Set([name]),
    });
    const key = { domain: 'energy', name: `M${String(round)}` };
    const [made, ...gone] = await Promise.allSettled([
      one.models.create(key, SETTINGS, version),
      two.references.delete(uri),
      two.contexts.delete(name),
    ]);
    if (made.status === 'fulfilled') {
      for (const end of gone)
        assert.equal(end.status === 'rejected' && (end.reason as { kind: string }).kind, 'inUse');
      await one.models.texts(key);
    } else {
      assert.equal((made.reason as { kind: string }).kind, 'dependencyChanged');
      assert.ok(gone.some(({ status }) => status === 'fulfilled'));
    }
  }
  const orphans = 'SELECT FROM content WHERE sha256 NOT IN (SELECT sha256 FROM named_content)';
  assert.deepEqual(await database.query(orphans), []);
  await Promise.all([one.close(), two.close()]);
});

it('on PostgreSQL, writing and reading records of purges does not wait for a write of models', async () => {
  const database = await fresh();
  const store = await open(database.url);
  const blocker = new Client(database.url);
  await blocker.connect();
  await blocker.query('BEGIN; UPDATE revision SET number = number + 1');
  const write = store.domains.create({ name: 'energy' });
  await store.jobs.put(purgeRecord('a', 'running'));
  assert.equal((await store.jobs.unfinished()).length, 1);
  assert.equal((await store.domains.list(ALL)).total, 0);
  assert.equal(await store.isReady(), true);
  await blocker.query('COMMIT');
  await write;
  await blocker.end();
  await store.close();
});

it('a read of several statements on PostgreSQL shows a single moment, while other clients write', async () => {
  const database = await fresh();
  const [one, two] = [await open(database.url), await open(database.url)];
  await one.domains.create({ name: 'energy' });
  const key = { domain: 'energy', name: 'Meter' };
  await one.models.create(key, SETTINGS, modelVersion('0'));
  const progress = { isOver: false };
  const writing = (async () => {
    for (let n = 1; n < 40; n += 1) {
      await one.models.delete(key);
      await one.models.create(key, SETTINGS, modelVersion(String(n)));
    }
    progress.isOver = true;
  })();
  const reads = { found: 0, missing: 0 };
  while (!progress.isOver) {
    try {
      const { schema, context } = await two.models.texts(key);
      assert.equal(/schema (\d+)/.exec(schema)?.[1], /urn:(\d+)/.exec(context)?.[1]);
      reads.found += 1;
    } catch (error) {
      assert.equal((error as { kind: string }).kind, 'notFound');
      reads.missing += 1;
    }
  }
  await writing;
  assert.ok(reads.found > 0);
  await Promise.all([one.close(), two.close()]);
});
