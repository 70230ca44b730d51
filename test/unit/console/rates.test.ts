import assert from 'node:assert/strict';
import { it } from 'node:test';
import { averageRate, withSample, type RateSample } from '../../../console/purge/use-purge.js';

const START = Date.parse('2026-11-23T10:00:00Z');
const startedAt = new Date(START).toISOString();

it('the average of a purge is from its start to its end, unless it has not ended, deleted nothing or was too short', () => {
  const averageAfter = (milliseconds: number, deleted: number) =>
    averageRate({ startedAt, endedAt: new Date(START + milliseconds).toISOString(), deleted });
  assert.equal(averageAfter(4000, 1000), 250);
  assert.equal(averageAfter(1000, 5), 5);
  assert.deepEqual([averageAfter(999, 5), averageAfter(4000, 0)], [undefined, undefined]);
  assert.equal(averageRate({ startedAt, deleted: 5 }), undefined);
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
