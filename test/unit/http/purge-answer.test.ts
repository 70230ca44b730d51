import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { it } from 'node:test';
import { purgeAnswer } from '../../../sidecar/http/purge-answer.js';
import type { PurgeReport, Item } from '../../../sidecar/purge/index.js';
import type { ItemError } from '../../../sidecar/purge/ledger/index.js';

const CLEAN: PurgeReport = {
  dryRun: false,
  matched: 3,
  deleted: 3,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  arrived: 0,
  success: ['urn:a:1', 'urn:a:2', 'urn:a:3'],
  errors: [],
  sample: [],
  warnings: [],
  requests: 4,
  retries: 0,
};
const PREVIEW = { dryRun: true, deleted: 0, success: [] };
const PROBLEM = { type: 'about:blank', title: 'Forbidden', status: 403 };
const COUNTS = { 'purge-matched': '3', 'purge-deleted': '3', 'purge-already-gone': '0', 'purge-failed': '0' };
const SUMMARY = {
  id: 'p1',
  matched: 3,
  deleted: 3,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  durationMs: 12,
  requests: 4,
};

/** The answer to a purge whose report differs in these members from that of a clean purge. */
function answerTo(report: Partial<PurgeReport>, wantsRepresentation = false) {
  const { status, headers, body } = purgeAnswer(
    { ...CLEAN, ...report },
    { id: 'p1', durationMs: 12, wantsRepresentation },
  );
  const { errors, ...rest } = (body ?? {}) as Record<string, unknown>;
  const items = errors as readonly { entityId: string; error: { detail: string; status: number } }[];
  return { status, headers, body, errors: items, rest };
}

it('purgeAnswer is 204 with counts and no body if all matches are gone, or nothing matched', () => {
  assert.deepEqual(purgeAnswer(CLEAN, { id: 'p1', durationMs: 12, wantsRepresentation: false }), {
    status: 204,
    headers: COUNTS,
  });
  const { status, headers, body } = answerTo({ matched: 0, deleted: 0, success: [] });
  assert.deepEqual([status, headers['purge-matched'], body], [204, '0', undefined]);
});

it('purgeAnswer is 200 with a summary if the client asked for a representation, and says so', () => {
  const { status, headers, body } = answerTo({}, true);
  assert.deepEqual([status, body], [200, SUMMARY]);
  assert.deepEqual(headers, { ...COUNTS, 'preference-applied': 'return=representation' });
});

it('purgeAnswer is 200 with matches and sample for a dry run, and never claims a delete', () => {
  for (const wants of [true, false]) {
    const { status, headers, body } = answerTo({ ...PREVIEW, sample: ['urn:a:1'] }, wants);
    assert.deepEqual([status, headers], [200, { 'purge-matched': '3' }]);
    assert.deepEqual(body, { matched: 3, sample: ['urn:a:1'] });
  }
});

it('purgeAnswer says what a temporal dry run counts, and shows a sample', () => {
  const time = { observedAt: '2026-01-01T00:00:00Z' };
  const items: readonly Item[] = [
    { entityId: 'urn:a:1', attribute: 'speed', instanceId: 'urn:i:1', datasetId: 'urn:d:1', time },
    { entityId: 'urn:a:1', attribute: 'speed', digest: 'x', time: { createdAt: 'T' } },
    { entityId: 'urn:a:1', attribute: 'color', datasetId: '@none' },
  ];
  const preview = { ...PREVIEW, sample: ['urn:a:1'], items };
  assert.deepEqual(answerTo({ ...preview, unit: 'instances' }).body, {
    matched: 3,
    sample: ['urn:a:1'],
    unit: 'instances',
    items: [
      { entityId: 'urn:a:1', attribute: 'speed', datasetId: 'urn:d:1', instanceId: 'urn:i:1', ...time },
      { entityId: 'urn:a:1', attribute: 'speed', createdAt: 'T' },
      { entityId: 'urn:a:1', attribute: 'color', datasetId: '@none' },
    ],
  });
  for (const unit of ['entities', 'attributes', 'datasets'] as const) {
    const { rest } = answerTo({ ...preview, unit, isLowerBound: true }, true);
    assert.deepEqual([rest['unit'], rest['atLeast']], [unit, true]);
  }
});

it('purgeAnswer says that there may be more even if nothing was counted', () => {
  const { body } = answerTo({ ...PREVIEW, matched: 0, isLowerBound: true });
  assert.deepEqual(body, { matched: 0, sample: [], atLeast: true });
});

it('purgeAnswer names the attribute, dataset, instance and time of each error item', () => {
  const speed = { entityId: 'urn:a:1', attribute: 'speed', error: PROBLEM };
  const places = { datasetId: 'urn:d:1', instanceId: 'urn:i:1' };
  const errors: readonly ItemError[] = [
    { ...speed, ...places, time: { observedAt: '2026-01-01T00:00:00Z' } },
    { ...speed, digest: 'secret', time: { modifiedAt: 'T' } },
  ];
  const { status, errors: shown } = answerTo({ deleted: 1, failed: 2, success: [], errors });
  assert.equal(status, 207);
  const named = { ...PROBLEM, attribute: 'speed' };
  assert.deepEqual(shown, [
    { entityId: 'urn:a:1', error: { ...named, ...places, observedAt: '2026-01-01T00:00:00Z' } },
    { entityId: 'urn:a:1', error: { ...named, modifiedAt: 'T' } },
  ]);
});

it('purgeAnswer lists a thousand error items at most, including those about warnings, and counts all of them', () => {
  const errors = Array.from({ length: 1000 }, (_, index) => ({ entityId: `urn:a:${index}`, error: PROBLEM }));
  const report = { deleted: 0, failed: 5000, errors, success: [], warnings: ['199 - "w"'] };
  const { headers, errors: listed } = answerTo(report);
  assert.equal(listed.length, 1000);
  // A warning concerns all matches, so it comes first.
  assert.deepEqual(
    [0, 1, 999].map((index) => listed[index]?.entityId),
    ['urn:ngsi-ld:*', 'urn:a:0', 'urn:a:998'],
  );
  assert.equal(headers['purge-failed'], '5000');
});

it('purgeAnswer passes on two thousand characters of warnings at most, and five hundred of each in its error item', () => {
  const warnings = ['w'.repeat(600), 'x'.repeat(2000)];
  const { headers, errors } = answerTo({ warnings });
  assert.equal(headers['ngsild-warning'], warnings.join(', ').slice(0, 2000));
  assert.match(errors[0]?.error.detail ?? '', /: w{500}\. Matches/);
  assert.equal(errors[0]?.error.status, 502);
});

it('purgeAnswer is 207 with a BatchOperationResult (clause 5.2.16) if an item could not be deleted', () => {
  const success = ['urn:a:1', 'urn:a:2'];
  const errors = [
    { entityId: 'urn:a:3', error: PROBLEM },
    { entityId: 'urn:a:4', attribute: 'speed', error: PROBLEM },
  ];
  const shown = [
    { entityId: 'urn:a:3', error: PROBLEM },
    { entityId: 'urn:a:4', error: { ...PROBLEM, attribute: 'speed' } },
  ];
  const report = { deleted: 2, failed: 2, success, errors };
  const { status, headers, body } = answerTo(report);
  assert.deepEqual([status, body], [207, { success, errors: shown }]);
  assert.deepEqual(headers, { ...COUNTS, 'purge-deleted': '2', 'purge-failed': '2' });
  const wanted = answerTo(report, true);
  const summary = { ...SUMMARY, deleted: 2, failed: 2, success, errors: shown };
  assert.deepEqual([wanted.status, wanted.body], [207, summary], 'with the summary on request');
});

it('purgeAnswer is 207 if the broker warned that its result was incomplete, and passes the warning on', () => {
  const warnings = ['199 csr-1 "no answer"', '110 csr-2 "stale"', 'Nothing matches.'];
  const { status, headers, errors } = answerTo({ warnings });
  assert.deepEqual([status, headers['ngsild-warning']], [207, warnings.join(', ')]);
  const detail = (text: string) => `Warning: ${text}. Matches that the broker did not list may remain.`;
  assert.deepEqual(
    errors.map(({ entityId, error }) => [entityId, error.status, error.detail]),
    ['199 csr-1 "no answer"', '110 csr-2 "stale"', 'Nothing matches'].map((text) => [
      'urn:ngsi-ld:*',
      502,
      detail(text),
    ]),
  );
});

it('a warning is a valid header of at most 2000 characters, whatever text it repeats', () => {
  const headerOf = (warning: string) => answerTo({ warnings: [warning] }).headers['ngsild-warning'] ?? '';
  assert.equal(headerOf('of 温度>1 and größe, 5%'), 'of %E6%B8%A9%E5%BA%A6>1 and größe, 5%');
  assert.equal(headerOf('a\r\nb\u{1f697}\ud83d'), 'a%0D%0Ab%F0%9F%9A%97%EF%BF%BD');
  for (let length = 1900; length <= 2100; length++) {
    for (const warning of ['温'.repeat(length), `${'x'.repeat(length)}温\u{1f697}`]) {
      const header = headerOf(warning);
      validateHeaderValue('ngsild-warning', header);
      assert.ok(header.length <= 2000);
      assert.doesNotThrow(() => decodeURIComponent(header), 'no character is cut');
    }
  }
});

it('purgeAnswer distinguishes items that were already gone from items that this purge deleted', () => {
  const report = { deleted: 1, alreadyGone: 2 };
  const { status, headers } = answerTo(report);
  assert.deepEqual([status, headers['purge-deleted'], headers['purge-already-gone']], [204, '1', '2']);
  assert.equal(answerTo(report, true).rest['alreadyGone'], 2);
});

it('purgeAnswer is 207 if the outcome of some items is unknown, and counts them', () => {
  const errors = [{ entityId: 'urn:a:3', error: { ...PROBLEM, status: 502 } }];
  const report = { deleted: 2, unknown: 1, success: ['urn:a:1', 'urn:a:2'], errors };
  const { status, headers, errors: shown, rest } = answerTo(report, true);
  assert.deepEqual([status, headers['purge-unknown'], headers['purge-failed']], [207, '1', '0']);
  assert.deepEqual([rest['unknown'], shown.length], [1, 1]);
  assert.ok(!('purge-unknown' in answerTo({}).headers));
});

it('purgeAnswer says how many matches arrived during the purge and were left alone', () => {
  assert.equal(answerTo({ arrived: 7 }).headers['purge-arrived'], '7');
  assert.ok(!('purge-arrived' in answerTo({}).headers));
});
