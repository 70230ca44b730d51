import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { laidAside } from '../../../sidecar/jobs/elsewhere.js';
import { newRecord } from '../../../sidecar/jobs/new-record.js';
import { TooManyMatchesError } from '../../../sidecar/purge/index.js';
import type { PurgeRecord, StrandedPurge } from '../../../sidecar/store/purge-records.js';
import { KeptPurges } from '../../support/kept-purges.js';
import { createTestClock } from '../../support/purge-harness.js';
import { purgeServiceOf, STARTED, type Run } from '../../support/purge-service.js';

const HERE = 'http://here';
const THERE = 'http://there';
const NOW = '2026-01-02T00:00:00.000Z';
const ORDER = {
  ...{ target: 'entities' as const, query: 'type=T', policy: {}, caller: 'c', requestId: 'r', headers: {} },
};

const recordOf = (members: Partial<PurgeRecord> = {}): PurgeRecord => ({
  ...newRecord(ORDER, { state: 'running', worker: 'old', createdAt: '2026-01-01T00:00:00.000Z' }),
  startedAt: '2026-01-01T00:00:01.000Z',
  ...{ matched: 9, deleted: 4, unknown: 2, expected: 20, ratePerSecond: 5, estimatedEndAt: NOW },
  ...members,
});
const leftOf = (members: Partial<PurgeRecord> = {}, more: Partial<StrandedPurge> = {}): StrandedPurge => ({
  ...{ record: recordOf(members), job: { headers: {} }, broker: THERE, wish: undefined, ...more },
});

describe('a job whose broker is another one', () => {
  it('a job whose broker is another one is queued after a crash, without a rate, and says what it waits for and what is missing', () => {
    const { record, job } = laidAside(leftOf(), 'w', NOW);
    assert.deepEqual([record.state, record.deleted, record.unknown, record.expected], ['queued', 4, 0, 20]);
    assert.equal('ratePerSecond' in record || 'estimatedEndAt' in record, false);
    assert.equal(record.warnings.length, 2);
    assert.match(
      record.warnings[0] ?? '',
      /^Nothing was heard of the gateway old .* laid it aside\. 3 of its/,
    );
    assert.match(record.warnings[1] ?? '', /^It waits for the broker http:\/\/there, /);
    assert.equal(job?.mayHaveBegun, true);
    const embedded = laidAside(leftOf({}, { broker: 'embedded' }), 'w', NOW);
    assert.match(embedded.record.warnings[1] ?? '', /^It waits for the embedded broker, /);
  });

  it('a job whose broker is another one and that was lost counts no failures, and may have begun only if it deletes and had started', () => {
    const notStarted = { ...recordOf() };
    delete (notStarted as { startedAt?: string }).startedAt;
    for (const [left, mayHaveBegun] of [
      [leftOf({ failed: 3 }), true],
      // Its counts may not have been written since.
      [leftOf({ matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0 }), true],
      [leftOf({ failed: 3, dryRun: true }), undefined],
      [{ ...leftOf(), record: notStarted }, undefined],
    ] as const) {
      const { record, job } = laidAside(left, 'w', NOW);
      assert.deepEqual([record.failed, record.unknown, job?.mayHaveBegun], [0, 0, mayHaveBegun]);
    }
  });

  it('a job whose broker is another one keeps its counts when it was laid aside in order, and has its note once', () => {
    const once = laidAside(leftOf({ state: 'queued', warnings: ['first'] }), 'w', NOW);
    const again = laidAside(leftOf({ ...once.record }, { broker: 'http://third' }), 'w', NOW);
    assert.deepEqual([again.record.unknown, again.job], [2, { headers: {} }]);
    assert.deepEqual([again.record.warnings.length, again.record.warnings[0]], [2, 'first']);
    assert.match(again.record.warnings[1] ?? '', /http:\/\/third/);
  });

  it('a job whose broker is another one has ended when it was to be cancelled', () => {
    for (const left of [leftOf({ state: 'cancelling' }), leftOf({}, { wish: { cancel: true } })]) {
      const { record } = laidAside(left, 'w', NOW);
      assert.deepEqual([record.state, record.endedAt, record.warnings.length], ['cancelled', NOW, 1]);
      assert.equal('expected' in record || 'ratePerSecond' in record, false);
    }
  });
});

/** A process at a broker, on a store with a job that one at another broker left; its leases go by a clock of the test. */
async function startAt(broker: string, kept: KeptPurges, run: Run, isStoreShared: boolean) {
  const time = { ms: 0 };
  const made = purgeServiceOf(run, {
    kept,
    broker,
    isStoreShared,
    leaseMs: 30_000,
    monotonicMs: () => time.ms,
  });
  const pass = async (ms: number) => {
    for (let look = 0; look < 4; look += 1) {
      time.ms += ms / 4;
      made.service.noticed({ what: 'waiting', id: 'any' });
      for (let index = 0; index < 20; index += 1) await turn();
    }
  };
  made.service.start();
  await pass(0);
  return { ...made, pass };
}

/** A store with a job of a process at the other broker, and its lease: over, or not. */
async function storeWithJob(leaseMs: number, job: object = {}) {
  const kept = new KeptPurges(createTestClock(STARTED));
  const record = recordOf({ unknown: 0 });
  await kept.store.add({ ...record, state: 'queued' }, { headers: {}, ...job }, 10, THERE);
  const taken = await kept.store.take({
    ...{ holder: 'old', leaseMs, broker: THERE, takesJobs: true, takesDryRuns: true, takesLapsed: false },
  });
  await kept.store.put(record, undefined, { lease: taken?.lease ?? 0 });
  return { kept, id: record.id };
}

const never: Run = async function* run() {
  yield assert.fail('it must not be sent to this broker');
};

describe('a process at another broker', () => {
  it('a process at another broker on a store of its own says at its start that the jobs wait, those in order too, and when one is cancelled that is gone', async () => {
    const { kept, id } = await storeWithJob(1_000_000);
    await kept.store.add(recordOf({ state: 'queued', tenant: 't', deleted: 0 }), { headers: {} }, 10, THERE);
    const { service, told } = await startAt(HERE, kept, never, false);
    assert.deepEqual(told, [`elsewhere ${THERE},${THERE}`]);
    const { items } = await service.list({ state: 'queued', limit: 9, offset: 0 });
    assert.deepEqual(
      items.map(({ warnings }) => /^It waits/.test(warnings.at(-1) ?? '')),
      [true, true],
    );
    const cancelled = await service.cancel(id);
    assert.deepEqual([cancelled.state, cancelled.warnings.length], ['cancelled', 1]);
    assert.equal('ratePerSecond' in cancelled || 'expected' in cancelled, false);
    await service.close();
  });

  it('a process at another broker ends the jobs that were to be cancelled, and does not say that they wait', async () => {
    const { kept, id } = await storeWithJob(1_000_000);
    await kept.store.ask(id, { cancel: true }, (record) => record);
    const { service, told } = await startAt(HERE, kept, never, false);
    assert.deepEqual(told, ['ended cancelled']);
    assert.equal((await service.get(id)).state, 'cancelled');
    await service.close();
  });

  it('a process at another broker on a shared store leaves jobs alone that are held or wait in order, and lays aside those whose lease is over', async () => {
    for (const [leaseMs, state] of [
      [1_000_000, 'running'],
      [-1, 'queued'],
    ] as const) {
      const { kept, id } = await storeWithJob(leaseMs);
      const waits = recordOf({ state: 'queued', tenant: 't', warnings: [] });
      await kept.store.add(waits, { headers: {} }, 10, THERE);
      const { service, told, pass } = await startAt(HERE, kept, never, true);
      assert.equal((await service.get(id)).state, 'running', 'others get the time to renew first');
      await pass(40_000);
      assert.equal((await service.get(id)).state, state);
      assert.deepEqual(told, state === 'queued' ? [`elsewhere ${THERE}`] : []);
      assert.deepEqual((await service.get(waits.id)).warnings, []);
      await pass(40_000);
      assert.equal(told.length, state === 'queued' ? 1 : 0);
      await service.close();
    }
  });

  it('a job that a process at another broker laid aside after a crash goes on at its own, and is not called refused there', async () => {
    const { kept, id } = await storeWithJob(1_000_000);
    await (await startAt(HERE, kept, never, false)).service.close();
    const tooMany: Run = async function* run() {
      yield await Promise.reject(new TooManyMatchesError(9, 5, true));
    };
    const { service } = await startAt(THERE, kept, tooMany, false);
    const { state, warnings } = await service.get(id);
    assert.equal(state, 'failed');
    assert.deepEqual([warnings.length, /laid it aside/.test(warnings[0] ?? '')], [1, true]);
    await service.close();
  });
});
