import assert from 'node:assert/strict';
import { it } from 'node:test';
import { svgOf } from '../../../bench/support/plot.js';

const plot = { name: 'p', title: 'Time & more', x: 'matches', y: 'ms' };

it('a plot draws each curve inside its axes, and its limit dashed in the same colour', () => {
  const svg = svgOf({
    ...plot,
    curves: [
      { name: 'a < b', points: [1000, 10_000, 100_000].map((x) => [x, x / 100] as const) },
      { name: 'limit', points: [[1000, 5] as const, [100_000, 700] as const], isLimit: true },
      { name: 'other', points: [[1000, 20] as const] },
    ],
  });
  const lines = [...svg.matchAll(/<polyline points="([^"]*)" fill="none" stroke="(\S+)"[^/]*\/>/g)];
  assert.equal(lines[0]?.[1], '70,240 430,140 790,40');
  assert.deepEqual(
    lines.map(([line]) => line.includes('dasharray')),
    [false, true, false],
  );
  const [first, limit, other] = lines.map(([, , color]) => color);
  assert.equal(first, limit);
  assert.notEqual(first, other);
  for (const label of ['Time &amp; more', 'a &lt; b', '>100 k<', '>matches<', '>1 k<'])
    assert.ok(svg.includes(label), label);
});

it('an axis of values that are close together begins at zero', () => {
  const svg = svgOf({
    ...plot,
    curves: [{ name: 'memory', points: [[1, 120] as const, [100, 180] as const] }],
  });
  assert.match(svg, /points="70,140 790,40"/);
});
