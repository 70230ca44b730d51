import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LiveRestore } from '../../../sidecar/jobs/restore-jobs.js';
import { createTestClock } from '../../support/purge-harness.js';
import { leaseOf, recordOf } from '../../support/purge-service.js';

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
