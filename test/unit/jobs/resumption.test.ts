import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRecord } from '../../../sidecar/jobs/new-record.js';
import { resumed, spentBefore, warningsAfter } from '../../../sidecar/jobs/resumption.js';
import type { PurgeRecord } from '../../../sidecar/store/purge-records.js';

const recordOf = (members: Partial<PurgeRecord>): PurgeRecord => ({
  ...newRecord(
    { target: 'entities', query: 'type=T', policy: {}, caller: 'c', requestId: 'r', headers: {} },
    { state: 'running', worker: 'old', createdAt: '2026-01-01T00:00:00.000Z' },
  ),
  ...{ matched: 20, deleted: 4, alreadyGone: 1, failed: 2, unknown: 3, concurrency: 4 },
  ...members,
});
const JOB = { headers: {} };

describe('a job that goes on', () => {
  it('what a job may have deleted is what it deleted, or more where more was reserved', () => {
    for (const [spent, expected] of [
      [undefined, 4],
      [3, 4],
      [4, 4],
      [6, 6],
    ] as const)
      assert.equal(spentBefore(recordOf({}), spent === undefined ? {} : { spent }), expected);
  });

  it('a job that goes on in order keeps what is unknown, and one that was lost does not', () => {
    for (const [state, unknown] of [
      ['queued', 3],
      ['running', 0],
    ] as const) {
      const next = resumed(recordOf({ state }), JOB, 'w', 9);
      assert.deepEqual([next.state, next.worker, next.failed, next.unknown], ['running', 'w', 0, unknown]);
      assert.deepEqual([next.deleted, next.alreadyGone, next.concurrency], [4, 1, 4]);
    }
    assert.equal(resumed(recordOf({}), JOB, 'w', 2).concurrency, 2);
  });

  it('the warning of a lost job counts what was to be deleted, and what counts towards its maximum', () => {
    const [warning = ''] = warningsAfter(recordOf({}), { ...JOB, spent: 7 }, 'w', 'went on');
    assert.match(
      warning,
      /^Nothing was heard of the gateway old any more, and w went on\. 10 of its matches /,
    );
    assert.match(warning, / 3 matches that may be gone count towards its maximum\.$/);
    for (const job of [undefined, JOB, { ...JOB, spent: 4 }])
      assert.doesNotMatch(warningsAfter(recordOf({}), job, 'w', 'ended it').join(), /maximum/);
    assert.match(warningsAfter(recordOf({}), JOB, 'old', 'went on').join(), /^The gateway was restarted\. /);
  });
});
