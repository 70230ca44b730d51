import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RecordWriter } from '../../../sidecar/jobs/record-keeper.js';
import { LeaseLostError } from '../../../sidecar/store/errors.js';
import {
  isFinal,
  JOB_STATES,
  type JobClaim,
  type JobRecord,
  type PurgeRecord,
  type JobState,
} from '../../../sidecar/store/job-records.js';
import { HandClock } from '../../support/hand-clock.js';
import { recordOf } from '../../support/purge-service.js';
import { purgeOf } from '../../support/store-contract-purges.js';

const record = (id: string, deleted: number, state: JobState = 'running') =>
  recordOf({ id, state, matched: deleted, deleted });

const CLAIM = { lease: 0 };

/** A writer to a store that can be away, on a clock that goes by hand. */
function createWriter() {
  const written: PurgeRecord[] = [];
  const claims: JobClaim[] = [];
  const told: string[] = [];
  const store = { isAway: false, isSilent: false, isTaken: false };
  const clock = new HandClock();
  const keeping = {
    store: {
      put: async (one: JobRecord, _job?: unknown, claim?: JobClaim) => {
        if (store.isAway) throw new Error('away');
        if (store.isTaken) throw new LeaseLostError(one.id);
        if (store.isSilent) await new Promise(() => {});
        written.push(purgeOf(one));
        claims.push(claim ?? CLAIM);
      },
    },
    clock,
    observer: {
      storeAway: () => told.push('away'),
      storeBack: () => told.push('back'),
      recordLost: ({ id }: { readonly id: string }) => told.push(`lost ${id}`),
    },
  };
  const writer = new RecordWriter(keeping, ({ id }) => told.push(`taken ${id}`));
  const lost = () => told.filter((line) => line.startsWith('lost'));
  return { writer, written, claims, told, lost, store, clock };
}

it('the first record of a purge is written at once, and later ones four times a second at most, the latest alone', async () => {
  const { writer, written, clock } = createWriter();
  for (let n = 0; n < 5; n += 1) writer.save(record('p', n), CLAIM);
  await clock.pass(0);
  for (let n = 5; n < 50; n += 1) writer.save(record('p', n), CLAIM);
  await clock.pass(249);
  assert.equal(written.length, 1);
  await clock.pass(1);
  assert.deepEqual(written.map(({ deleted }) => deleted).slice(1), [49]);
  assert.equal(writer.latest('p'), undefined);
});

it('the last record of a purge is written at once, however that ended', async () => {
  for (const state of JOB_STATES) {
    const { writer, written, clock } = createWriter();
    writer.save(record('p', 0), CLAIM);
    await clock.pass(0);
    writer.save(record('p', 7, state), CLAIM);
    await clock.pass(0);
    assert.equal(written.at(-1)?.state, isFinal(state) ? state : 'running');
  }
});

it('records are kept while the store is away, and written when it is back', async () => {
  const { writer, written, told, store, clock } = createWriter();
  store.isAway = true;
  for (const id of ['p', 'q']) writer.save(record(id, 1), CLAIM);
  await clock.pass(500);
  assert.deepEqual([written.length, writer.waiting, told], [0, 2, ['away']]);
  assert.equal(purgeOf(writer.latest('q')).deleted, 1);
  store.isAway = false;
  await clock.pass(250);
  assert.deepEqual([written.length, writer.waiting, told], [2, 0, ['away', 'back']]);
});

it('a purge begins although the store is away, or does not answer within a second; what was stored is not written again', async () => {
  for (const [how, waitMs] of [
    [{}, 0],
    [{ isAway: true }, 0],
    [{ isSilent: true }, 1000],
  ] as const) {
    const { writer, written, store, clock } = createWriter();
    Object.assign(store, how);
    let hasBegun = false;
    void writer.writeNow(record('p', 0), CLAIM).then(() => (hasBegun = true));
    await clock.pass(Math.max(0, waitMs - 1));
    assert.equal(hasBegun, waitMs === 0);
    await clock.pass(1);
    assert.deepEqual([hasBegun, writer.waiting], [true, 'isAway' in how || 'isSilent' in how ? 1 : 0]);
    if (written.length > 0) assert.equal(clock.sleepers, 0, 'nothing waits for it any longer');
  }
});

it('when more than a thousand records wait, those of refused purges are given up first, then the oldest, by name', async () => {
  const { writer, lost, store } = createWriter();
  store.isAway = true;
  for (let n = 0; n < 999; n += 1) writer.save(record(`p${n}`, 1), CLAIM);
  for (const id of ['r1', 'r2', 'r3']) writer.save(record(id, 0, 'refused'), CLAIM);
  for (const id of ['x', 'y', 'z']) writer.save(record(id, 1), CLAIM);
  assert.deepEqual(lost(), ['lost r1', 'lost r2', 'lost r3', 'lost p0', 'lost p1']);
  assert.equal(writer.waiting, 1000);
  await writer.close();
  assert.equal(lost().length, 1005, 'what cannot be written at the end is named as well');
});

it('a record that another process writes now is neither written again nor called lost, at whatever time', async () => {
  const { writer, told, lost, store, clock } = createWriter();
  store.isTaken = true;
  writer.save(record('p', 1), CLAIM);
  await clock.pass(0);
  assert.deepEqual([told, writer.waiting, writer.latest('p')], [['taken p'], 0, undefined]);
  writer.save(record('q', 1), CLAIM);
  await writer.close();
  assert.deepEqual([lost(), writer.waiting], [[], 0]);
});

it('records are written with the claims under which they were saved, on closing too', async () => {
  const { writer, claims, clock } = createWriter();
  void writer.writeNow(record('p', 1), { lease: 1 });
  writer.save(record('p', 2), { lease: 2 });
  await clock.pass(0);
  writer.save(record('p', 3), { lease: 3 });
  await writer.close();
  assert.deepEqual(claims, [{ lease: 1 }, { lease: 2 }, { lease: 3 }]);
});
