import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type Database from 'better-sqlite3';
import { formatOf, migrate } from '../../../sidecar/store/sqlite-migrations.js';
import { checkWritable } from '../../../sidecar/store/open-database.js';
import { twoConnections } from './two-connections.js';

function store(t: TestContext): [Database.Database, Database.Database] {
  const connections = twoConnections(t);
  migrate(connections[0], () => {});
  return connections;
}

const sizeOf = (db: Database.Database) => Number(db.pragma('page_count', { simple: true }));

it('the check whether writes work changes nothing, however often it is done', (t) => {
  const [db, other] = store(t);
  const before = [sizeOf(db), formatOf(db)];
  for (let time = 0; time < 5; time += 1) checkWritable(db);
  assert.deepEqual([sizeOf(other), formatOf(other)], before);
  assert.equal(other.prepare('SELECT 1 FROM content').get(), undefined);
});

it('the check whether writes work really writes, so that a full disk is noticed', (t) => {
  const [db, other] = store(t);
  const version = () => other.pragma('data_version', { simple: true });
  const before = version();
  checkWritable(db);
  assert.notEqual(version(), before);
});

it('the check whether writes work fails if the database is locked, full or read-only, and leaves it unchanged', (t) => {
  const [db, other] = store(t);
  db.pragma('busy_timeout = 0');
  other.exec('BEGIN IMMEDIATE');
  assert.throws(() => checkWritable(db), { code: 'SQLITE_BUSY' });
  other.exec('ROLLBACK');

  const pages = sizeOf(db);
  db.pragma(`max_page_count = ${pages}`);
  assert.throws(() => checkWritable(db), { code: 'SQLITE_FULL' });
  db.pragma('max_page_count = 1000000');
  db.pragma('query_only = ON');
  assert.throws(() => checkWritable(db), { code: /^SQLITE_READONLY/ });
  db.pragma('query_only = OFF');

  assert.equal(db.inTransaction, false);
  checkWritable(db);
  assert.equal(sizeOf(other), pages);
});
