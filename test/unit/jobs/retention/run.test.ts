import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { retentionRun, growthLimit } from '../../../../sidecar/jobs/retention/retention-service.js';
import { QueryRefusedError } from '../../../../sidecar/purge/errors.js';
import { queryText } from '../../../../sidecar/purge/query/parameters.js';
import type { RetentionSettings } from '../../../../sidecar/store/policy-records.js';
import { settingsOf } from '../../../support/retention-settings.js';

const NOW = Date.parse('2026-11-22T03:00:00.250Z');
const SETTINGS = settingsOf({ by: 'speed.observedAt' });

it('a retention run deletes what is older than the age of its policy, counted from the start of the run', () => {
  const { cutoff, selection } = retentionRun(SETTINGS, NOW);
  assert.equal(cutoff, '2026-08-24T03:00:00Z');
  assert.equal(queryText(selection), `type=Car&q=speed.observedAt%3C${cutoff}`);
});

it('a retention run that deletes has its maximum and its rate, and one in report mode only counts', () => {
  const enforced = { ...SETTINGS, mode: 'enforce' } as const;
  const bounded = { maxAffected: 10, maxPerSecond: 5 };
  const options = (settings: RetentionSettings, isReport?: boolean) => {
    const { selection, query } = retentionRun(settings, NOW, isReport);
    return queryText(query).slice(queryText(selection).length);
  };
  assert.equal(options({ ...enforced, ...bounded }), '&maxAffected=10&maxPerSecond=5');
  assert.equal(options({ ...enforced, ...bounded }, true), '&dryRun=true');
  assert.equal(options({ ...SETTINGS, ...bounded, mode: 'report' }), '&dryRun=true');
  assert.equal(options(enforced), '');
});

it('a retention run with record=ids lists what it deletes, and as a report only counts', () => {
  const settings = { ...SETTINGS, query: 'type=Car&record=ids' };
  const recorded = (isReport: boolean) => retentionRun(settings, NOW, isReport).query.get('record');
  assert.deepEqual([recorded(false), recorded(true)], ['ids', undefined]);
  const unknown = { ...SETTINGS, query: 'type=Car&record=all' };
  assert.equal(retentionRun(unknown, NOW, true).query.get('record'), 'all', 'it is refused later');
});

it('a retention policy refuses a query with parameters that the policy has as members', () => {
  for (const more of ['dryRun=true', 'dryRun=false', 'maxAffected=5', 'maxPerSecond=5', 'max%41ffected=5'])
    assert.throws(() => retentionRun({ ...SETTINGS, query: `type=Car&${more}` }, NOW), QueryRefusedError);
});

const runs = (...all: readonly number[]) => all.map((matched) => ({ matched }));

it('the guard allows maxGrowth times the median of the last completed runs', () => {
  for (const [records, most] of [
    [runs(10), 30],
    [runs(10, 20), 45],
    [runs(30, 10, 20), 60],
    [runs(9, 100, 10), 30],
    [runs(0, 0, 9), 0],
    [runs(1, 2, 3, 40), 7],
    [runs(1, 2, 3, 40, 50), 9],
    [runs(), undefined],
  ] as const)
    assert.equal(growthLimit(3, records), most, JSON.stringify(records));
});

it('held-back runs do not count, so that the guard does not lift itself', () => {
  const held = Array.from({ length: 4 }, () => ({ matched: 300, heldBack: true as const }));
  assert.equal(growthLimit(3, [...runs(10), ...held]), 30);
  assert.equal(growthLimit(3, [...runs(0), ...held]), 0);
  assert.equal(growthLimit(3, held), 0, 'what was usual is no longer in the history');
});

it('the guard never allows more than maxGrowth times the largest of the runs', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(10_000), { minLength: 1, maxLength: 5 }),
      fc.double({ min: 0.1, max: 10, noNaN: true }),
      (matches, growth) => {
        assert.ok((growthLimit(growth, runs(...matches)) ?? Infinity) <= growth * Math.max(...matches));
      },
    ),
  );
});
