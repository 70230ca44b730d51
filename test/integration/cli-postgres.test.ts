import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { PostgresStore } from '../../sidecar/store/postgres-store.js';
import { newestFormat } from '../../sidecar/store/formats.js';
import { POSTGRES_MIGRATIONS } from '../../sidecar/store/postgres-migrations.js';
import { SQLITE_MIGRATIONS } from '../../sidecar/store/sqlite-migrations.js';
import type { SqlStore } from '../../sidecar/store/sql-store.js';
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import { CliProcess, type CliEnd } from '../support/cli-process.js';
import { stopAll, stopLater } from '../support/gateway-harness.js';
import { createDatabase, type TestDatabase } from '../support/postgres.js';
import { settingsOf } from '../support/retention-settings.js';
import { purgeRecord } from '../support/store-contract-purges.js';
import { ALL, dump, handClock, modelVersion, SETTINGS } from '../support/store-samples.js';
import { takeStep } from '../support/store-steps.js';
import { column } from '../support/columns.js';
import { temporaryFolder } from '../support/temporary-folder.js';

after(stopAll);

const PATIENCE = { timeout: 300_000 };

const cli = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliEnd> =>
  (await CliProcess.start(args, env)).ended;

async function fresh(): Promise<TestDatabase> {
  const database = await createDatabase();
  stopLater(() => database.drop());
  return database;
}

/** Creates a SQLite file with records of many kinds. */
async function filledFile(): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder, 'schema.db');
  const store = await SqliteStore.open(path, handClock());
  await fill(store, 0, 60);
  await store.jobs.put(purgeRecord('done', 'succeeded', { query: 'q=a=="\ud800 \0"' }));
  await store.jobs.put(purgeRecord('dry', 'succeeded', { dryRun: true }));
  await store.jobs.put(purgeRecord('job', 'queued', { worker: 'one:8080' }), { headers: { a: 'b' } });
  await store.retention.put({
    name: 'old',
    settings: settingsOf({ mode: 'report' }),
    author: { caller: 'ada', policy: {} },
  });
  await store.close();
  return path;
}

async function fill(store: SqlStore, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) await takeStep(store, n);
}

async function everything(store: SqlStore): Promise<unknown> {
  return {
    dump: await dump(store),
    purges: await store.jobs.list({ limit: 1000, offset: 0 }),
    dryRuns: await store.jobs.list({ dryRun: true, limit: 1000, offset: 0 }),
    unfinished: await store.jobs.unfinished(),
    policies: await store.retention.list({ limit: 1000, offset: 0 }),
  };
}

async function read(open: Promise<SqlStore>): Promise<unknown> {
  const store = await open;
  const found = await everything(store);
  await store.close();
  return found;
}

const inPostgres = (url: string) => read(PostgresStore.open(url, { clock: handClock() }));
const inFile = (path: string) => read(SqliteStore.open(path, handClock()));

describe('the command line on databases', PATIENCE, () => {
  it('migrate brings a database to the newest format, and can be repeated', async () => {
    const { url } = await fresh();
    const place = /^postgres:\/\/[^@]+\/gateway_test_\w+ has format (\d+)\.\n$/;
    for (let round = 0; round < 2; round += 1) {
      const { code, stdout } = await cli(['migrate'], { DATABASE_URL: url });
      assert.equal(code, 0);
      assert.equal(place.exec(stdout)?.[1], String(newestFormat(POSTGRES_MIGRATIONS)), stdout);
    }
    const path = await filledFile();
    const { stdout } = await cli(['migrate', '--database', `sqlite:${path}`]);
    assert.equal(stdout, `${path} has format ${String(newestFormat(SQLITE_MIGRATIONS))}.\n`);
  });

  it('copy transfers all records with their ETags, can be repeated after more writes, and copies nothing twice', async () => {
    const database = await fresh();
    const { url } = database;
    const path = await filledFile();
    const copy = async () => cli(['copy', '--from', `sqlite:${path}`, '--to', url]);
    const first = await copy();
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /schema\.db was copied to postgres:\/\/[^@]+:\n {2}content: \d+\n/);
    assert.match(
      first.stdout,
      /\n {2}job: 3\n(?: {2}.*\n)* {2}retention_policy: 1\n(?: {2}.*\n)* {2}SHA-256 of all records, on both sides: [0-9a-f]{64}\n/,
    );
    assert.match(first.stdout, /would resume them\. Stop one:8080 first\.\n$/);
    assert.deepEqual(await inPostgres(url), await inFile(path));

    const second = await copy();
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /has the same content as .*schema\.db:/);

    const store = await SqliteStore.open(path, handClock());
    await fill(store, 60, 75);
    await store.domains.create({ name: 'lights' });
    const terms = { types: ['Lamp'], attributes: ['power'] };
    const lamp = { domain: 'lights', name: 'Lamp' };
    const example = new Map([['a.json', { text: '{"power":60}', form: 'keyvalues' } as const]]);
    await store.models.create(lamp, SETTINGS, { ...modelVersion('x'), terms }, example);
    const kept = await store.examples.list(lamp, ALL);
    await store.close();
    const third = await cli(['copy', '--json'], { DATABASE_PATH: path, DATABASE_URL: url });
    const report = JSON.parse(third.stdout) as { isChanged: boolean; sha256: string; counts: object };
    assert.equal(report.isChanged, true);
    assert.deepEqual(await inPostgres(url), await inFile(path));

    const copied = await PostgresStore.open(url, { clock: handClock() });
    const found = await copied.models.search({ attribute: 'power' }, ALL);
    assert.deepEqual(column(found.items, 'name'), ['Lamp']);
    assert.deepEqual(await copied.examples.list(lamp, ALL), kept);
    await copied.close();
    const count = async (sql: string) =>
      (await database.query<{ n: number }>(`SELECT (${sql})::int AS n`))[0]?.n;
    const revision = await count('SELECT number FROM revision');
    assert.equal((await copy()).code, 0);
    assert.equal(await count('SELECT number FROM revision'), (revision ?? NaN) + 1);

    // The copy is an ordinary store: it does not reuse ids, and waiting jobs run in the next
    // gateway.
    for (const [table, id] of [
      ...(['domain', 'model', 'context', 'reference'] as const).map((name) => [name, 'id'] as const),
      ['job', 'number'],
    ] as const) {
      const last = `SELECT last_value FROM pg_sequences WHERE sequencename = '${table}_${id}_seq'`;
      assert.equal(await count(last), await count(`SELECT max(${id}) FROM ${table}`), table);
    }
    const grown = await PostgresStore.open(url, { clock: handClock() });
    const places = { takesJobs: true, takesDryRuns: true, takesScans: true, takesLapsed: false };
    const taken = await grown.jobs.take({ holder: 'other', leaseMs: 60_000, broker: undefined, ...places });
    assert.equal(taken?.record.id, 'job');
    await fill(grown, 75, 90);
    await grown.jobs.put(purgeRecord('next', 'running'));
    await grown.close();
    const changed = await inPostgres(url);
    const refused = await copy();
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /contains records that no copy has written, or that were changed since/);
    assert.deepEqual(await inPostgres(url), changed);
  });

  it('copy refuses a target that is not a copy, and leaves it unchanged', async () => {
    const database = await fresh();
    const store = await PostgresStore.open(database.url, { clock: handClock() });
    await store.domains.create({ name: 'theirs' });
    await store.close();
    const { code, stderr } = await cli(['copy', '--from', await filledFile()], {
      DATABASE_URL: database.url,
    });
    assert.equal(code, 1);
    assert.match(stderr, /was left as it was/);
    assert.deepEqual(await database.query('SELECT name FROM domain'), [{ name: 'theirs' }]);
  });

  it('copy refuses everything but SQLite to PostgreSQL, and never shows a password', async () => {
    const { url } = await fresh();
    const path = await filledFile();
    for (const [args, status] of [
      [['copy', '--from', url, '--to', `sqlite:${path}`], 2],
      [['copy', '--from', ':memory:', '--to', url], 2],
      [['copy', '--from', path], 2],
      [['copy', '--from', path, '--to', 'postgres://u:hunter2@h/db?x=y'], 2],
      [['copy', '--from', path, '--to', 'postgres://u:hunter2@127.0.0.1:9/db'], 1],
      [['copy', '--from', `${path}.none`, '--to', url], 2],
      [['migrate', '--database', 'postgres://u:hunter2@127.0.0.1:9/db'], 1],
      [['migrate', '--database', 'sqlite:'], 2],
    ] as const) {
      const { code, stderr, stdout } = await cli(args);
      assert.equal(code, status, `${args.join(' ')}: ${stderr}`);
      assert.equal(stdout, '');
      assert.doesNotMatch(stderr, /hunter2|secret|Unexpected/);
    }
  });

  it('backup refuses PostgreSQL, and suggests pg_dump', async () => {
    const { code, stderr } = await cli(['backup', 'x.dump'], { DATABASE_URL: 'postgres://u:hunter2@h/db' });
    assert.equal(code, 2);
    assert.match(stderr, /pg_dump/);
    assert.doesNotMatch(stderr, /hunter2/);
  });
});
