import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { purgeAnswer } from '../../../sidecar/http/purge-answer.js';
import type { PurgeReport } from '../../../sidecar/purge/events.js';

const CLEAN: PurgeReport = {
  dryRun: false,
  matched: 3,
  deleted: 3,
  failed: 0,
  success: ['urn:a:1', 'urn:a:2', 'urn:a:3'],
  errors: [],
  sample: [],
  warnings: [],
  arrived: 0,
  requests: 4,
};
const PROBLEM = { type: 'about:blank', title: 'Forbidden', status: 403 };
const COUNTS = { 'purge-matched': '3', 'purge-deleted': '3', 'purge-failed': '0' };

describe('purgeAnswer', () => {
  it('is 204 with counts and no body when all matches are gone', () => {
    assert.deepEqual(purgeAnswer(CLEAN, 12, false), { status: 204, headers: COUNTS });
  });

  it('is 204 when nothing matched', () => {
    const nothing = { ...CLEAN, matched: 0, deleted: 0, success: [] };
    const { status, headers, body } = purgeAnswer(nothing, 1, false);
    assert.deepEqual([status, headers['purge-matched'], body], [204, '0', undefined]);
  });

  it('is 200 with a summary when the client asked for a representation, and says so', () => {
    assert.deepEqual(purgeAnswer(CLEAN, 12, true), {
      status: 200,
      headers: { ...COUNTS, 'preference-applied': 'return=representation' },
      body: { matched: 3, deleted: 3, failed: 0, durationMs: 12, requests: 4 },
    });
  });

  it('is 200 with matches and sample for a dry run, and never claims a delete', () => {
    const report = { ...CLEAN, dryRun: true, deleted: 0, success: [], sample: ['urn:a:1'] };
    for (const wants of [true, false]) {
      assert.deepEqual(purgeAnswer(report, 1, wants), {
        status: 200,
        headers: { 'purge-matched': '3' },
        body: { matched: 3, sample: ['urn:a:1'] },
      });
    }
  });

  it('is 207 with a BatchOperationResult (clause 5.2.16) when something could not be deleted', () => {
    const errors = [
      { entityId: 'urn:a:3', error: PROBLEM },
      { entityId: 'urn:a:4', attribute: 'speed', error: PROBLEM },
    ];
    const report = { ...CLEAN, deleted: 2, failed: 2, success: ['urn:a:1', 'urn:a:2'], errors };
    assert.deepEqual(purgeAnswer(report, 12, false), {
      status: 207,
      headers: { 'purge-matched': '3', 'purge-deleted': '2', 'purge-failed': '2' },
      body: {
        success: ['urn:a:1', 'urn:a:2'],
        errors: [
          { entityId: 'urn:a:3', error: PROBLEM },
          { entityId: 'urn:a:4', error: { ...PROBLEM, attribute: 'speed' } },
        ],
      },
    });
  });

  it('adds the summary to a 207 on request', () => {
    const report = { ...CLEAN, deleted: 2, failed: 1, errors: [{ entityId: 'urn:a:3', error: PROBLEM }] };
    const { status, body } = purgeAnswer(report, 12, true);
    assert.equal(status, 207);
    assert.deepEqual(Object.keys(body as object).sort(), [
      ...['deleted', 'durationMs', 'errors', 'failed', 'matched', 'requests', 'success'],
    ]);
  });

  it('is 207 when the broker warned that its result was incomplete, and passes the warning on', () => {
    const report = { ...CLEAN, warnings: ['199 csr-1 "no answer"', '110 csr-2 "stale"'] };
    const { status, headers, body } = purgeAnswer(report, 12, false);
    assert.equal(status, 207);
    assert.equal(headers['ngsild-warning'], '199 csr-1 "no answer", 110 csr-2 "stale"');
    const { errors } = body as { errors: { entityId: string; error: { status: number; detail: string } }[] };
    assert.deepEqual(
      errors.map(({ entityId, error }) => [entityId, error.status]),
      [
        ['urn:ngsi-ld:*', 502],
        ['urn:ngsi-ld:*', 502],
      ],
    );
    assert.match(errors[0]?.error.detail ?? '', /199 csr-1/);
  });

  it('tells how many matches arrived meanwhile and were left', () => {
    assert.equal(purgeAnswer({ ...CLEAN, arrived: 7 }, 1, false).headers['purge-arrived'], '7');
    assert.ok(!('purge-arrived' in purgeAnswer(CLEAN, 1, false).headers));
  });
});
