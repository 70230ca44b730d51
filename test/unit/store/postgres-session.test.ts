import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { DatabaseError, type PoolClient, type QueryConfig } from 'pg';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import type { PostgresConnections } from '../../../sidecar/store/postgres-connections.js';
import { StatementFailure } from '../../../sidecar/store/postgres-errors.js';
import { PostgresSession } from '../../../sidecar/store/postgres-session.js';
import { all, run, statement } from '../../../sidecar/store/sql-routines.js';
import { handClock } from '../../support/store-samples.js';

const error = (code: string) => Object.assign(new DatabaseError(`refused ${code}`, 1, 'error'), { code });

const INSERT = statement<{ a: number; b: string }>('INSERT INTO x VALUES (@a, @b, @a, now_ms())');
const SELECT = statement<{ a: number }, { readonly n: number }>('SELECT n FROM x WHERE a = @a');

const insert = () => run(INSERT, { a: 1, b: 'two' });

/** A session whose statements are answered by the test, with rows or an error. */
function sessionOf(answer: (text: string, count: number) => unknown = () => undefined) {
  const clock = handClock();
  const sent: string[] = [];
  const configs: QueryConfig[] = [];
  /** For each use of a connection, whether the connection is broken afterwards. */
  const broken: boolean[] = [];
  const client = {
    query: async (what: string | QueryConfig) => {
      const text = typeof what === 'string' ? what : what.text;
      if (typeof what !== 'string') configs.push(what);
      sent.push(text);
      const given = await answer(text, sent.filter((each) => each === text).length);
      if (given instanceof Error) throw given;
      return { rows: given ?? [], rowCount: 1 };
    },
  } as unknown as PoolClient;
  const connections = {
    use: async (work: (client: PoolClient) => Promise<unknown>) => {
      try {
        const result = await work(client);
        broken.push(false);
        return result;
      } catch (reason) {
        broken.push(reason instanceof StatementFailure && reason.isBroken);
        throw reason;
      }
    },
  } as unknown as PostgresConnections;
  return { session: new PostgresSession(connections, clock), clock, sent, configs, broken };
}

const NEXT = 'UPDATE revision SET number = number + 1';
const READ_ONLY = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
const WRITES = 'BEGIN ISOLATION LEVEL READ COMMITTED';
const INSERTED = 'INSERT INTO x VALUES ($1, $2, $1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)';

it('each name of a parameter has one number, and each statement has its own name', async () => {
  const { session, configs } = sessionOf();
  await session.change(insert);
  await session.get(() => all(SELECT, { a: 5 }));
  await session.change(insert);
  const [one, two, again] = configs;
  assert.deepEqual([one?.text, one?.values], [INSERTED, [1, 'two']]);
  assert.deepEqual([two?.text, two?.values], ['SELECT n FROM x WHERE a = $1', [5]]);
  assert.notEqual(one?.name, two?.name);
  assert.equal(one?.name, again?.name);
});

it('the name of a prepared statement comes from its text alone, so another process never gives it to a different one', async () => {
  const { session, configs } = sessionOf();
  await session.get(() => all(statement<{ a: number }>('SELECT n FROM y WHERE a = @a'), { a: 1 }));
  await session.get(() => all(statement<{ b: number }>('SELECT n FROM y WHERE a = @b'), { b: 1 }));
  await session.get(() => all(statement<{ a: number }>('SELECT n FROM z WHERE a = @a'), { a: 1 }));
  const [one, same, other] = configs.map(({ name }) => name);
  assert.equal(one, same);
  assert.notEqual(one, other);
});

it('a write raises the revision first, a change does not, and a single read has no transaction', async () => {
  const { session, sent } = sessionOf();
  await session.write(insert);
  assert.deepEqual(sent.splice(0), [WRITES, NEXT, INSERTED, 'COMMIT']);
  await session.change(insert);
  assert.deepEqual(sent.splice(0), [WRITES, INSERTED, 'COMMIT']);
  await session.read(() => all(SELECT, { a: 1 }));
  assert.deepEqual(sent.splice(0), [READ_ONLY, 'SELECT n FROM x WHERE a = $1', 'COMMIT']);
  await session.get(() => all(SELECT, { a: 1 }));
  assert.deepEqual(sent, ['SELECT n FROM x WHERE a = $1']);
});

it('the check whether writes work writes, and does not change the revision', async () => {
  const { session, sent } = sessionOf();
  await session.checkWritable();
  assert.deepEqual(sent, [WRITES, 'UPDATE write_check SET number = number + 1', 'COMMIT']);
});

for (const code of ['57P01', '25006', '40001', '40P01', '23505'])
  it(`work that fails with ${code} is run again, four times at most`, async () => {
    for (const failures of [3, 4]) {
      const { session, sent, broken } = sessionOf((text, count) =>
        text === INSERTED && count <= failures ? error(code) : undefined,
      );
      const work = session.change(insert);
      if (failures === 3) assert.equal(await work, 1);
      else
        await assert.rejects(work, (reason) => {
          assert.ok(reason instanceof StoreUnavailableError);
          assert.match(reason.message, new RegExp(`^The database failed: refused ${code} \\(${code}\\)\\.$`));
          return true;
        });
      assert.equal(sent.filter((text) => text === INSERTED).length, 4);
      const isLost = code === '57P01' || code === '25006';
      const rollbacks = sent.filter((text) => text === 'ROLLBACK').length;
      assert.equal(rollbacks, isLost ? 0 : failures, 'a connection that is gone takes no more statements');
      assert.deepEqual(
        broken.slice(0, failures),
        Array.from({ length: failures }, () => isLost),
      );
    }
  });

it('work that PostgreSQL refuses for another reason is rolled back, and not run again', async () => {
  const { session, sent } = sessionOf((text) => (text === INSERTED ? error('53100') : undefined));
  await assert.rejects(session.change(insert), { kind: 'storeUnavailable', message: /\(53100\)/ });
  assert.deepEqual(sent, [WRITES, INSERTED, 'ROLLBACK']);
});

it('work that throws is rolled back, and its error is passed on unchanged', async () => {
  const failure = new Error('not allowed');
  const { session, sent } = sessionOf();
  const work = session.change(function* () {
    yield* insert();
    throw failure;
  });
  await assert.rejects(work, failure);
  assert.deepEqual(sent, [WRITES, INSERTED, 'ROLLBACK']);
});

it('a write whose commit got no answer is not repeated, and is reported as unknown', async () => {
  const cause = new Error('Connection terminated unexpectedly');
  const { session, sent, broken } = sessionOf((text) => (text === 'COMMIT' ? cause : undefined));
  await assert.rejects(session.write(insert), (reason) => {
    assert.ok(reason instanceof StoreUnavailableError);
    assert.match(reason.message, /it is not known whether the write took effect/);
    assert.equal(reason.cause, cause);
    return true;
  });
  assert.deepEqual([sent, broken], [[WRITES, NEXT, INSERTED, 'COMMIT'], [true]]);
});

it('a write whose commit was refused because of another writer is run again', async () => {
  const { session, sent } = sessionOf((text, count) =>
    text === 'COMMIT' && count === 1 ? error('40001') : undefined,
  );
  await session.change(insert);
  assert.equal(sent.filter((text) => text === INSERTED).length, 2);
});

it('a process runs one write at a time, in order, and changes do not wait for writes', async () => {
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => (answer = resolve));
  const { session, sent } = sessionOf((text, count) =>
    text === NEXT && count === 1 ? isAnswered : undefined,
  );
  const writes = Promise.all([session.write(insert), session.write(insert)]);
  await session.change(insert);
  const count = (text: string) => sent.filter((each) => each === text).length;
  assert.deepEqual([count(NEXT), count(INSERTED), count('COMMIT')], [1, 1, 1]);
  answer();
  await writes;
  assert.deepEqual([count(NEXT), count(INSERTED), count('COMMIT')], [2, 3, 3]);
});

it('a thousand writes may wait, and one more fails at once', async () => {
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => (answer = resolve));
  const { session } = sessionOf((text, count) => (text === NEXT && count === 1 ? isAnswered : undefined));
  const writes = [session.write(insert)];
  await turn();
  for (let count = 0; count < 1000; count += 1) writes.push(session.write(insert));
  await assert.rejects(session.write(insert), /Too many writes are waiting/);
  answer();
  assert.equal((await Promise.all(writes)).length, 1001);
});

it('a write that has waited for more than five seconds is not started', async () => {
  for (const [waitedMs, isDone] of [
    [5000, true],
    [5001, false],
  ] as const) {
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    const { session, clock, sent } = sessionOf((text, count) =>
      text === NEXT && count === 1 ? isAnswered : undefined,
    );
    const first = session.write(insert);
    const second = session.write(insert).then(
      () => true,
      (reason: unknown) => {
        assert.ok(reason instanceof StoreUnavailableError);
        return false;
      },
    );
    await turn();
    clock.time += waitedMs;
    answer();
    await first;
    assert.equal(await second, isDone);
    assert.equal(sent.filter((text) => text === NEXT).length, isDone ? 2 : 1);
  }
});
