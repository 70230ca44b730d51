import assert from 'node:assert/strict';
import { it } from 'node:test';
import { averageRate, withSample, type RateSample } from '../../../console/purge/rates.js';

const START = Date.parse('2026-11-23T10:00:00Z');
const startedAt = new Date(START).toISOString();

it('the average of a purge is from its start to its end, or to now while it runs', () => {
  const running = averageRate({ startedAt, deleted: 500 }, Date.parse, START + 10_000);
  assert.deepEqual(running, { from: START, to: START + 10_000, perSecond: 50 });
  assert.equal(averageRate({ startedAt, deleted: 5 }, Date.parse, START + 1000)?.perSecond, 5);
  const endedAt = new Date(START + 4000).toISOString();
  const ended = averageRate({ startedAt, endedAt, deleted: 1000 }, Date.parse, START + 999_999);
  assert.deepEqual(ended, { from: START, to: START + 4000, perSecond: 250 });
});

it('a purge has no average if it has deleted nothing, has just started, or started by a clock that is ahead', () => {
  for (const [record, nowMs] of [
    [{ deleted: 5 }, START + 5000],
    [{ startedAt, deleted: 0 }, START + 5000],
    [{ startedAt, deleted: 5 }, START + 20],
    [{ startedAt, deleted: 5 }, START + 999],
    [{ startedAt, deleted: 5 }, START - 3_600_000],
    [{ startedAt: 'never', deleted: 5 }, START + 5000],
  ] as const)
    assert.equal(averageRate(record, Date.parse, nowMs), undefined);
});

it('samples of a long purge stay bounded, from the first to the last', () => {
  let samples: readonly RateSample[] = [];
  for (let at = 0; at < 5000; at += 1) samples = withSample(samples, { at, perSecond: 1 });
  assert.ok(samples.length <= 240 && samples.length > 120);
  // The latest samples are all kept.
  assert.deepEqual(
    samples.slice(-60).map(({ at }) => at),
    Array.from({ length: 60 }, (_, index) => 4940 + index),
  );
  assert.deepEqual([samples[0]?.at, samples.at(-1)?.at], [0, 4999]);
  assert.deepEqual(
    samples.map(({ at }) => at),
    samples.map(({ at }) => at).sort((a, b) => a - b),
  );
});
