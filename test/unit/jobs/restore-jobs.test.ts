import assert from 'node:assert/strict';
import { it } from 'node:test';
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
  turns,
} from '../../support/purge-service.js';

it('a restore that another process goes on with keeps what was said of the items before', () => {
  const error = (entityId: string) => ({
    entityId,
    error: { type: 'about:blank', status: 400, title: 'No' },
  });
  const before = { ...recordOf(), errors: [error('urn:a:1'), error('urn:a:2')], sample: ['urn:b:1'] };
  const live = new LiveRestore(before, leaseOf(), createTestClock(), () => undefined);
  const said = {
    type: 'progress' as const,
    dryRun: false,
    requests: 1,
    retries: 0,
    absent: [],
    matched: 9,
    restored: 4,
    alreadyThere: 2,
    failed: 3,
    unknown: 0,
    different: 0,
    errors: [error('urn:a:2'), error('urn:a:3')],
    sample: ['urn:b:2'],
  };
  live.note(said);
  const { errors, sample, failed } = live.record;
  assert.deepEqual(errors, [error('urn:a:1'), error('urn:a:2'), error('urn:a:3')]);
  assert.deepEqual([sample, failed], [['urn:b:1', 'urn:b:2'], 3]);
  // An item that failed before, and no longer.
  live.note({ ...said, failed: 1, errors: [error('urn:a:3')] });
  assert.deepEqual(live.record.errors, [error('urn:a:3')]);
});

it('a restore waits for a store that is away when it opens its archive', async () => {
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
  const { id } = await made.service.restore(purge.id, { ...newPurge(), dryRun: false });
  await turns();
  // It has read the record of the purge, and found that nothing of the archive is there.
  assert.match((await made.service.get(id)).problem?.type ?? '', /:archive-unreadable$/);
});
