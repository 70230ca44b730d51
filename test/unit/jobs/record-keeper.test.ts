import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LivePurge } from '../../../sidecar/jobs/live-purge.js';
import { RecordKeeper } from '../../../sidecar/jobs/record-keeper.js';
import { JobRegistry } from '../../../sidecar/jobs/registry.js';
import { LeaseLostError, UnstorableError } from '../../../sidecar/store/errors.js';
import {
  isFinal,
  JOB_STATES,
  type JobClaim,
  type JobRecord,
  type PurgeRecord,
  type JobState,
} from '../../../sidecar/store/job-records.js';
import { HandClock } from '../../support/hand-clock.js';
import { leaseOf, recordOf } from '../../support/purge-service.js';
import { purgeOf } from '../../support/store-contract-purges.js';

const record = (id: string, deleted: number, state: JobState = 'running') =>
  recordOf({ id, state, matched: deleted, deleted });

const CLAIM = { lease: 0 };

/** Records for a store that can be unavailable, on a clock that only the test moves. */
function createKeeper() {
  const written: PurgeRecord[] = [];
  const claims: JobClaim[] = [];
  const told: string[] = [];
  const store = { isAway: false, isSilent: false, isTaken: false, slow: Promise.resolve() };
  const clock = new HandClock();
  const keeping = {
    store: {
      put: async (one: JobRecord, _job?: unknown, claim?: JobClaim) => {
        if (store.isAway) throw new Error('away');
        if (one.id === 'unstorable') throw new UnstorableError('The database refuses the data.');
        if (store.isTaken) throw new LeaseLostError(one.id);
        if (store.isSilent) await new Promise(() => {});
        await store.slow;
        written.push(purgeOf(one));
        claims.push(claim ?? CLAIM);
      },
    },
    clock,
    observer: {
      storeAway: () => told.push('away'),
      storeBack: () => told.push('back'),
      recordLost: ({ id }: { readonly id: string }) => told.push(`lost ${id}`),
      ended: () => assert.fail('nothing ends here'),
    },
    problemOf: () => assert.fail('nothing fails here'),
  };
  const registry = new JobRegistry(1);
  const keeper = new RecordKeeper(keeping, registry, { noteRefused: () => {} }, () => {});
  const liveOf = (one: PurgeRecord, lease = 0) => new LivePurge(one, leaseOf(lease), clock, () => {});
  const lost = () => told.filter((line) => line.startsWith('lost'));
  return { keeper, registry, liveOf, written, claims, told, lost, store, clock };
}

it('the first record of a purge is written at once, and later only the latest one, four times a second at most', async () => {
  const { keeper, written, clock } = createKeeper();
  for (let n = 0; n < 5; n += 1) keeper.save(record('p', n), CLAIM);
  await clock.pass(0);
  for (let n = 5; n < 50; n += 1) keeper.save(record('p', n), CLAIM);
  await clock.pass(249);
  assert.equal(written.length, 1);
  await clock.pass(1);
  assert.deepEqual(written.map(({ deleted }) => deleted).slice(1), [49]);
  assert.equal(keeper.unwritten('p'), undefined);
});

it('a record that changes while it is being written is written again', async () => {
  const { keeper, written, store, clock } = createKeeper();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  store.slow = promise;
  for (let n = 0; n < 2; n += 1) keeper.save(record('p', n), CLAIM);
  resolve(undefined);
  await clock.pass(250);
  assert.deepEqual(
    written.map(({ deleted }) => deleted),
    [0, 1],
  );
});

it('the last record of a purge is written at once, however the purge ended', async () => {
  for (const state of JOB_STATES) {
    const { keeper, written, clock } = createKeeper();
    keeper.save(record('p', 0), CLAIM);
    await clock.pass(0);
    keeper.save(record('p', 7, state), CLAIM);
    await clock.pass(0);
    assert.equal(written.at(-1)?.state, isFinal(state) ? state : 'running');
  }
});

it('a record that the store never takes does not keep others from being written, and its loss is reported at the end', async () => {
  const { keeper, written, told, clock } = createKeeper();
  keeper.save(record('unstorable', 1), CLAIM);
  keeper.save(record('p', 1), CLAIM);
  await clock.pass(250);
  assert.deepEqual([written.map(({ id }) => id), told], [['p'], []]);
  keeper.save(record('unstorable', 2, 'succeeded'), CLAIM);
  keeper.save(record('p', 2, 'succeeded'), CLAIM);
  await clock.pass(250);
  assert.deepEqual([written.map(({ id }) => id), told, keeper.waiting], [['p', 'p'], ['lost unstorable'], 0]);
});

it('a list waits for the records of jobs that have ended, and at most a second', async () => {
  const { keeper, written, store, clock } = createKeeper();
  await keeper.endsStored();
  keeper.save(record('p', 1), CLAIM);
  keeper.save(record('q', 1, 'refused'), CLAIM);
  await keeper.endsStored();
  assert.deepEqual(
    written.map(({ id }) => id),
    ['p', 'q'],
  );
  store.isSilent = true;
  keeper.save(record('r', 1, 'refused'), CLAIM);
  const waited = keeper.endsStored();
  let isOver = false;
  void waited.then(() => (isOver = true));
  await clock.pass(999);
  assert.equal(isOver, false);
  await clock.pass(1);
  await waited;
});

it('nobody waits for the end of a job while the store is unavailable, or for that of another job', async () => {
  const { keeper, store, clock } = createKeeper();
  store.isAway = true;
  for (const id of ['p', 'q']) keeper.save(record(id, 1, 'refused'), CLAIM);
  await Promise.all([keeper.endsStored(), keeper.endsStored('q')]);
  await clock.pass(0);
  await keeper.endsStored();
  assert.equal(keeper.waiting, 2);
  Object.assign(store, { isAway: false, isSilent: true });
  keeper.save(record('r', 1, 'refused'), CLAIM);
  await keeper.endsStored('s');
});

it('whether the first record of a purge is stored in time is known', async () => {
  for (const [how, isStored] of [
    [{}, true],
    [{ isAway: true }, false],
    [{ isSilent: true }, false],
  ] as const) {
    const { keeper, liveOf, store, clock } = createKeeper();
    Object.assign(store, how);
    const stored = keeper.writeNow(liveOf(record('p', 0)));
    await clock.pass(1000);
    assert.equal(await stored, isStored);
  }
});

it('records are kept while the store is unavailable, and written afterwards', async () => {
  const { keeper, written, told, store, clock } = createKeeper();
  store.isAway = true;
  for (const id of ['p', 'q']) keeper.save(record(id, 1), CLAIM);
  await clock.pass(500);
  assert.deepEqual([written.length, keeper.waiting, told], [0, 2, ['away']]);
  assert.equal(purgeOf(keeper.unwritten('q')).deleted, 1);
  store.isAway = false;
  await clock.pass(250);
  assert.deepEqual([written.length, keeper.waiting, told], [2, 0, ['away', 'back']]);
});

it('a purge starts even if the store is unavailable or does not answer within a second, and stored records are not written again', async () => {
  for (const [how, waitMs] of [
    [{}, 0],
    [{ isAway: true }, 0],
    [{ isSilent: true }, 1000],
  ] as const) {
    const { keeper, liveOf, written, store, clock } = createKeeper();
    Object.assign(store, how);
    let hasBegun = false;
    void keeper.writeNow(liveOf(record('p', 0))).then(() => (hasBegun = true));
    await clock.pass(Math.max(0, waitMs - 1));
    assert.equal(hasBegun, waitMs === 0);
    await clock.pass(1);
    assert.deepEqual([hasBegun, keeper.waiting], [true, 'isAway' in how || 'isSilent' in how ? 1 : 0]);
    if (written.length > 0) assert.equal(clock.sleepers, 0, 'nothing waits for it any longer');
  }
});

it('the end of a purge is written even if its cancellation was still being written', async () => {
  const { keeper, liveOf, written, store, clock } = createKeeper();
  const live = liveOf(record('p', 1));
  store.isSilent = true;
  live.cancel();
  const kept = keeper.keep(live);
  store.isAway = true;
  live.set({ state: 'cancelled' });
  keeper.save(live.record, CLAIM);
  await clock.pass(1000);
  assert.equal((await kept).state, 'cancelling');
  [store.isSilent, store.isAway] = [false, false];
  await clock.pass(1000);
  assert.deepEqual(
    written.map(({ state }) => state),
    ['cancelled'],
  );
});

it('when more than a thousand records wait, those of refused purges are given up first, then the oldest, by name', async () => {
  const { keeper, lost, store } = createKeeper();
  store.isAway = true;
  for (let n = 0; n < 999; n += 1) keeper.save(record(`p${n}`, 1), CLAIM);
  for (const id of ['r1', 'r2', 'r3']) keeper.save(record(id, 0, 'refused'), CLAIM);
  for (const id of ['x', 'y', 'z']) keeper.save(record(id, 1), CLAIM);
  assert.deepEqual(lost(), ['lost r1', 'lost r2', 'lost r3', 'lost p0', 'lost p1']);
  assert.equal(keeper.waiting, 1000);
  await keeper.close();
  assert.equal(lost().length, 1005, 'what cannot be written at the end is named as well');
});

it('closing waits three seconds for a store that hangs, and names the records that were not written', async () => {
  const { keeper, lost, store, clock } = createKeeper();
  store.isSilent = true;
  for (const id of ['p', 'q']) keeper.save(record(id, 1, 'succeeded'), CLAIM);
  await clock.pass(0);
  let isClosed = false;
  void keeper.close().then(() => (isClosed = true));
  await clock.pass(2999);
  assert.deepEqual([isClosed, lost()], [false, []]);
  await clock.pass(1);
  assert.deepEqual([isClosed, lost()], [true, ['lost p', 'lost q']]);
});

it('a record that another process now writes is neither written again nor reported as lost, at whatever time', async () => {
  const { keeper, registry, liveOf, lost, store, clock } = createKeeper();
  store.isTaken = true;
  const live = registry.enter(liveOf(record('p', 1)));
  keeper.save(live.record, CLAIM);
  await clock.pass(0);
  assert.deepEqual([live.lease.isTaken, keeper.waiting, keeper.unwritten('p')], [true, 0, undefined]);
  keeper.save(record('q', 1), CLAIM);
  await keeper.close();
  assert.deepEqual([lost(), keeper.waiting], [[], 0]);
});

it('records are written with the claims with which they were saved, also when closing', async () => {
  const { keeper, liveOf, claims, clock } = createKeeper();
  void keeper.writeNow(liveOf(record('p', 1), 1));
  keeper.save(record('p', 2), { lease: 2 });
  await clock.pass(0);
  keeper.save(record('p', 3), { lease: 3 });
  await keeper.close();
  assert.deepEqual(claims, [{ lease: 1 }, { lease: 2 }, { lease: 3 }]);
});
