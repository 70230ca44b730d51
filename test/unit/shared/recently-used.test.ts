import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RecentlyUsed } from '../../../sidecar/shared/recently-used.js';

describe('RecentlyUsed', () => {
  it('RecentlyUsed drops the least recently used values when all weigh too much', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', '__proto__'),
      weight: fc.option(fc.nat(6)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const cache = new RecentlyUsed<number>(10, (weight) => weight);
        // Most recently used last.
        let model: (readonly [string, number])[] = [];
        for (const { key, weight } of steps) {
          const held = model.find(([one]) => one === key);
          if (weight === null) {
            assert.equal(cache.get(key), held?.[1]);
            if (held !== undefined) model = [...model.filter(([one]) => one !== key), held];
            continue;
          }
          cache.set(key, weight);
          model = [...model.filter(([one]) => one !== key), [key, weight]];
          while (model.reduce((sum, [, one]) => sum + one, 0) > 10) model.shift();
        }
        for (const key of ['a', 'b', 'c', 'd', '__proto__'])
          assert.equal(cache.get(key), model.find(([one]) => one === key)?.[1]);
      }),
    );
  });
});
