import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TooManyMatchesError } from '../../../sidecar/purge/errors.js';
import type { PurgeRecord } from '../../../sidecar/store/job-records.js';
import { purgeOf } from '../../support/store-contract-purges.js';
import { KeptPurges } from '../../support/kept-purges.js';
import { createTestClock } from '../../support/purge-harness.js';
import { purgeServiceOf, recordOf, STARTED, turns, type Run } from '../../support/purge-service.js';

const HERE = 'http://here';
const THERE = 'http://there';

/** A process at a broker; its leases use a clock of the test. */
async function startAt(broker: string, kept: KeptPurges, run: Run, isStoreShared: boolean) {
  const time = { ms: 0 };
  const made = purgeServiceOf(run, {
    kept,
    broker,
    isStoreShared,
    leaseMs: 30_000,
    clock: { ...createTestClock(STARTED), monotonicMs: () => time.ms },
  });
  const pass = async (ms: number) => {
    for (let look = 0; look < 4; look += 1) {
      time.ms += ms / 4;
      made.service.jobs.onNotice({ what: 'waiting', id: 'any' });
      await turns();
    }
  };
  made.service.jobs.start();
  await pass(0);
  return { ...made, pass };
}

const RUNNING = {
  startedAt: '2026-01-01T00:00:01.000Z',
  matched: 9,
  deleted: 4,
  expected: 20,
  ratePerSecond: 5,
  estimatedEndAt: '2026-01-02T00:00:00.000Z',
};

/** A store with a job of a process at the other broker, and its lease, which is over or not. */
async function storeWithJob(leaseMs: number, members: Partial<PurgeRecord> = {}, broker = THERE) {
  const kept = new KeptPurges(createTestClock(STARTED));
  const record = recordOf({ ...RUNNING, ...members });
  await kept.store.add({ ...record, state: 'queued' }, { headers: {} }, 10, broker);
  const taken = await kept.store.take({
    holder: 'old',
    leaseMs,
    broker,
    takesJobs: true,
    takesDryRuns: true,
    takesScans: true,
    takesLapsed: false,
  });
  await kept.store.put(record, undefined, { lease: taken?.lease ?? 0 });
  const now = async () => {
    const found = (await kept.store.unfinished()).find((each) => each.record.id === record.id);
    return { job: found?.job, record: purgeOf(found?.record) };
  };
  return { kept, id: record.id, now };
}

const never: Run = async function* run() {
  yield assert.fail('it must not be sent to this broker');
};

it('a lost job of another broker waits, warns about the missing counts, and may have begun only if it deletes and had started', async () => {
  for (const [members, mayHaveBegun] of [
    [{ unknown: 2, failed: 3 }, true],
    // Its counts may not have been written since.
    [{ matched: 0, deleted: 0 }, true],
    [{ dryRun: true }, undefined],
    [{ startedAt: undefined }, undefined],
  ] as const) {
    const { kept, now } = await storeWithJob(1_000_000, members as Partial<PurgeRecord>);
    const { service, told } = await startAt(HERE, kept, never, false);
    assert.deepEqual(told, [`elsewhere ${THERE}`]);
    const { record, job } = await now();
    assert.deepEqual([record.state, record.waitsFor, record.expected], ['queued', THERE, 20]);
    assert.deepEqual([record.failed, record.unknown, job?.mayHaveBegun], [0, 0, mayHaveBegun]);
    assert.equal('ratePerSecond' in record || 'estimatedEndAt' in record, false);
    const [missing = '', waits = ''] = record.warnings;
    assert.match(missing, /^The gateway old stopped responding, and w put it back into the queue\./);
    assert.match(waits, /^It waits for the broker http:\/\/there, /);
    assert.equal(record.warnings.length, 2);
    await service.jobs.close();
  }
});

it('a lost restore or dry run of another broker waits, and its record does not mention deletes', async () => {
  for (const members of [
    { target: 'restore', restoreOf: 'a', restored: 4, failed: 3 },
    { dryRun: true },
  ] as const) {
    const { kept, now } = await storeWithJob(1_000_000, { deleted: 0, ...members });
    const { service } = await startAt(HERE, kept, never, false);
    const { record } = await now();
    assert.equal(record.warnings[0], 'The gateway old stopped responding, and w put it back into the queue.');
    assert.equal(record.failed, 'failed' in members ? 3 : 0);
    await service.jobs.close();
  }
});

it('a waiting job of another broker keeps its counts, and has one warning about the broker for which it waits', async () => {
  const members = { state: 'queued', unknown: 2, warnings: ['first'] } as const;
  const { kept, id, now } = await storeWithJob(-1, members, 'embedded');
  for (const broker of [HERE, 'http://third']) {
    const { service } = await startAt(broker, kept, never, false);
    const { record, job } = await now();
    assert.deepEqual([record.unknown, record.waitsFor, job], [2, 'embedded', { headers: {} }]);
    assert.deepEqual([record.warnings.length, record.warnings[0]], [2, 'first']);
    assert.match(record.warnings[1] ?? '', /^It waits for the embedded broker, /);
    await service.jobs.close();
  }
  const { service } = await startAt(HERE, kept, never, false);
  const cancelled = await service.cancel(id);
  assert.deepEqual(
    [cancelled.state, cancelled.warnings, cancelled.waitsFor],
    ['cancelled', ['first'], undefined],
  );
  assert.equal('ratePerSecond' in cancelled, false);
  // The expected count is part of what it did.
  assert.ok('expected' in cancelled);
  await service.jobs.close();
});

it('a job of another broker that was being cancelled is cancelled, and is not reported as waiting', async () => {
  for (const state of ['running', 'cancelling'] as const) {
    const { kept, id } = await storeWithJob(1_000_000, { state });
    if (state === 'running') await kept.store.request(id, { cancel: true }, (record) => record);
    const { service, told } = await startAt(HERE, kept, never, false);
    const { warnings, ...record } = await service.get(id);
    assert.deepEqual([told, record.state, warnings.length], [['ended cancelled'], 'cancelled', 1]);
    assert.deepEqual(['expected' in record, 'ratePerSecond' in record], [true, false]);
    await service.jobs.close();
  }
});

it('on a shared store, jobs of another broker are left alone while leased or queued, and put back after their lease', async () => {
  for (const [leaseMs, state] of [
    [1_000_000, 'running'],
    [-1, 'queued'],
  ] as const) {
    const { kept, id } = await storeWithJob(leaseMs);
    const waits = recordOf({ state: 'queued', tenant: 't' });
    await kept.store.add(waits, { headers: {} }, 10, THERE);
    const { service, told, pass } = await startAt(HERE, kept, never, true);
    assert.equal((await service.get(id)).state, 'running', 'others get the time to renew first');
    await pass(40_000);
    assert.equal((await service.get(id)).state, state);
    assert.deepEqual(told, state === 'queued' ? [`elsewhere ${THERE}`] : []);
    assert.deepEqual((await service.get(waits.id)).warnings, []);
    await pass(40_000);
    assert.equal(told.length, state === 'queued' ? 1 : 0);
    await service.jobs.close();
  }
});

it('a job that a process at another broker put back continues at its own broker, and is not called refused there', async () => {
  const { kept, id } = await storeWithJob(1_000_000);
  await (await startAt(HERE, kept, never, false)).service.jobs.close();
  const tooMany: Run = async function* run() {
    yield await Promise.reject(new TooManyMatchesError(9, 5, true));
  };
  const { service } = await startAt(THERE, kept, tooMany, false);
  const { state, warnings, waitsFor } = await service.get(id);
  assert.deepEqual([state, warnings.length, waitsFor], ['failed', 1, undefined]);
  assert.match(warnings[0] ?? '', /back into the queue/);
  await service.jobs.close();
});
