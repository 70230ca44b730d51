import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { LivePurge } from '../../../sidecar/jobs/live-purge.js';
import type { PurgeRecord } from '../../../sidecar/store/job-records.js';
import { createTestClock } from '../../support/purge-harness.js';
import { purgeOf } from '../../support/store-contract-purges.js';
import { leaseOf, recordOf } from '../../support/purge-service.js';

const RECORD = recordOf();

const COUNTS = { matched: 7, deleted: 3, alreadyGone: 1, failed: 2, unknown: 1, requests: 4, retries: 2 };

const REPORT = {
  ...COUNTS,
  dryRun: false,
  success: [],
  errors: [],
  sample: [],
  warnings: [],
  arrived: 5,
};

function liveOf(before: Partial<PurgeRecord> = {}) {
  const clock = createTestClock();
  const told: PurgeRecord[] = [];
  const lease = leaseOf();
  const purge = new LivePurge({ ...RECORD, ...before }, lease, clock, (record) => told.push(purgeOf(record)));
  const turns = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return { purge, lease, clock, told, turns };
}

const progress = (deleted: number, more: Partial<typeof COUNTS> = {}) =>
  ({ type: 'progress', hasBegun: true, ...COUNTS, deleted, ...more }) as const;

it('a purge counts as begun after a single delete, unknown or absent item, but not after a match', () => {
  for (const [before, expected] of [
    [{ deleted: 1 }, true],
    [{ alreadyGone: 1 }, true],
    [{ unknown: 1 }, true],
    [{ matched: 1 }, false],
  ] as const)
    assert.equal(liveOf(before).purge.hasBegun, expected, JSON.stringify(before));
});

it('watchers of a purge get its latest state at most four times a second, a new state at once, and nothing after its end', async () => {
  const { purge, clock, told, turns } = liveOf();
  const news = () => told.splice(0).map(({ state, deleted }) => [state, deleted]);
  purge.set({ deleted: 1 });
  for (const deleted of [2, 3, 4]) purge.set({ deleted });
  assert.deepEqual([news(), purge.record.deleted], [[['running', 1]], 4]);
  await turns();
  assert.deepEqual([news(), clock.sleeps], [[['running', 4]], [250]]);
  await clock.sleep(250);
  purge.set({ deleted: 5 });
  assert.deepEqual([news(), clock.sleeps.length], [[['running', 5]], 2], 'the last news is old enough');
  purge.set({ deleted: 6 });
  purge.set({ state: 'cancelling' });
  purge.set({ state: 'cancelling', deleted: 7 });
  assert.deepEqual(news(), [['cancelling', 6]]);
  purge.set({ state: 'failed' });
  await turns();
  assert.deepEqual(news(), [['failed', 7]]);
});

it('watchers of a purge get its state four times a second even after the clock was set back', async () => {
  const { purge, clock, told, turns } = liveOf();
  purge.set({ deleted: 1 });
  clock.set(-3_600_000);
  purge.set({ deleted: 2 });
  await turns();
  assert.deepEqual([told.map(({ deleted }) => deleted), clock.sleeps], [[1, 2], [250]]);
});

const BEFORE = { deleted: 10, alreadyGone: 2, requests: 5, retries: 1 };

it('the counts of a purge include those of an earlier process', () => {
  const { purge } = liveOf(BEFORE);
  assert.deepEqual([purge.settledBefore, purge.affectedSince, purge.hasBegun], [12, 0, true]);
  purge.note({ type: 'progress', hasBegun: true, ...COUNTS });
  const { matched, deleted, alreadyGone, failed, unknown, requests, retries } = purge.record;
  assert.deepEqual(
    { matched, deleted, alreadyGone, failed, unknown, requests, retries },
    { matched: 19, deleted: 13, alreadyGone: 3, failed: 2, unknown: 1, requests: 9, retries: 3 },
  );
  assert.deepEqual([purge.settledBefore, purge.affectedSince], [12, 4]);
});

it('a purge has begun from its first delete on, whatever later progress says', () => {
  const { purge } = liveOf();
  purge.note({ type: 'progress', hasBegun: false, ...COUNTS });
  assert.equal(purge.hasBegun, false);
  purge.note({ type: 'progress', hasBegun: true, ...COUNTS });
  purge.note({ type: 'progress', hasBegun: false, ...COUNTS });
  assert.equal(purge.hasBegun, true);
});

it('a running purge has a rate of settled items, and an estimated end once all matches are counted', async () => {
  const { purge, clock } = liveOf(BEFORE);
  purge.note(progress(0, { alreadyGone: 0, failed: 0 }));
  assert.equal(purge.record.ratePerSecond, undefined);
  await clock.sleep(3000);
  purge.note(progress(50, { alreadyGone: 20, failed: 30 }));
  assert.equal(purge.record.ratePerSecond, 33.3);
  assert.equal(purge.record.estimatedEndAt, undefined, 'nobody counted the matches');
  purge.note({ type: 'counted', matches: 400 });
  await clock.sleep(1000);
  purge.note(progress(100, { alreadyGone: 40, failed: 60 }));
  // 200 of 400 in four seconds.
  assert.deepEqual(
    [purge.record.ratePerSecond, purge.record.estimatedEndAt],
    [50, new Date(clock.now() + 4000).toISOString()],
  );
});

it('the estimated end of a purge does not include deletes that an earlier process left unknown', async () => {
  const { purge, clock } = liveOf({ matched: 60, deleted: 40, unknown: 20, expected: 100 });
  purge.note({ type: 'counted', matches: 40 });
  purge.note(progress(0, { alreadyGone: 0, failed: 0, unknown: 0 }));
  await clock.sleep(1000);
  purge.note(progress(20, { alreadyGone: 0, failed: 0, unknown: 0 }));
  // 20 of the 40 that are left, in one second.
  assert.deepEqual(
    [purge.record.expected, purge.record.ratePerSecond, purge.record.estimatedEndAt],
    [100, 20, new Date(clock.now() + 1000).toISOString()],
  );
});

it('a purge warns of matches that an earlier process counted and that are neither left nor in the counts', async () => {
  const { purge: first } = liveOf();
  first.note({ type: 'counted', matches: 400 });
  first.note(progress(100));
  const { purge } = liveOf({ ...first.record, unknown: 0, warnings: ['It goes on.'] });
  purge.note({ type: 'counted', matches: 279 });
  purge.note({ type: 'counted', matches: 200 });
  const [, warning = ''] = purge.record.warnings;
  assert.match(warning, /^20 of the matches/);
  assert.deepEqual([purge.record.warnings.length, purge.record.expected], [2, 301]);
});

it('a purge does not warn if there are more matches than an earlier process counted', async () => {
  const { purge } = liveOf({ ...RECORD, expected: 400 });
  purge.note({ type: 'counted', matches: 500 });
  assert.deepEqual([purge.record.warnings, purge.record.expected], [[], 500]);
});

it('deletes that an earlier process left unknown stay unknown as far as matches are missing, and are not counted twice', () => {
  const before = { matched: 60, deleted: 40, unknown: 20, expected: 100 };
  for (const [left, unknown, matched, listedAgain] of [
    [40, 20, 100, []],
    [45, 15, 100, ['5 of the deletes']],
    [60, 0, 100, ['20 of the deletes']],
    [75, 0, 115, ['20 of the deletes']],
  ] as const) {
    const { purge } = liveOf(before);
    assert.equal(purge.affectedSince, 0);
    purge.note({ type: 'counted', matches: left });
    const warnings = purge.record.warnings.map((text) => text.slice(0, text.indexOf(' without')));
    assert.deepEqual([purge.record.expected, warnings], [matched, listedAgain], String(left));
    purge.note(progress(left - 1, { matched: left, alreadyGone: 0, failed: 0, unknown: 1 }));
    const { record, affectedSince } = purge;
    assert.deepEqual([record.matched, record.unknown, affectedSince], [matched, unknown + 1, left]);
    assert.equal(record.matched, record.deleted + record.unknown);
  }
  // Without a count of matches, none of the deletes is known to be listed again.
  const { purge } = liveOf({ matched: 60, deleted: 40, unknown: 20 });
  purge.note(progress(5, { matched: 5, alreadyGone: 0, failed: 0, unknown: 0 }));
  assert.deepEqual([purge.record.matched, purge.record.unknown], [65, 20]);
});

for (const state of ['queued', 'cancelling', 'cancelled'] as const)
  it(`a purge that is ${state} has neither a rate nor an estimate`, async () => {
    const { purge, clock, told } = liveOf();
    purge.note({ type: 'counted', matches: 400 });
    purge.note(progress(0));
    await clock.sleep(1000);
    purge.note(progress(100));
    assert.ok('ratePerSecond' in purge.record && 'estimatedEndAt' in purge.record);
    purge.set({ state });
    for (const record of [purge.record, told.at(-1) ?? RECORD]) {
      assert.equal('ratePerSecond' in record || 'estimatedEndAt' in record, false);
      assert.deepEqual([record.state, record.deleted], [state, 100]);
      assert.equal(record.expected, 400);
    }
  });

it('events without counts do not change the record of a purge', () => {
  const { purge, told } = liveOf();
  purge.note({ type: 'broker-away' });
  purge.note({ type: 'drained', matched: 9 });
  assert.deepEqual([purge.record, told], [RECORD, []]);
});

it('the final record has the counts, the arrivals, a hundred errors, and the warnings of all processes', () => {
  const { purge } = liveOf({ warnings: ['before'] });
  const errors = Array.from({ length: 130 }, (_, index) => ({
    entityId: `urn:t:${index}`,
    error: { type: 'about:blank', title: 'Locked', status: 409 },
  }));
  purge.noteReport({ ...REPORT, errors, warnings: ['now'], sample: ['urn:t:1'] });
  const { arrived, warnings, matched, deleted } = purge.record;
  assert.deepEqual([arrived, warnings, matched, deleted], [5, ['before', 'now'], 7, 3]);
  assert.deepEqual(purge.record.errors, errors.slice(0, 100));
  assert.equal('sample' in purge.record || 'unit' in purge.record, false);
});

it('the final record of a dry run has its sample, its unit if known, and says if more matched than could be counted', () => {
  for (const isLowerBound of [false, true]) {
    const { purge } = liveOf();
    const report = { ...REPORT, dryRun: true, sample: ['urn:t:1'], unit: 'instances' as const };
    purge.noteReport(isLowerBound ? { ...report, isLowerBound } : report);
    assert.deepEqual([purge.record.sample, purge.record.unit], [['urn:t:1'], 'instances']);
    const warnings = isLowerBound ? ['There are more matches than could be counted.'] : [];
    assert.deepEqual(purge.record.warnings, warnings);
  }
});

it('the rate and the concurrency of a running purge are those of its record, and each can be changed alone', () => {
  assert.equal(liveOf({ maxPerSecond: null }).purge.rateLimiter.burst, Infinity);
  const { purge } = liveOf({ concurrency: 3, maxPerSecond: 7 });
  const now = () => [purge.record.concurrency, purge.rateLimiter.burst, purge.record.maxPerSecond];
  assert.deepEqual(now(), [3, 7, 7]);
  purge.grant({ concurrency: 2 });
  assert.deepEqual(now(), [2, 7, 7]);
  purge.grant({ maxPerSecond: 5 });
  assert.deepEqual(now(), [2, 5, 5]);
  purge.grant({ maxPerSecond: null });
  assert.deepEqual(now(), [2, Infinity, null]);
});

it('a purge stops when it is cancelled, when its process stops, and when its lease is lost; only a cancellation is permanent', () => {
  for (const [how, isCancelled, state] of [
    ['cancel', true, 'cancelling'],
    ['stop', false, 'running'],
    ['lapse', false, 'running'],
  ] as const) {
    const { purge, lease } = liveOf();
    if (how === 'lapse') lease.expire();
    else purge[how]();
    const { stopped, record } = purge;
    assert.deepEqual([stopped.aborted, purge.isCancelled, record.state], [true, isCancelled, state]);
  }
});

it('cancelling a purge that does not run leaves it unchanged', () => {
  for (const state of ['queued', 'succeeded', 'partial', 'failed', 'interrupted'] as const) {
    const { purge } = liveOf();
    purge.set({ state });
    purge.cancel();
    assert.deepEqual([purge.record.state, purge.stopped.aborted, purge.isCancelled], [state, false, false]);
  }
});

it('the record of a purge that ends early has the items that could not be deleted, and the reasons', () => {
  const { purge } = liveOf();
  const error = { type: 'about:blank', title: 'Locked', status: 423, detail: 'It is locked.' };
  const errors = Array.from({ length: 150 }, (_, n) => ({ entityId: `urn:t:${n}`, error }));
  purge.note({ type: 'failures', errors });
  assert.deepEqual(purge.record.errors, errors.slice(0, 100));
});
