import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { LeaseLostError } from '../../sidecar/store/errors.js';
import { backUp, SqliteStore } from '../../sidecar/store/sqlite-store.js';
import { purgeRecord } from '../support/store-contract-purges.js';
import { dump, handClock } from '../support/store-samples.js';
import { takeStep } from '../support/store-steps.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();
let names = 0;

it('a backup of a SQLite store is a consistent state, although writes continue', async () => {
  const path = fresh();
  const store = await filled(path, 30);
  const before = await dump(store);
  const target = fresh();
  const backup = backUp(path, target);
  await takeStep(store, 30);
  await takeStep(store, 31);
  await backup;
  const after = await dump(store);
  await store.close();
  const found = await contents(target);
  assert.ok([before, after].some((state) => isDeepStrictEqual(state, found)));
  assert.deepEqual(readdirSync(dirname(target)), [basename(target)], 'one file');
});

it('a backup can be made of a SQLite file that another process has open, or that a crash left behind', async () => {
  const path = fresh();
  const store = await filled(path, 20);
  const before = await dump(store);
  const target = fresh();
  await backUp(path, target);
  assert.deepEqual(await contents(target), before);

  const left = fresh();
  copyFileSync(path, left);
  copyFileSync(`${path}-wal`, `${left}-wal`);
  await store.close();
  await backUp(left, `${left}.copy`);
  assert.deepEqual(await contents(`${left}.copy`), before);
});

it('a lease that the database forgot, as after a failover or a restore, has not the number of a later one', async () => {
  const [path, restored] = [fresh(), fresh()];
  const store = await filled(path, 1);
  await store.jobs.add(purgeRecord('a', 'queued'), { headers: {} }, 1);
  await backUp(path, restored);
  const again = await SqliteStore.open(restored, handClock());
  const options = {
    leaseMs: 1000,
    takesJobs: true,
    takesDryRuns: true,
    takesScans: true,
    takesLapsed: false,
  };
  const forgotten = await store.jobs.take({ holder: 'one', ...options });
  const later = await again.jobs.take({ holder: 'two', ...options });
  assert.deepEqual([forgotten?.record.id, later?.record.id], ['a', 'a']);
  assert.notEqual(later?.lease, forgotten?.lease);
  await assert.rejects(
    again.jobs.put(purgeRecord('a', 'succeeded'), undefined, { lease: forgotten?.lease ?? 0 }),
    LeaseLostError,
  );
  await Promise.all([store.close(), again.close()]);
});

it('a backup of a SQLite store overwrites no file, neither a complete one nor a partial one', async () => {
  const path = fresh();
  const store = await filled(path, 3);
  const target = fresh();
  writeFileSync(target, '');
  const refused = {
    name: 'DatabaseUnusableError',
    message: `${target} already exists, and was not overwritten.`,
  };
  await assert.rejects(backUp(path, target), refused);
  assert.equal(readFileSync(target, 'utf8'), '');

  rmSync(target);
  writeFileSync(`${target}.partial`, 'x');
  await assert.rejects(backUp(path, target), {
    name: 'DatabaseUnusableError',
    message: /partial already exists: another backup is running, or was interrupted/,
  });
  assert.equal(readFileSync(`${target}.partial`, 'utf8'), 'x');
  assert.equal(existsSync(target), false);
  await store.close();
});

it('a backup of a SQLite store that fails leaves no files behind', async () => {
  const path = fresh();
  await (await filled(path, 3)).close();
  const target = fresh();
  const backup = backUp(path, target);
  mkdirSync(target);
  await assert.rejects(backup, { name: 'DatabaseUnusableError' });
  assert.deepEqual(readdirSync(dirname(target)), [basename(target)]);
  await assert.rejects(backUp(path, join(target, 'no', 'such.db')), {
    name: 'DatabaseUnusableError',
    message: /ENOENT/,
  });
});

it('a backup to or of a pipe, a device or a folder is refused at once, and creates nothing', async () => {
  const path = fresh();
  await (await filled(path, 1)).close();
  const [pipe, parent] = [fresh(), dirname(path)];
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  for (const other of [pipe, '/dev/null', parent]) {
    await assert.rejects(backUp(path, other), {
      name: 'DatabaseUnusableError',
      message: `${other} is not a file. Name a new file for the backup.`,
    });
    await assert.rejects(backUp(other, fresh()), {
      name: 'DatabaseUnusableError',
      message: `${other} cannot be used as a database: it is not a file.`,
    });
  }
  assert.deepEqual(readdirSync(dirname(pipe)), [basename(pipe)]);
});

it('a backup of a file that is not a store is refused, and creates nothing', async () => {
  const target = fresh();
  const path = fresh();
  await assert.rejects(backUp(path, target), {
    name: 'DatabaseUnusableError',
    message: `The database ${path} does not exist.`,
  });
  await assert.rejects(backUp(join(path, 'deeper.db'), target), { name: 'DatabaseUnusableError' });
  assert.equal(existsSync(path), false);
  writeFileSync(path, '');
  await assert.rejects(backUp(path, target), { name: 'DatabaseUnusableError' });
  writeFileSync(path, 'text');
  await assert.rejects(backUp(path, target), { name: 'DatabaseUnusableError' });
  assert.deepEqual(readdirSync(dirname(target)), []);
});

async function filled(path: string, steps: number): Promise<SqliteStore> {
  const store = await SqliteStore.open(path, handClock());
  for (let n = 0; n < steps; n++) await takeStep(store, n);
  return store;
}

async function contents(path: string): Promise<unknown> {
  const store = await SqliteStore.open(path, handClock());
  const found = await dump(store);
  await store.close();
  return found;
}

/** Returns a path in a new folder. */
function fresh(): string {
  const own = join(folder, String(names++));
  mkdirSync(own);
  return join(own, 'schema.db');
}
