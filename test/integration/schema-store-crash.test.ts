import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import { SqliteStore } from '../../sidecar/store/sqlite-store.js';
import { dump, handClock } from '../support/store-samples.js';
import { takeStep } from '../support/store-steps.js';
import { programBeside } from '../support/project.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();

it('after kill -9, a SQLite store has every acknowledged write, and at most the next one as a whole', async () => {
  const path = join(folder, 'killed.db');
  let written = 0;
  for (const lines of [10, 45]) {
    const answered = await writeUntilKilled(path, written, lines);
    assert.ok(answered >= lines);
    written = await countWrites(path, written + answered, written + answered + 1);
  }
});

it('after a crash, a SQLite store has the state after one of its writes, however much of its log was on disk', async () => {
  const path = join(folder, 'cut.db');
  const store = await SqliteStore.open(path, handClock());
  for (let n = 0; n < 40; n++) await takeStep(store, n);
  const { size } = statSync(`${path}-wal`);
  let last = 0;
  const seen = new Set<number>();
  for (let cut = 0; cut <= 20; cut++) {
    const copy = join(folder, `cut-${cut}.db`);
    copyFileSync(path, copy);
    copyFileSync(`${path}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, Math.floor((size * cut) / 20));
    last = await countWrites(copy, last, 40);
    seen.add(last);
  }
  assert.equal(last, 40);
  assert.ok(seen.size > 10, 'the cuts fell between different writes');
  await store.close();
});

/**
 * Makes another process write from a step on, and kills it after that many acknowledged writes.
 * @returns how many writes it acknowledged
 */
async function writeUntilKilled(path: string, first: number, lines: number): Promise<number> {
  const writer = programBeside('schema-store-writer', import.meta.url);
  const child = spawn(process.execPath, [...writer, path, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let answered = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    assert.equal(line, String(first + answered));
    answered += 1;
    if (answered === lines) child.kill('SIGKILL');
  }
  assert.deepEqual(await closed, [null, 'SIGKILL']);
  return answered;
}

/**
 * Asserts that a store is intact and has exactly the state after n steps, with n between the
 * bounds.
 * @returns n
 */
async function countWrites(path: string, least: number, most: number): Promise<number> {
  const store = await SqliteStore.open(path, handClock());
  const found = await dump(store);
  await store.close();
  const db = new Database(path, { readonly: true });
  assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(db.pragma('foreign_key_check'), []);
  const orphans = 'SELECT count(*) FROM content WHERE sha256 NOT IN (SELECT sha256 FROM named_content)';
  assert.equal(db.prepare(orphans).pluck().get(), 0);
  db.close();

  const replay = await SqliteStore.open(':memory:', handClock());
  for (let n = 0; n < least; n++) await takeStep(replay, n);
  for (let n = least; n <= most; n++) {
    if (isDeepStrictEqual(found, await dump(replay))) return n;
    await takeStep(replay, n);
  }
  return assert.fail(`the store is not as after ${least} to ${most} writes`);
}
