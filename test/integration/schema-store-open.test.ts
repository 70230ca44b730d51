import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { DatabaseInUseError } from '../../sidecar/store/errors.js';
import { FIRST_FORMAT, newestFormat } from '../../sidecar/store/formats.js';
import { openDatabase } from '../../sidecar/store/open-database.js';
import { APPLICATION_ID, SQLITE_MIGRATIONS } from '../../sidecar/store/sqlite-migrations.js';
import { backUp, SqliteStore } from '../../sidecar/store/sqlite-store.js';
import {
  ALL,
  dump,
  handClock,
  modelVersion,
  reference,
  refuses,
  SETTINGS,
} from '../support/store-samples.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { words } from '../support/words.js';

const folder = temporaryFolder();
let names = 0;

it('opening a SQLite store creates the file and its directories; opening it again finds the same content', async () => {
  const path = join(folder, 'new', 'deep', 'schema.db');
  const store = await open(path);
  await fill(store);
  const before = await dump(store);
  await store.close();
  assert.deepEqual(readdirSync(join(folder, 'new', 'deep')), ['schema.db'], 'one file when closed');
  const again = await open(path);
  assert.deepEqual(await dump(again), before);
  await again.close();
});

it('only its owner can read a new SQLite store, its write-ahead log and its backup', async () => {
  const path = join(folder, 'private', 'schema.db');
  const store = await open(path);
  await fill(store);
  await backUp(path, `${path}.copy`);
  const modes = readdirSync(dirname(path)).map((name) => [
    name,
    statSync(join(dirname(path), name)).mode & 0o777,
  ]);
  await store.close();
  assert.deepEqual(
    modes,
    words('schema.db schema.db-shm schema.db-wal schema.db.copy').map((name) => [name, 0o600]),
  );
});

it('the write-ahead log shrinks again once a long read that kept it has ended', async () => {
  const path = join(folder, 'log.db');
  const store = await open(path);
  const write = (name: string) =>
    store.references.put(reference(`https://a.example/${name}`, randomBytes(750_000).toString('base64')));
  const logBytes = () => statSync(`${path}-wal`).size;
  const reader = new Database(path);
  reader.exec('BEGIN; SELECT count(*) FROM domain');
  for (let n = 0; n < 24; n += 1) await write(`during/${n}`);
  assert.ok(logBytes() > 20_000_000, 'the log has all that was written during the read');
  reader.exec('COMMIT');
  for (let n = 0; n < 3; n += 1) await write(`after/${n}`);
  assert.ok(logBytes() < 17_000_000, String(logBytes()));
  reader.close();
  await store.close();
});

it('opening a SQLite store accepts an empty file as a new store', async () => {
  const path = fresh();
  writeFileSync(path, '');
  const store = await open(path);
  assert.equal(await store.isReady(), true);
  await store.close();
});

it('opening a SQLite store always uses the given name as a file name, even if it looks like a URI', async () => {
  for (const name of ['file:x?mode=memory', 'a b%20c']) {
    const path = join(folder, name);
    await (await open(path)).close();
    assert.ok(existsSync(path), name);
  }
  await assert.rejects(open(''), { name: 'DatabaseUnusableError' });
});

it('a path that ends with white space names the same store as without it, and meets its lock', async () => {
  const path = join(folder, 'white-space.db');
  const store = await SqliteStore.openAlone(path, handClock());
  await assert.rejects(SqliteStore.openAlone(`${path}\n`, handClock()), DatabaseInUseError);
  await store.close();
});

it('a symbolic link names the same store as its target, and meets its lock', async () => {
  const path = fresh();
  const link = join(folder, 'link.db');
  const store = await SqliteStore.openAlone(path, handClock());
  symlinkSync(path, link);
  await assert.rejects(SqliteStore.openAlone(link, handClock()), DatabaseInUseError);
  await store.close();
  await (await SqliteStore.openAlone(link, handClock())).close();
});

it('opening a SQLite store refuses a file that is not a SQLite database, and does not change it', async () => {
  for (const content of ['{}', 'name,value\n'.repeat(1000), '\0'.repeat(8192), 'SQLite format 3\0']) {
    const path = fresh();
    writeFileSync(path, content);
    await assert.rejects(open(path), {
      name: 'DatabaseUnusableError',
      message: `${path} is not a SQLite database. Name another file, or move this one away to start with an empty store.`,
    });
    assert.equal(readFileSync(path, 'utf8'), content);
  }
});

it('opening a SQLite store refuses the SQLite database of another application, and does not change it', async () => {
  for (const sql of [
    'CREATE TABLE theirs (x)',
    'PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)',
    'PRAGMA application_id = 7',
    'PRAGMA user_version = 1',
  ]) {
    const path = fresh();
    withDatabase(path, (db) => db.exec(sql));
    const before = readFileSync(path);
    await assert.rejects(open(path), { name: 'DatabaseUnusableError' }, sql);
    assert.ok(readFileSync(path).equals(before), sql);
  }
});

it('opening a SQLite store refuses a store that is newer than the program, and does not change it', async () => {
  const path = fresh();
  await (await open(path)).close();
  const newest = newestFormat(SQLITE_MIGRATIONS);
  withDatabase(path, (db) => db.pragma(`user_version = ${newest + 1}`));
  const before = readFileSync(path);
  await assert.rejects(open(path), {
    name: 'DatabaseUnusableError',
    message: new RegExp(
      `has format ${newest + 1}, and this program knows formats up to ${newest}\\. Run the newer program`,
    ),
  });
  assert.ok(readFileSync(path).equals(before));
});

it('opening a SQLite store refuses a store from before the first release with advice, and does not change it', async () => {
  const path = fresh();
  await (await open(path)).close();
  withDatabase(path, (db) => db.pragma(`user_version = ${FIRST_FORMAT - 1}`));
  const before = readFileSync(path);
  const refusal = {
    name: 'DatabaseUnusableError',
    message: `${path} has format 19, which this version no longer reads, and was left as it is. Name a new database. To keep its models, export them with the version that wrote it (ngsi-ld-gateway models export), and import them.`,
  };
  await assert.rejects(open(path), refusal);
  await assert.rejects(backUp(path, fresh()), refusal);
  assert.ok(readFileSync(path).equals(before));
});

it('opening a SQLite store refuses a damaged store', async () => {
  const path = fresh();
  const store = await open(path);
  await fill(store);
  await store.close();
  truncateSync(path, 4096);
  await assert.rejects(open(path), { name: 'DatabaseUnusableError', message: /restore it from a backup/ });

  const hollow = fresh();
  withDatabase(hollow, (db) => {
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${FIRST_FORMAT}`);
  });
  await assert.rejects(open(hollow), { name: 'DatabaseUnusableError', message: /it is incomplete/ });
});

it('opening a SQLite store explains a path that is not a file', async () => {
  const file = fresh();
  writeFileSync(file, '');
  await assert.rejects(open(join(file, 'schema.db')), {
    name: 'DatabaseUnusableError',
    message: /part of its path is a file/,
  });
  const directory = fresh();
  mkdirSync(directory);
  await assert.rejects(open(directory), { name: 'DatabaseUnusableError', message: /it is not a file/ });
});

it('writes to a SQLite store fail without effect while another process keeps a lock, and reads continue', async () => {
  const path = fresh();
  const clock = handClock();
  const store = await SqliteStore.open(path, clock);
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  await refuses(store, 'storeUnavailable', () => store.domains.create({ name: 'energy' }));
  assert.deepEqual(await store.domains.list(ALL), { items: [], total: 0 }, 'reads go on');
  assert.equal(await store.isReady(), false);
  other.exec('ROLLBACK');
  await store.domains.create({ name: 'energy' });
  assert.equal(await store.isReady(), false, 'writes are not tried for every look');
  clock.time += 5000;
  assert.equal(await store.isReady(), true);
  other.close();
  await store.close();
});

it('opening a SQLite store refuses a path where no file can be created, or that is not a regular file', async () => {
  for (const [path, says] of [
    ['/proc/nobody/there/schema.db', /its directory cannot be created/],
    ['/dev/null', /it is not a file/],
  ] as const)
    await assert.rejects(open(path), { name: 'DatabaseUnusableError', message: says });
});

it('opening a SQLite store refuses a read-only file, and a folder without write permission', async () => {
  const path = fresh();
  await (await open(path)).close();
  const directory = fresh();
  mkdirSync(directory);
  chmodSync(folder, 0o755);
  chmodSync(path, 0o444);
  chmodSync(directory, 0o555);
  await asNobody(async () => {
    for (const unwritable of [path, join(directory, 'schema.db'), join(directory, 'new', 'schema.db')])
      await assert.rejects(open(unwritable), {
        name: 'DatabaseUnusableError',
        message: /this user has no permission/,
      });
  });
});

it('opening a SQLite store for one gateway refuses a lock file that it may only read', async () => {
  const path = fresh();
  await (await SqliteStore.openAlone(path, handClock())).close();
  for (const [name, mode] of [
    [path, 0o666],
    [`${path}.lock`, 0o444],
  ] as const)
    chmodSync(name, mode);
  chmodSync(folder, 0o777);
  await asNobody(() =>
    assert.rejects(SqliteStore.openAlone(path, handClock()), {
      name: 'DatabaseUnusableError',
      message: /no permission to write .* a file beside it \(-wal, -shm, \.lock\)/,
    }),
  );
});

it('a SQLite database needs no folder for temporary files: it keeps them in memory', () => {
  const db = openDatabase(fresh());
  assert.equal(db.pragma('temp_store', { simple: true }), 2);
  db.close();
});

it("two SQLite stores on one file show each other's writes", async () => {
  const path = fresh();
  const [one, two] = await Promise.all([open(path), open(path)]);
  await fill(one);
  assert.deepEqual(await dump(two), await dump(one));
  await two.contexts.delete('city');
  await two.domains.delete('energy', { cascade: true });
  await assert.rejects(one.domains.get('energy'), { kind: 'notFound' });
  await one.close();
  await two.close();
});

/** Runs a function without the privileges of root, if this process has them. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

function open(path: string): Promise<SqliteStore> {
  return SqliteStore.open(path, handClock());
}

function fresh(): string {
  return join(folder, `${names++}.db`);
}

function withDatabase(path: string, work: (db: Database.Database) => unknown): void {
  const db = new Database(path);
  work(db);
  db.close();
}

async function fill(store: SqliteStore): Promise<void> {
  await store.domains.create({ name: 'energy' });
  const { content } = (await store.references.put(reference('https://a.example/', '{}'))).reference;
  const references = new Map([['https://a.example/', content.sha256]]);
  const key = { domain: 'energy', name: 'Meter' };
  await store.models.create(key, SETTINGS, modelVersion('a', { references }));
  await store.contexts.create('city', { text: '{}', contexts: new Set(['energy~Meter']) });
}
