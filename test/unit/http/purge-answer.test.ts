import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { describe, it } from 'node:test';
import { purgeAnswer } from '../../../sidecar/http/purge-answer.js';
import type { PurgeReport, Item } from '../../../sidecar/purge/index.js';
import type { ItemError } from '../../../sidecar/purge/ledger/index.js';
import { words } from '../../support/words.js';

const CLEAN: PurgeReport = {
  dryRun: false,
  matched: 3,
  deleted: 3,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  success: ['urn:a:1', 'urn:a:2', 'urn:a:3'],
  errors: [],
  sample: [],
  warnings: [],
  arrived: 0,
  requests: 4,
  retries: 0,
};
const PROBLEM = { type: 'about:blank', title: 'Forbidden', status: 403 };
const COUNTS = { 'purge-matched': '3', 'purge-deleted': '3', 'purge-already-gone': '0', 'purge-failed': '0' };

describe('purgeAnswer', () => {
  it('purgeAnswer is 204 with counts and no body when all matches are gone', () => {
    assert.deepEqual(purgeAnswer(CLEAN, { id: 'p1', durationMs: 12, wantsRepresentation: false }), {
      status: 204,
      headers: COUNTS,
    });
  });

  it('purgeAnswer is 204 when nothing matched', () => {
    const nothing = { ...CLEAN, matched: 0, deleted: 0, success: [] };
    const { status, headers, body } = purgeAnswer(nothing, {
      id: 'p1',
      durationMs: 1,
      wantsRepresentation: false,
    });
    assert.deepEqual([status, headers['purge-matched'], body], [204, '0', undefined]);
  });

  it('purgeAnswer is 200 with a summary when the client asked for a representation, and says so', () => {
    assert.deepEqual(purgeAnswer(CLEAN, { id: 'p1', durationMs: 12, wantsRepresentation: true }), {
      status: 200,
      headers: { ...COUNTS, 'preference-applied': 'return=representation' },
      body: {
        id: 'p1',
        matched: 3,
        deleted: 3,
        alreadyGone: 0,
        failed: 0,
        unknown: 0,
        durationMs: 12,
        requests: 4,
      },
    });
  });

  it('purgeAnswer is 200 with matches and sample for a dry run, and never claims a delete', () => {
    const report = { ...CLEAN, dryRun: true, deleted: 0, success: [], sample: ['urn:a:1'] };
    for (const wants of [true, false]) {
      assert.deepEqual(purgeAnswer(report, { id: 'p1', durationMs: 1, wantsRepresentation: wants }), {
        status: 200,
        headers: { 'purge-matched': '3' },
        body: { matched: 3, sample: ['urn:a:1'] },
      });
    }
  });

  it('purgeAnswer says what a temporal dry run counts, and shows some of it', () => {
    const time = { observedAt: '2026-01-01T00:00:00Z' };
    const items: readonly Item[] = [
      { entityId: 'urn:a:1', attribute: 'speed', instanceId: 'urn:i:1', datasetId: 'urn:d:1', time },
      { entityId: 'urn:a:1', attribute: 'speed', digest: 'x', time: { createdAt: 'T' } },
      { entityId: 'urn:a:1', attribute: 'color', datasetId: '@none' },
    ];
    const preview = { ...CLEAN, dryRun: true, deleted: 0, success: [], sample: ['urn:a:1'], items };
    assert.deepEqual(
      purgeAnswer({ ...preview, unit: 'instances' }, { id: 'p1', durationMs: 1, wantsRepresentation: false })
        .body,
      {
        matched: 3,
        sample: ['urn:a:1'],
        unit: 'instances',
        items: [
          { entityId: 'urn:a:1', attribute: 'speed', datasetId: 'urn:d:1', instanceId: 'urn:i:1', ...time },
          { entityId: 'urn:a:1', attribute: 'speed', createdAt: 'T' },
          { entityId: 'urn:a:1', attribute: 'color', datasetId: '@none' },
        ],
      },
    );
    for (const unit of ['entities', 'attributes', 'datasets'] as const) {
      const { body } = purgeAnswer(
        { ...preview, unit, isLowerBound: true },
        { id: 'p1', durationMs: 1, wantsRepresentation: true },
      );
      assert.deepEqual(
        [(body as { unit: unknown }).unit, (body as { atLeast: unknown }).atLeast],
        [unit, true],
      );
    }
  });

  it('purgeAnswer names the attribute, dataset, instance and time of each error item', () => {
    const errors: readonly ItemError[] = [
      {
        ...{ entityId: 'urn:a:1', attribute: 'speed', datasetId: 'urn:d:1', instanceId: 'urn:i:1' },
        ...{ time: { observedAt: '2026-01-01T00:00:00Z' }, error: PROBLEM },
      },
      {
        entityId: 'urn:a:1',
        attribute: 'speed',
        digest: 'secret',
        time: { modifiedAt: 'T' },
        error: PROBLEM,
      },
    ];
    const { status, body } = purgeAnswer(
      { ...CLEAN, deleted: 1, failed: 2, success: [], errors },
      { id: 'p1', durationMs: 1, wantsRepresentation: false },
    );
    assert.equal(status, 207);
    assert.deepEqual((body as { errors: unknown }).errors, [
      {
        entityId: 'urn:a:1',
        error: {
          ...PROBLEM,
          ...{ attribute: 'speed', datasetId: 'urn:d:1', instanceId: 'urn:i:1' },
          observedAt: '2026-01-01T00:00:00Z',
        },
      },
      { entityId: 'urn:a:1', error: { ...PROBLEM, attribute: 'speed', modifiedAt: 'T' } },
    ]);
  });

  it('purgeAnswer lists a thousand error items at most, those about warnings included, and counts them all', () => {
    const errors = Array.from({ length: 1000 }, (_, index) => ({
      entityId: `urn:a:${index}`,
      error: PROBLEM,
    }));
    const report = { ...CLEAN, deleted: 0, failed: 5000, errors, success: [], warnings: ['199 - "w"'] };
    const { headers, body } = purgeAnswer(report, { id: 'p1', durationMs: 1, wantsRepresentation: false });
    const listed = (body as { errors: { entityId: string }[] }).errors;
    assert.equal(listed.length, 1000);
    // A warning concerns all matches, so it comes first.
    assert.deepEqual(
      [listed[0]?.entityId, listed[1]?.entityId, listed[999]?.entityId],
      ['urn:ngsi-ld:*', 'urn:a:0', 'urn:a:998'],
    );
    assert.equal(headers['purge-failed'], '5000');
  });

  it('purgeAnswer says that there may be more also where nothing was counted', () => {
    const report = {
      ...CLEAN,
      dryRun: true,
      matched: 0,
      deleted: 0,
      success: [],
      isLowerBound: true as const,
    };
    const { body } = purgeAnswer(report, { id: 'p1', durationMs: 1, wantsRepresentation: false });
    assert.deepEqual(body, { matched: 0, sample: [], atLeast: true });
  });

  it('purgeAnswer passes on two thousand characters of warnings at most, and five hundred of each in its error item', () => {
    const warnings = ['w'.repeat(600), 'x'.repeat(2000)];
    const { headers, body } = purgeAnswer(
      { ...CLEAN, warnings },
      { id: 'p1', durationMs: 1, wantsRepresentation: false },
    );
    assert.equal(headers['ngsild-warning'], warnings.join(', ').slice(0, 2000));
    const [first] = (body as { errors: { error: { detail: string; status: number } }[] }).errors;
    assert.match(first?.error.detail ?? '', /: w{500}\. Matches/);
    assert.equal(first?.error.status, 502);
  });

  it('purgeAnswer is 207 with a BatchOperationResult (clause 5.2.16) when something could not be deleted', () => {
    const errors = [
      { entityId: 'urn:a:3', error: PROBLEM },
      { entityId: 'urn:a:4', attribute: 'speed', error: PROBLEM },
    ];
    const report = { ...CLEAN, deleted: 2, failed: 2, success: ['urn:a:1', 'urn:a:2'], errors };
    assert.deepEqual(purgeAnswer(report, { id: 'p1', durationMs: 12, wantsRepresentation: false }), {
      status: 207,
      headers: { ...COUNTS, 'purge-deleted': '2', 'purge-failed': '2' },
      body: {
        success: ['urn:a:1', 'urn:a:2'],
        errors: [
          { entityId: 'urn:a:3', error: PROBLEM },
          { entityId: 'urn:a:4', error: { ...PROBLEM, attribute: 'speed' } },
        ],
      },
    });
  });

  it('purgeAnswer adds the summary to a 207 on request', () => {
    const report = { ...CLEAN, deleted: 2, failed: 1, errors: [{ entityId: 'urn:a:3', error: PROBLEM }] };
    const { status, body } = purgeAnswer(report, { id: 'p1', durationMs: 12, wantsRepresentation: true });
    assert.equal(status, 207);
    assert.deepEqual(
      Object.keys(body as object).sort(),
      words(`
      alreadyGone deleted durationMs errors failed id matched requests success unknown
    `),
    );
  });

  it('purgeAnswer is 207 when the broker warned that its result was incomplete, and passes the warning on', () => {
    const report = { ...CLEAN, warnings: ['199 csr-1 "no answer"', '110 csr-2 "stale"'] };
    const { status, headers, body } = purgeAnswer(report, {
      id: 'p1',
      durationMs: 12,
      wantsRepresentation: false,
    });
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

  it('a warning is a valid header of at most 2000 characters, whatever text it repeats', () => {
    const headerOf = (warning: string) => {
      const report = { ...CLEAN, warnings: [warning] };
      const options = { id: 'p1', durationMs: 12, wantsRepresentation: false };
      return purgeAnswer(report, options).headers['ngsild-warning'] ?? '';
    };
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

  it('a warning of a purge that ends by 207 is one sentence, with one full stop', () => {
    const report = { ...CLEAN, warnings: ['199 csr-1 "no answer"', 'Nothing matches.'] };
    const { body } = purgeAnswer(report, { id: 'p1', durationMs: 12, wantsRepresentation: false });
    const { errors } = body as { errors: { error: { detail: string } }[] };
    assert.deepEqual(
      errors.map(({ error }) => error.detail),
      [
        'Warning: 199 csr-1 "no answer". Matches that the broker did not list may remain.',
        'Warning: Nothing matches. Matches that the broker did not list may remain.',
      ],
    );
  });

  it('purgeAnswer distinguishes what was already gone from what this purge deleted', () => {
    const report = { ...CLEAN, deleted: 1, alreadyGone: 2 };
    const { status, headers } = purgeAnswer(report, { id: 'p1', durationMs: 12, wantsRepresentation: false });
    assert.deepEqual([status, headers['purge-deleted'], headers['purge-already-gone']], [204, '1', '2']);
    const { body } = purgeAnswer(report, { id: 'p1', durationMs: 12, wantsRepresentation: true });
    assert.equal((body as { alreadyGone: unknown }).alreadyGone, 2);
  });

  it('purgeAnswer is 207 when the outcome of some items is not known, and counts them', () => {
    const errors = [{ entityId: 'urn:a:3', error: { ...PROBLEM, status: 502 } }];
    const report = { ...CLEAN, deleted: 2, unknown: 1, success: ['urn:a:1', 'urn:a:2'], errors };
    const { status, headers, body } = purgeAnswer(report, {
      id: 'p1',
      durationMs: 12,
      wantsRepresentation: true,
    });
    assert.deepEqual([status, headers['purge-unknown'], headers['purge-failed']], [207, '1', '0']);
    const { unknown, errors: shown } = body as { unknown: unknown; errors: unknown[] };
    assert.deepEqual([unknown, shown.length], [1, 1]);
    assert.ok(
      !(
        'purge-unknown' in purgeAnswer(CLEAN, { id: 'p1', durationMs: 1, wantsRepresentation: false }).headers
      ),
    );
  });

  it('purgeAnswer says how many matches arrived during the purge and were left', () => {
    assert.equal(
      purgeAnswer({ ...CLEAN, arrived: 7 }, { id: 'p1', durationMs: 1, wantsRepresentation: false }).headers[
        'purge-arrived'
      ],
      '7',
    );
    assert.ok(
      !(
        'purge-arrived' in purgeAnswer(CLEAN, { id: 'p1', durationMs: 1, wantsRepresentation: false }).headers
      ),
    );
  });
});
