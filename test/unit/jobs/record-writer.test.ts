import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecordWriter } from '../../../sidecar/jobs/record-writer.js';
import { LeaseLostError } from '../../../sidecar/store/errors.js';
import {
  isFinal,
  PURGE_STATES,
  type PurgeRecord,
  type PurgeState,
} from '../../../sidecar/store/purge-records.js';
import type { Clock } from '../../../sidecar/shared/clock.js';
import { recordOf } from '../../support/purge-service.js';

const record = (id: string, deleted: number, state: PurgeState = 'running') =>
  recordOf({ id, state, matched: deleted, deleted });

const CLAIM = { lease: 0 };

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A writer to a store that can be away, on a clock whose sleeps end by hand. */
function createWriter() {
  const written: PurgeRecord[] = [];
  const told: string[] = [];
  const sleeps: number[] = [];
  const store = { isAway: false, isSilent: false, isTaken: false };
  /** Of the sleeps that were given up. */
  const woken: number[] = [];
  let wake = () => {};
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleeps.push(ms);
        wake = resolve;
        const stop = () => {
          woken.push(ms);
          reject(signal?.reason as Error);
        };
        signal?.addEventListener('abort', stop, { once: true });
        if (signal?.aborted === true) stop();
      }),
  };
  const writer = new RecordWriter({
    store: {
      put: async (one) => {
        if (store.isAway) throw new Error('away');
        if (store.isTaken) throw new LeaseLostError(one.id);
        if (store.isSilent) await new Promise(() => {});
        written.push(one);
      },
    },
    clock,
    onAway: () => told.push('away'),
    onBack: () => told.push('back'),
    onLost: ({ id }) => told.push(`lost ${id}`),
    onTaken: ({ id }) => told.push(`taken ${id}`),
  });
  const sleep = async () => {
    await turn();
    wake();
    await turn();
  };
  return { writer, written, told, store, sleep, sleeps, woken };
}

describe('the writer of records', () => {
  it('the first record of a purge is written at once, and later ones once a second at most, the latest alone', async () => {
    const { writer, written, sleep } = createWriter();
    for (let n = 0; n < 5; n += 1) writer.save(record('p', n), CLAIM);
    await turn();
    for (let n = 5; n < 50; n += 1) writer.save(record('p', n), CLAIM);
    await turn();
    assert.equal(written.length, 1);
    await sleep();
    assert.deepEqual(written.map(({ deleted }) => deleted).slice(1), [49]);
    assert.equal(writer.latest('p'), undefined);
  });

  it('the last record of a purge is written at once, however that ended', async () => {
    for (const state of PURGE_STATES) {
      const { writer, written } = createWriter();
      writer.save(record('p', 0), CLAIM);
      await turn();
      writer.save(record('p', 7, state), CLAIM);
      await turn();
      await turn();
      assert.equal(written.at(-1)?.state, isFinal(state) ? state : 'running');
    }
  });

  it('records are kept while the store is away, and written when it is back', async () => {
    const { writer, written, told, store, sleep } = createWriter();
    store.isAway = true;
    for (const id of ['p', 'q']) writer.save(record(id, 1), CLAIM);
    await turn();
    await sleep();
    assert.deepEqual([written.length, writer.waiting, told], [0, 2, ['away']]);
    assert.equal(writer.latest('q')?.deleted, 1);
    store.isAway = false;
    await sleep();
    assert.deepEqual([written.length, writer.waiting, told], [2, 0, ['away', 'back']]);
  });

  it('a purge begins although the store is away, or does not answer within a second', async () => {
    for (const how of [{ isAway: true }, { isSilent: true }]) {
      const { writer, store, sleep, sleeps } = createWriter();
      Object.assign(store, how);
      let hasBegun = false;
      const begun = writer.writeNow(record('p', 0), CLAIM).then(() => (hasBegun = true));
      await turn();
      assert.deepEqual([hasBegun, sleeps[0]], [store.isAway, 1000]);
      await sleep();
      await begun;
      assert.equal(writer.waiting, 1);
    }
  });

  it('a first record that was stored is not written again', async () => {
    const { writer, written, sleeps, woken } = createWriter();
    await writer.writeNow(record('p', 0), CLAIM);
    await turn();
    assert.deepEqual(woken, [1000], 'nothing waits for it any more');
    assert.deepEqual([written.length, writer.waiting, writer.latest('p')], [1, 0, undefined]);
    writer.save(record('p', 1), CLAIM);
    await turn();
    assert.deepEqual(sleeps, [1000, 250]);
  });

  it('records of refused purges are given up before any other when too many wait', async () => {
    const { writer, told, store } = createWriter();
    store.isAway = true;
    for (let n = 0; n < 999; n += 1) writer.save(record(`p${n}`, 1), CLAIM);
    for (const id of ['r1', 'r2', 'r3']) writer.save(record(id, 0, 'refused'), CLAIM);
    writer.save(record('last', 1), CLAIM);
    assert.deepEqual(
      told.filter((line) => line.startsWith('lost')),
      ['lost r1', 'lost r2', 'lost r3'],
    );
    assert.equal(writer.latest('p0')?.id, 'p0');
  });

  it('the oldest record is given up when more than a thousand wait, and is named', async () => {
    const { writer, told, store } = createWriter();
    store.isAway = true;
    for (let n = 0; n < 1002; n += 1) writer.save(record(`p${String(n)}`, 1), CLAIM);
    assert.equal(writer.waiting, 1000);
    assert.deepEqual(
      told.filter((line) => line.startsWith('lost')),
      ['lost p0', 'lost p1'],
    );
    await writer.close();
    assert.equal(told.filter((line) => line.startsWith('lost')).length, 1002);
  });

  it('a record that another process writes now is neither written again nor called lost, at whatever time', async () => {
    const { writer, told, store } = createWriter();
    store.isTaken = true;
    writer.save(record('p', 1), CLAIM);
    await turn();
    assert.deepEqual([told, writer.waiting, writer.latest('p')], [['taken p'], 0, undefined]);
    writer.save(record('q', 1), CLAIM);
    await writer.close();
    assert.deepEqual([told.filter((line) => line.startsWith('lost')), writer.waiting], [[], 0]);
  });

  it('records are written with the claims under which they were saved', async () => {
    const claims: unknown[] = [];
    const writer = new RecordWriter({
      store: { put: async (_record, _job, claim) => void claims.push(claim) },
      clock: {
        now: () => 0,
        sleep: (_ms, signal) =>
          new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(new Error('woken')), { once: true });
          }),
      },
      onAway: () => {},
      ...{ onBack: () => {}, onLost: () => {}, onTaken: () => {} },
    });
    void writer.writeNow(record('p', 1), { lease: 1 });
    writer.save(record('p', 2), { lease: 2 });
    await turn();
    writer.save(record('p', 3), { lease: 3 });
    await writer.close();
    assert.deepEqual(claims, [{ lease: 1 }, { lease: 2 }, { lease: 3 }]);
  });

  it('records that still wait are written on closing', async () => {
    const { writer, written } = createWriter();
    writer.save(record('p', 1), CLAIM);
    await turn();
    writer.save(record('p', 2), CLAIM);
    await writer.close();
    assert.equal(written.at(-1)?.deleted, 2);
  });
});
