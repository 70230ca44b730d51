import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { TaskCosts } from '../../../../sidecar/shared/workers/pool.js';

it('tasks of a queue key are batched only while all of them are quick', () => {
  const took = fc.array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(fc.array(took, { maxLength: 50 }), (noted) => {
      const costs = new TaskCosts();
      for (const ms of noted) costs.record('a', ms);
      const size = costs.batchSize('a');
      assert.ok(Number.isInteger(size) && size >= 1 && size <= 64);
      const last = noted.at(-1);
      if (last === undefined || last.some((ms) => ms >= 20)) assert.equal(size, 1);
      const least = Math.min(...noted.flat());
      // A sum of doubles may lack its last bit.
      if (size > 1) assert.ok(size * least <= 2 + 1e-9);
      const mean = (last ?? []).reduce((sum, ms) => sum + ms, 0) / (last?.length ?? 1);
      if (size > 1) assert.ok(size * mean <= 20 + 1e-9);
      assert.equal(costs.batchSize('b'), 1);
    }),
  );
});

it('a batch of equal tasks is limited to two milliseconds', () => {
  for (const [ms, size] of [
    [0.01, 64],
    [0.1, 20],
    [0.4, 5],
    [0.9, 2],
    [1.1, 1],
    [15, 1],
  ] as const) {
    const costs = new TaskCosts();
    for (let count = 0; count < 20; count += 1) costs.record('a', [ms, ms]);
    assert.equal(costs.batchSize('a'), size);
  }
});

it('quick tasks are still batched after one of them lost its core for a moment', () => {
  const costs = new TaskCosts();
  for (let count = 0; count < 20; count += 1) costs.record('a', Array<number>(16).fill(0.05));
  costs.record('a', [...Array<number>(15).fill(0.05), 4]);
  assert.ok(costs.batchSize('a') >= 16);
  for (let count = 0; count < 20; count += 1) costs.record('a', [4]);
  assert.equal(costs.batchSize('a'), 1);
});

it('tasks are not batched after a slow task until dozens of quick tasks have followed', () => {
  const costs = new TaskCosts();
  costs.record('a', [0.01]);
  assert.equal(costs.batchSize('a'), 64);
  costs.record('a', [0.01, 1000]);
  for (let count = 0; count < 50; count += 1) {
    assert.equal(costs.batchSize('a'), 1);
    costs.record('a', [0.01]);
  }
  for (let count = 0; count < 60; count += 1) costs.record('a', [0.01]);
  assert.equal(costs.batchSize('a'), 64);
  costs.forget('a');
  assert.equal(costs.batchSize('a'), 1);
});

it('costs are remembered for a bounded number of queue keys, the most recently used ones', () => {
  const costs = new TaskCosts();
  costs.record('kept', [0.01]);
  for (let index = 0; index < 999; index += 1) costs.record(`${index}`, [0.01]);
  costs.record('kept', [0.01]);
  costs.record('new', [0.01]);
  const sizes = ['kept', '0', '1', 'new'].map((queueKey) => costs.batchSize(queueKey));
  assert.deepEqual(sizes, [64, 1, 64, 64]);
});
