import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import { SqliteSession } from '../../../sidecar/store/sqlite-session.js';
import { all, statement, versionParameter, type SqlRoutine } from '../../../sidecar/store/sql-routines.js';
import { systemClock, type Clock } from '../../../sidecar/shared/clock.js';
import { handClock } from '../../support/store-samples.js';
import { twoConnections } from './two-connections.js';

function open(t: TestContext, clock: Clock = systemClock) {
  const [db, other] = twoConnections(t);
  db.pragma('busy_timeout = 0');
  db.exec('CREATE TABLE a (x)');
  const count = () => db.prepare<[], number>('SELECT count(*) FROM a').pluck().get();
  return { db, other, count, clock, session: new SqliteSession(db, clock) };
}

const INSERT = 'INSERT INTO a VALUES (1)';

/** Work without statements of its own. */
function* doing<T>(effect: () => T): SqlRoutine<T> {
  yield* [];
  return effect();
}

it('a write session holds the write lock from its first read on', async (t) => {
  const { other, count, session } = open(t);
  await session.write(() =>
    doing(() => {
      assert.throws(() => other.exec(INSERT), /locked/);
      assert.equal(count(), 0);
    }),
  );
  other.exec(INSERT);
  assert.equal(count(), 1);
});

it('a session writes nothing into a database file that was removed or replaced, and reports it', async (t) => {
  const { db, count, session } = open(t);
  db.exec('CREATE TABLE content (sha256, size, text)');
  const insert = () => session.write(() => doing(() => db.exec(INSERT)));
  const refusal = { name: 'StoreUnavailableError', message: /file was removed or replaced/ };
  renameSync(db.name, `${db.name}.aside`);
  await assert.rejects(insert(), refusal);
  await assert.rejects(session.checkWritable(), refusal);
  writeFileSync(db.name, '');
  await assert.rejects(insert(), refusal);
  await assert.rejects(session.checkWritable(), refusal);
  renameSync(`${db.name}.aside`, db.name);
  await session.checkWritable();
  await insert();
  assert.equal(count(), 1);
});

it('a session fails at once with an error that is not of a lock', async (t) => {
  const { db, session, clock } = open(t, handClock());
  const startedMs = clock.now();
  const write = session.write(() =>
    doing(() => {
      throw new Database.SqliteError('disk full', 'SQLITE_FULL');
    }),
  );
  await assert.rejects(write, { name: 'StoreUnavailableError', message: /disk full \(SQLITE_FULL\)/ });
  await assert.rejects(
    session.get(() => doing(() => db.exec('SELECT nothing FROM nowhere'))),
    { name: 'StoreUnavailableError' },
  );
  assert.equal(clock.now(), startedMs);
});

it('a read session sees a single state of the database, and does not block writes in the meantime', async (t) => {
  const { other, count, session } = open(t);
  await session.read(() =>
    doing(() => {
      assert.equal(count(), 0);
      other.exec(INSERT);
      assert.equal(count(), 0);
    }),
  );
  assert.equal(count(), 1);
});

it('a write session writes all of its work or nothing', async (t) => {
  const { db, count, session } = open(t);
  const failure = new Error('midway');
  const work = () => {
    db.exec(INSERT);
    throw failure;
  };
  await assert.rejects(
    session.write(() => doing(work)),
    failure,
  );
  assert.equal(count(), 0);
});

it('the revision of a session changes with each write, by itself or by others, and not otherwise', async (t) => {
  const { db, other, session } = open(t);
  const seen = new Set([await session.revision()]);
  assert.equal(await session.revision(), [...seen][0]);
  await session.read(() => doing(() => 1));
  assert.equal(await session.revision(), [...seen][0]);
  for (let round = 1; round <= 3; round += 1) {
    await session.write(() => doing(() => db.exec(INSERT)));
    seen.add(await session.revision());
    other.exec(INSERT);
    seen.add(await session.revision());
    assert.equal(seen.size, 1 + 2 * round);
  }
});

it('a session makes one write in each turn of the event loop, in order', async (t) => {
  const { db, session } = open(t);
  const order: number[] = [];
  const writes = [1, 2, 3, 4].map((number) =>
    session.write(() =>
      doing(() => {
        order.push(number);
        db.exec(INSERT);
      }),
    ),
  );
  while (order.length < writes.length) {
    const done = order.length;
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(order.length <= done + 1, `${order.length - done} writes in a turn`);
  }
  await Promise.all(writes);
  assert.deepEqual(order, [1, 2, 3, 4]);
});

it('a session waits for the lock of another connection without blocking the event loop, and writes in order', async (t) => {
  const { db, other, count, session } = open(t);
  other.exec('BEGIN IMMEDIATE');
  const order: number[] = [];
  const writes = [1, 2, 3].map((number) =>
    session.write(() =>
      doing(() => {
        order.push(number);
        db.exec(INSERT);
      }),
    ),
  );
  // The event loop turns while the writes wait, and reads continue.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await session.read(() => doing(count)), 0);
  assert.deepEqual(order, []);
  other.exec('ROLLBACK');
  await Promise.all(writes);
  assert.deepEqual([order, count()], [[1, 2, 3], 3]);
});

it('a session gives up on a lock after five seconds, together with all waiting writes', async (t) => {
  const { other, session, clock, db } = open(t, handClock());
  other.exec('BEGIN IMMEDIATE');
  const startedMs = clock.now();
  const writes = Array.from({ length: 20 }, () => session.write(() => doing(() => db.exec(INSERT))));
  for (const end of await Promise.allSettled(writes))
    assert.ok(end.status === 'rejected' && end.reason instanceof StoreUnavailableError);
  const waitedMs = clock.now() - startedMs;
  assert.ok(waitedMs >= 5000 && waitedMs < 6000, `${waitedMs} ms`);
});

it('a session reports within two seconds that it cannot write, however many writes wait', async (t) => {
  const { other, session, clock, db } = open(t, handClock());
  other.exec('BEGIN IMMEDIATE');
  const startedMs = clock.now();
  const writes = Array.from({ length: 20 }, () => session.write(() => doing(() => db.exec(INSERT))));
  const ended = Promise.allSettled(writes);
  await assert.rejects(session.checkWritable(), StoreUnavailableError);
  assert.ok(clock.now() - startedMs < 2000);
  other.exec('ROLLBACK');
  for (const { status } of await ended) assert.equal(status, 'fulfilled');
});

it('the revision of a session does not change while a write waits', async (t) => {
  const { other, session, db } = open(t);
  const before = await session.revision();
  other.exec('BEGIN IMMEDIATE');
  const write = session.write(() => doing(() => db.exec(INSERT)));
  assert.equal(await session.revision(), before);
  other.exec('ROLLBACK');
  await write;
  assert.notEqual(await session.revision(), before);
});

it('any number of writes wait for each other while no other process holds the lock', async (t) => {
  const { session, db, count } = open(t, handClock());
  const refusal = new Error('refused');
  const refused = session.write(() =>
    doing(() => {
      throw refusal;
    }),
  );
  await assert.rejects(refused, refusal);
  const writes = Array.from({ length: 1500 }, () => session.write(() => doing(() => db.exec(INSERT))));
  await Promise.all(writes);
  assert.equal(count(), 1500);
});

it('a session refuses a write at once if a thousand writes wait for a lock', async (t) => {
  const { other, session, clock, db } = open(t, handClock());
  other.exec('BEGIN IMMEDIATE');
  await assert.rejects(session.write(() => doing(() => db.exec(INSERT))));
  const writes = Array.from({ length: 1000 }, () => session.write(() => doing(() => db.exec(INSERT))));
  const ended = Promise.allSettled(writes);
  const startedMs = clock.now();
  await assert.rejects(
    session.write(() => doing(() => db.exec(INSERT))),
    StoreUnavailableError,
  );
  assert.equal(clock.now(), startedMs);
  other.exec('ROLLBACK');
  assert.deepEqual([...new Set((await ended).map(({ status }) => status))], ['fulfilled']);
});

it('a session reports errors of SQLite and its own closing as an unavailable store', async (t) => {
  const { db, session } = open(t);
  await assert.rejects(
    session.get(() => doing(() => db.exec('SELECT nothing FROM nowhere'))),
    StoreUnavailableError,
  );
  db.close();
  for (const how of ['get', 'read', 'write'] as const)
    await assert.rejects(
      session[how](() => doing(() => 1)),
      /closed/,
    );
});

it('the parameter of a version is null for the current version, and matches nothing if it is not an integer', () => {
  assert.deepEqual([undefined, 1, 7, 1.5, Number.NaN, Infinity].map(versionParameter), [null, 1, 7, 0, 0, 0]);
});

it('a statement that joins tables is compiled once, not for each execution', async (t) => {
  const { db, session } = open(t);
  db.exec('CREATE TABLE b (id INTEGER PRIMARY KEY, name TEXT)');
  const joins = Array.from({ length: 8 }, (_, n) => `JOIN b AS b${n} ON b${n}.id = b.id`).join(' ');
  const join = statement<{ name: string }, object>(`SELECT b.id FROM b ${joins} WHERE b.name = @name`);
  const compiledMs = await leastMs(() => db.prepare(join.sql));
  const executedMs = await leastMs(() => session.get(() => all(join, { name: 'x' })));
  assert.ok(executedMs < compiledMs / 2, `${executedMs} ms, and compiling it takes ${compiledMs} ms`);
});

/** Returns the shortest of many times, which the load of the machine affects least. */
async function leastMs(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 300; run += 1) {
    const startedMs = performance.now();
    await work();
    times.push(performance.now() - startedMs);
  }
  return Math.min(...times);
}
