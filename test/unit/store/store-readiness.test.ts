import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SqlStore } from '../../../sidecar/store/sql-store.js';
import type { SqlSession } from '../../../sidecar/store/sql-routines.js';
import { handClock } from '../../support/store-samples.js';

/** A store whose database can be read and written as the test says, with counts of its write checks and revision lookups. */
function storeOf() {
  const clock = handClock();
  const state = { reads: true, writes: true, checks: 0, looks: 0 };
  const unexpected = () => Promise.reject(new Error('not asked for here'));
  const session: SqlSession = {
    clock,
    read: unexpected,
    write: unexpected,
    change: unexpected,
    get: async () => {
      if (!state.reads) throw new Error('no reads');
      return undefined as never;
    },
    revision: async () => {
      state.looks += 1;
      if (!state.reads) throw new Error('no reads');
      return String(state.looks);
    },
    checkWritable: async () => {
      state.checks += 1;
      if (!state.writes) throw new Error('no writes');
    },
  };
  class TestStore extends SqlStore {
    override listen(): void {}
    override async close(): Promise<void> {}
  }
  return { store: new TestStore(session), clock, state };
}

it('a store is ready only if its database can be both read and written', async () => {
  for (const [reads, writes] of [
    [true, true],
    [false, true],
    [true, false],
  ] as const) {
    const { store, state } = storeOf();
    Object.assign(state, { reads, writes });
    assert.equal(await store.isReady(), reads && writes);
  }
});

it('a store checks whether writes work once in five seconds, however many callers ask', async () => {
  const { store, clock, state } = storeOf();
  assert.deepEqual(await Promise.all([store.isReady(), store.isReady()]), [true, true]);
  assert.equal(state.checks, 1);
  state.writes = false;
  clock.time += 4999;
  assert.equal(await store.isReady(), true);
  clock.time += 1;
  assert.deepEqual([await store.isReady(), state.checks], [false, 2]);
  state.writes = true;
  clock.time += 4999;
  assert.equal(await store.isReady(), false);
  clock.time += 1;
  assert.equal(await store.isReady(), true);
});

it('callers in the same turn share one lookup of the revision, and later callers get a new one, also after a failure', async () => {
  const { store, state } = storeOf();
  assert.deepEqual(await Promise.all([store.revision(), store.revision()]), ['1', '1']);
  assert.equal(await store.revision(), '2');
  state.reads = false;
  await assert.rejects(store.revision(), /no reads/);
  state.reads = true;
  assert.equal(await store.revision(), '4');
});
