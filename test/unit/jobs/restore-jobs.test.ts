import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ArchiveInUseError, ArchiveNotFoundError } from '../../../sidecar/jobs/errors.js';
import { LivePurge } from '../../../sidecar/jobs/live-purge.js';
import { LiveRestore } from '../../../sidecar/jobs/restore-jobs.js';
import { createTestClock } from '../../support/purge-harness.js';
import type { Archives } from '../../../sidecar/archive/index.js';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import {
  finishing,
  leaseOf,
  newPurge,
  purgeServiceOf,
  recordOf,
  STARTED,
  turns,
} from '../../support/purge-service.js';

const progressOf = (more: Partial<Parameters<LiveRestore['noteReport']>[0]> = {}) => ({
  type: 'progress' as const,
  dryRun: false,
  requests: 1,
  retries: 0,
  absent: [],
  matched: 9,
  restored: 4,
  alreadyThere: 2,
  failed: 0,
  unknown: 0,
  different: 0,
  errors: [],
  sample: ['urn:b:2'],
  ...more,
});

it('a restore warns if what the broker stored differs from the archive', () => {
  const warningsOf = (more: Parameters<typeof progressOf>[0]) => {
    const live = new LiveRestore(recordOf(), leaseOf(), createTestClock(), () => undefined);
    live.noteReport(progressOf(more), 0);
    return live.record.warnings.join();
  };
  assert.match(warningsOf({ different: 3 }), /3 of the restored items differ from the archive.*dry run/);
  assert.doesNotMatch(warningsOf({}), /otherwise/);
  assert.doesNotMatch(warningsOf({ different: 3, dryRun: true }), /otherwise/);
});

it('a restore that continues in another process keeps earlier results of items', () => {
  const error = (entityId: string) => ({
    entityId,
    error: { type: 'about:blank', status: 400, title: 'No' },
  });
  const before = { ...recordOf(), errors: [error('urn:a:1'), error('urn:a:2')], sample: ['urn:b:1'] };
  const live = new LiveRestore(before, leaseOf(), createTestClock(), () => undefined);
  const said = progressOf({ failed: 3, errors: [error('urn:a:2'), error('urn:a:3')] });
  live.note(said);
  const { errors, sample, failed } = live.record;
  assert.deepEqual(errors, [error('urn:a:1'), error('urn:a:2'), error('urn:a:3')]);
  assert.deepEqual([sample, failed], [['urn:b:1', 'urn:b:2'], 3]);
  // An item that failed before, and no longer fails.
  live.note({ ...said, failed: 1, errors: [error('urn:a:3')] });
  assert.deepEqual(live.record.errors, [error('urn:a:3')]);
});

it('a restore waits for an unavailable store when it opens its archive', async () => {
  const empty = { reader: () => ({ segments: async () => [] }) };
  const made = purgeServiceOf(finishing, { archives: empty as unknown as Archives });
  const archive = { entities: 1, bytes: 1, expiresAt: '2999-01-01T00:00:00.000Z' };
  const purge = recordOf({ state: 'succeeded', endedAt: '2026-01-01T00:00:00.000Z', archive });
  await made.kept.store.put(purge);
  let isAway = false;
  made.kept.before = async (name) => {
    if (name === 'take') isAway = true;
    if (name !== 'get' || !isAway) return;
    isAway = false;
    throw new StoreUnavailableError('away');
  };
  const { id } = await made.service.restores.submit(purge.id, { ...newPurge(), dryRun: false });
  await turns();
  // The restore has read the record of the purge, and found that the archive is empty.
  assert.match((await made.service.get(id)).problem?.type ?? '', /:archive-unreadable$/);
});

it('the record of a purge names its archive for as long as archives are kept, but not longer than itself', () => {
  for (const [keepDays, days] of [
    [1, 1],
    [30, 2],
  ] as const) {
    const { service, clock } = purgeServiceOf(finishing, {
      archives: { keepDays } as Archives,
      historyDays: 2,
    });
    const live = new LivePurge(recordOf(), leaseOf(), clock, () => undefined);
    service.archives.note(live, { entities: 1, bytes: 1, segments: 1 });
    assert.equal(live.record.archive?.expiresAt, new Date(STARTED + days * 86_400_000).toISOString());
  }
});

it('the archive of a purge that has not ended can be neither read nor erased nor restored', async () => {
  const { service, kept } = purgeServiceOf(finishing, { archives: {} as Archives });
  const archive = { entities: 1, bytes: 1, expiresAt: '2999-01-01T00:00:00.000Z' };
  for (const state of ['queued', 'running', 'cancelling'] as const) {
    await kept.store.put(recordOf({ id: state, state, archive }));
    await assert.rejects(service.archives.read(state), ArchiveInUseError);
    await assert.rejects(service.archives.erase(state), ArchiveInUseError);
    await assert.rejects(service.restores.submit(state, { ...newPurge(), dryRun: true }), ArchiveInUseError);
  }
});

it('an expired archive is kept while its restore waits or runs, and so is its purge', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { promise: swept, resolve } = Promise.withResolvers<Parameters<Archives['removeExpired']>[0]>();
  const archives = {
    reader: () => ({ segments: async () => [] }),
    removeExpired: async (isExpired: Parameters<Archives['removeExpired']>[0]) => resolve(isExpired),
  };
  const made = purgeServiceOf(finishing, { archives: archives as unknown as Archives, broker: 'here' });
  const { store } = made.kept;
  const endedAt = new Date(STARTED - 9 * 86_400_000).toISOString();
  const archive = { entities: 1, bytes: 1, expiresAt: endedAt };
  const [restored, other] = ['restored', 'other'].map((id) =>
    recordOf({ id, state: 'succeeded', endedAt, archive, createdAt: endedAt }),
  );
  assert.ok(restored !== undefined && other !== undefined);
  await store.put(restored);
  await store.put({ ...other, endedAt: new Date(STARTED - 10 * 86_400_000).toISOString() });
  const restore = recordOf({ id: 'restore', target: 'restore', restoreOf: 'restored', state: 'queued' });
  await store.add(restore, { headers: {} }, 10, 'elsewhere');
  made.service.jobs.start();
  const isDue = await swept;
  assert.deepEqual([await isDue('restored'), await isDue('other')], [false, undefined]);
  assert.equal((await made.service.archives.find('restored', true)).record.id, 'restored');
  await assert.rejects(made.service.archives.find('restored'), ArchiveNotFoundError);
  await made.service.cancel('restore');
  assert.equal(await isDue('restored'), true);
  t.mock.timers.tick(3_600_000);
  await turns();
  assert.equal(await store.get('restored'), undefined);
  made.service.jobs.stop();
});
