import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { retentionQuery, runQuery, usualMost } from '../../../../sidecar/jobs/retention/run-order.js';
import { QueryRefusedError } from '../../../../sidecar/purge/index.js';
import { PURGE_STATES, type PurgeRecord } from '../../../../sidecar/store/purge-records.js';
import type { RetentionSettings } from '../../../../sidecar/store/retention-records.js';

const NOW = Date.parse('2026-11-22T03:00:00.250Z');
const SETTINGS: RetentionSettings = {
  ...{
    target: 'entities',
    query: 'type=Car',
    olderThan: 'P90D',
    by: 'speed.observedAt',
    schedule: '0 3 * * *',
  },
  ...{ timeZone: 'UTC', maxGrowth: 3, mode: 'enforce', enabled: true },
};

const runs = (...all: readonly (readonly [PurgeRecord['state'], number])[]) =>
  all.map(([state, matched]) => ({ state, matched }) as PurgeRecord);

describe('the purge of a retention policy', () => {
  it('a retention run deletes what is older than the age of its policy, counted from the start of the run', () => {
    const { cutoff, query } = retentionQuery(SETTINGS, NOW);
    assert.equal(cutoff, '2026-08-24T03:00:00Z');
    assert.equal(query, `type=Car&q=speed.observedAt%3C${cutoff}`);
  });

  it('a retention run has its maximum and its rate when it deletes, and only counts in report mode', () => {
    const settings = { ...SETTINGS, maxAffected: 10, maxPerSecond: 5 };
    assert.equal(runQuery(settings, 'type=Car', false), 'type=Car&maxAffected=10&maxPerSecond=5');
    assert.equal(runQuery(settings, 'type=Car', true), 'type=Car&dryRun=true');
    assert.equal(runQuery(SETTINGS, 'type=Car', false), 'type=Car');
  });

  it('a retention policy refuses a query with parameters that the policy has as members', () => {
    for (const more of ['dryRun=true', 'dryRun=false', 'maxAffected=5', 'maxPerSecond=5', 'max%41ffected=5'])
      assert.throws(() => retentionQuery({ ...SETTINGS, query: `type=Car&${more}` }, NOW), QueryRefusedError);
  });
});

describe('the guard against unusually large runs', () => {
  it('the guard compares a run with the median of the last five completed runs', () => {
    for (const [records, most] of [
      [runs(['succeeded', 10]), 30],
      [runs(['succeeded', 10], ['partial', 20]), 45],
      [runs(['succeeded', 30], ['succeeded', 10], ['succeeded', 20]), 60],
      [runs(['succeeded', 9], ['succeeded', 100], ['succeeded', 10]), 30],
      [runs(['failed', 1000], ['refused', 0], ['cancelled', 1], ['interrupted', 2], ['succeeded', 10]), 30],
      [runs(...Array.from({ length: 5 }, () => ['succeeded', 1] as const), ['succeeded', 1000]), 3],
      [runs(['succeeded', 0], ['succeeded', 0], ['succeeded', 9]), 0],
      [runs(...[1, 2, 3, 40].map((matched) => ['succeeded', matched] as const)), 7],
      [runs(...[1, 2, 3, 40, 50, 0].map((matched) => ['succeeded', matched] as const)), 9],
      [runs(['running', 1000], ['queued', 1000]), undefined],
      [runs(), undefined],
    ] as const)
      assert.equal(usualMost(3, records), most, JSON.stringify(records));
  });

  it('runs that the guard made reports of do not count, so that it does not lift itself', () => {
    const [asked, report] = ['type=T&q=a%3C1', 'type=T&q=a%3C1&dryRun=true'];
    const run = (matched: number, dryRun: boolean, query = asked) =>
      ({ state: 'succeeded', matched, dryRun, query }) as PurgeRecord;
    const held = Array.from({ length: 40 }, () => run(300, true));
    assert.equal(usualMost(3, [...held, run(10, false), run(10, false)]), 30);
    assert.equal(usualMost(3, [...held, run(10, true, report)]), 30);
    assert.equal(usualMost(3, [...held, run(0, false)]), 0);
    assert.equal(usualMost(3, held), 0);
    assert.equal(usualMost(3, [run(500, true, report)]), 1500);
  });

  it('a maxGrowth of 0 switches the guard off', () => {
    assert.equal(usualMost(0, runs(['succeeded', 10])), undefined);
  });

  it('the guard never allows more than maxGrowth times the largest of the last five runs', () => {
    const record = fc.record({ state: fc.constantFrom(...PURGE_STATES), matched: fc.nat(10_000) });
    fc.assert(
      fc.property(fc.array(record), fc.double({ min: 0.1, max: 10, noNaN: true }), (records, growth) => {
        const most = usualMost(growth, records as unknown as PurgeRecord[]);
        const ended = records.filter(({ state }) => state === 'succeeded' || state === 'partial').slice(0, 5);
        if (ended.length === 0) assert.equal(most, undefined);
        else assert.ok((most ?? Infinity) <= growth * Math.max(...ended.map(({ matched }) => matched)));
      }),
    );
  });
});
