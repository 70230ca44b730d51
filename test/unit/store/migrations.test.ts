import assert from 'node:assert/strict';
import { it } from 'node:test';
import Database from 'better-sqlite3';
import { openDatabase } from '../../../sidecar/store/open-database.js';
import { FIRST_FORMAT, newestFormat } from '../../../sidecar/store/formats.js';
import {
  APPLICATION_ID,
  formatOf,
  migrate,
  SQLITE_MIGRATIONS,
} from '../../../sidecar/store/sqlite-migrations.js';
import { twoConnections } from './two-connections.js';
import { DatabaseUnusableError } from '../../../sidecar/store/errors.js';

const unchecked = () => undefined;

it('migrations continue from the format of the database, in order, and mark the database as a store', () => {
  const db = new Database(':memory:');
  const steps = ['CREATE TABLE a (x)', 'ALTER TABLE a RENAME TO b', 'INSERT INTO b VALUES (3)'];
  migrate(db, unchecked, steps.slice(0, 1));
  assert.equal(formatOf(db), FIRST_FORMAT);
  migrate(db, unchecked, steps);
  migrate(db, unchecked, steps);
  assert.equal(formatOf(db), FIRST_FORMAT + 2);
  assert.equal(db.pragma('application_id', { simple: true }), APPLICATION_ID);
  assert.deepEqual(db.prepare('SELECT x FROM b').all(), [{ x: 3 }]);
});

it('migrations of SQLite are applied together, or not at all', () => {
  const db = new Database(':memory:');
  migrate(db, unchecked, ['CREATE TABLE a (x)']);
  const pending = ['', 'CREATE TABLE b (x); INSERT INTO a VALUES (1)', 'CREATE TABLE a (x)'];
  assert.throws(() => migrate(db, unchecked, pending), Database.SqliteError);
  assert.equal(formatOf(db), FIRST_FORMAT);
  assert.deepEqual(tables(db), ['a']);
  assert.deepEqual(db.prepare('SELECT x FROM a').all(), []);
});

it('migrations take the write lock before the check, so that two processes never migrate at once', (t) => {
  const [db, other] = twoConnections(t);
  let wasChecked = false;
  const check = () => {
    assert.throws(() => other.exec('CREATE TABLE mine (x)'), /locked/);
    wasChecked = true;
  };
  migrate(db, check, ['CREATE TABLE a (x)']);
  assert.ok(wasChecked);
  other.exec('CREATE TABLE mine (x)');
});

it('migrations are not applied if the check refuses the database', () => {
  const db = new Database(':memory:');
  const refusal = new Error('refused');
  const refuse = () => {
    assert.ok(db.inTransaction, 'checked under the lock');
    throw refusal;
  };
  assert.throws(() => migrate(db, refuse), refusal);
  assert.deepEqual(tables(db), []);
});

it('a database that another process keeps locked is refused, with the cause and advice', (t) => {
  const [db, other] = twoConnections(t);
  other.exec('BEGIN EXCLUSIVE');
  assert.throws(
    () => openDatabase(db.name),
    (error) => {
      assert.ok(error instanceof DatabaseUnusableError);
      assert.match(error.message, /another process has locked it; stop that process first \(SQLITE_BUSY/);
      assert.ok(error.cause instanceof Database.SqliteError);
      return true;
    },
  );
});

const db = openDatabase(':memory:');

it('the database of a store has strict tables only', () => {
  const list = db.pragma('table_list') as { schema: string; type: string; name: string; strict: 0 | 1 }[];
  const own = list.filter(({ type, name }) => type === 'table' && !name.startsWith('sqlite_'));
  assert.equal(own.length, 22);
  assert.deepEqual(
    own.filter(({ strict }) => strict === 0),
    [],
  );
});

it('the database of a store has an index for every foreign key', () => {
  let looked = 0;
  for (const table of tables(db)) {
    const keys = db.pragma(`foreign_key_list(${table})`) as { id: number; from: string }[];
    for (const id of new Set(keys.map((key) => key.id))) {
      const columns = keys.filter((key) => key.id === id).map(({ from }) => `${from} = 0`);
      const plan = db
        .prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${columns.join(' AND ')}`)
        .all();
      const [{ detail } = { detail: '' }] = plan as { detail: string }[];
      assert.match(detail, /^SEARCH/, `${table}: ${columns.join(', ')}`);
      looked += 1;
    }
  }
  assert.ok(looked > 0);
});

it('the database of a store enforces foreign keys, and syncs each commit to disk', () => {
  assert.equal(db.pragma('foreign_keys', { simple: true }), 1);
  assert.equal(db.pragma('synchronous', { simple: true }), 2);
  assert.equal(formatOf(db), newestFormat(SQLITE_MIGRATIONS));
});

function tables(db: Database.Database): readonly string[] {
  const rows = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return (rows as { name: string }[]).map(({ name }) => name);
}
