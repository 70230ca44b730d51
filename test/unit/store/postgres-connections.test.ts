import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { Pool } from 'pg';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import { PostgresConnections } from '../../../sidecar/store/postgres-connections.js';
import { StatementFailure } from '../../../sidecar/store/postgres-errors.js';
import { handClock } from '../../support/store-samples.js';

const failed = (code: string, message = code) => Object.assign(new Error(message), { code });

/** Connections of a pool that never reaches a server: the test decides the outcome of each attempt. */
function connectionsOf(t: TestContext, random = () => 1) {
  const clock = handClock();
  const state = {
    attempts: 0,
    prepared: 0,
    ends: 0,
    waiting: 0,
    connections: 0,
    /** The most connections that the pool makes, at each attempt. */
    limits: [] as unknown[],
    failures: [] as Error[],
    preparing: [] as Error[],
  };
  /** For each connection that was given back, whether to close it. */
  const released: unknown[] = [];
  const told: string[] = [];
  t.mock.method(Pool.prototype, 'connect', async function (this: Pool) {
    state.attempts += 1;
    state.limits.push(this.options.max);
    const failure = state.failures.shift();
    if (failure !== undefined) throw failure;
    return { release: (end: unknown) => released.push(end) };
  });
  t.mock.method(Pool.prototype, 'end', async () => void (state.ends += 1));
  t.mock.getter(Pool.prototype, 'waitingCount', () => state.waiting);
  t.mock.getter(Pool.prototype, 'totalCount', () => state.connections);
  const connections = new PostgresConnections({
    config: {},
    clock,
    random,
    prepare: async () => {
      state.prepared += 1;
      const failure = state.preparing.shift();
      if (failure !== undefined) throw failure;
    },
    onAway: (error) => told.push(`away ${error instanceof Error ? error.message : ''}`),
    onBack: () => told.push('back'),
  });
  const use = () => connections.use(async () => 'done');
  const refusal = async () => {
    const error: unknown = await use().then(
      () => assert.fail('it worked'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof StoreUnavailableError, String(error));
    return error;
  };
  return { connections, clock, state, released, told, use, refusal };
}

it('a connection is given back after its work, and closed if it is no longer usable', async (t) => {
  const { connections, released } = connectionsOf(t);
  assert.equal(await connections.use(async () => 7), 7);
  for (const error of [
    new Error('of the work'),
    new StatementFailure(failed('x'), 'failed'),
    new StatementFailure(failed('x'), 'conflict'),
    new StatementFailure(failed('x'), 'lost'),
    new StatementFailure(failed('x'), 'unknown'),
  ])
    await assert.rejects(
      connections.use(() => Promise.reject(error)),
      error,
    );
  assert.deepEqual(released, [false, false, false, false, true, true]);
});

it('the database is prepared once, and again after each outage', async (t) => {
  const { state, clock, use, refusal } = connectionsOf(t);
  await Promise.all([use(), use()]);
  await use();
  assert.equal(state.prepared, 1);
  state.failures.push(failed('ECONNREFUSED'));
  await refusal();
  clock.time += 10_000;
  await use();
  await use();
  assert.equal(state.prepared, 2);
});

it('a connection on which preparing the database failed is closed, and the database counts as unavailable', async (t) => {
  const { state, clock, released, told, use, refusal } = connectionsOf(t);
  const failure = failed('42501', 'permission denied');
  state.preparing.push(failure);
  assert.equal((await refusal()).cause, failure);
  assert.deepEqual([released, told], [[true], ['away permission denied']]);
  clock.time += 10_000;
  await use();
  assert.deepEqual([state.prepared, told.at(-1)], [2, 'back']);
});

it('an unavailable database is not asked again until the end of a pause, which doubles up to two seconds', async (t) => {
  const { state, clock, told, use, refusal } = connectionsOf(t);
  state.failures = Array.from({ length: 8 }, () => failed('ECONNREFUSED'));
  await refusal();
  for (const pauseMs of [100, 200, 400, 800, 1600, 2000, 2000]) {
    const { attempts } = state;
    clock.time += pauseMs - 1;
    assert.equal(((await refusal()).cause as Error).message, 'ECONNREFUSED');
    assert.equal(state.attempts, attempts, `within ${String(pauseMs)} ms`);
    clock.time += 1;
    await refusal();
    assert.equal(state.attempts, attempts + 1, `after ${String(pauseMs)} ms`);
  }
  assert.deepEqual(told, ['away ECONNREFUSED']);
  clock.time += 2000;
  await use();
  await use();
  assert.deepEqual(told, ['away ECONNREFUSED', 'back']);
  // The next outage begins with a short pause.
  state.failures.push(failed('ECONNREFUSED'));
  await refusal();
  clock.time += 100;
  await use();
});

it('a database that recovers is used at the end of the pause, even if the clock was set back in the meantime', async (t) => {
  const { state, clock, use, refusal } = connectionsOf(t);
  state.failures.push(failed('ECONNREFUSED'));
  await refusal();
  clock.time += 100;
  const nowMs = clock.time - 3_600_000;
  clock.now = () => nowMs;
  assert.equal(await use(), 'done');
});

it('a pause is shortened at random by up to a half, so that processes do not ask an unavailable database at the same time', async (t) => {
  const { state, clock, use, refusal } = connectionsOf(t, () => 0);
  state.failures.push(failed('ECONNREFUSED'));
  await refusal();
  clock.time += 49;
  await refusal();
  clock.time += 1;
  await use();
});

it('attempts that fail at the same time cause a single pause', async (t) => {
  const { state, clock, told, use, refusal } = connectionsOf(t);
  state.failures = Array.from({ length: 5 }, () => failed('ECONNREFUSED'));
  await Promise.all([1, 2, 3, 4, 5].map(() => refusal()));
  assert.equal(told.length, 1);
  clock.time += 100;
  await use();
});

it('a connection that was cut while being made is retried at once, but not while the database is unavailable', async (t) => {
  const { state, clock, told, use, refusal } = connectionsOf(t);
  state.failures = [failed('ECONNRESET')];
  await use();
  assert.deepEqual([state.attempts, told], [2, []]);
  state.failures = [failed('ECONNREFUSED')];
  await refusal();
  assert.equal(state.attempts, 3, 'one that was refused is not');
  clock.time += 100;
  state.failures = [failed('ECONNRESET')];
  await refusal();
  assert.equal(state.attempts, 4);
});

it('work that finds all connections in use fails without marking the database as unavailable', async (t) => {
  const { state, told, use, refusal } = connectionsOf(t);
  state.failures = [new Error('timeout exceeded when trying to connect')];
  assert.match((await refusal()).message, /All connections .* in use/);
  state.waiting = 1000;
  assert.match((await refusal()).message, /All connections .* in use/);
  assert.equal(state.attempts, 1);
  state.waiting = 999;
  await use();
  assert.deepEqual([state.attempts, told], [2, []]);
});

it('work waits for one of the connections there are if the server allows no more, and a minute later more are tried', async (t) => {
  const { state, clock, told, use, refusal } = connectionsOf(t);
  state.connections = 4;
  state.failures = [failed('53300')];
  assert.equal(await use(), 'done');
  clock.time += 59_999;
  await use();
  clock.time += 1;
  await use();
  assert.deepEqual([state.limits, told], [[10, 4, 4, 10], []]);
  state.connections = 0;
  state.failures = [failed('53300')];
  await refusal();
  assert.equal(told.length, 1, 'without any connection, the database is unavailable');
});

it('closed connections accept no more work, and the pool is ended once', async (t) => {
  const { connections, state, refusal } = connectionsOf(t);
  await Promise.all([connections.close(), connections.close()]);
  assert.match((await refusal()).message, /closed/);
  assert.deepEqual([state.ends, state.attempts], [1, 0]);
});
