import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ModelCache } from '../../../sidecar/validation/model-cache.js';

describe('the cache of models', () => {
  it('drops the one that was not used for longest when there are too many', () => {
    const cache = new ModelCache<number>({ entries: 2, weight: 100 });
    cache.set('a', 1, 1);
    cache.set('b', 2, 1);
    assert.equal(cache.get('a'), 1);
    cache.set('c', 3, 1);
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [1, undefined, 3]);
  });

  it('drops as many as are too heavy together, but not the newest', () => {
    const cache = new ModelCache<number>({ entries: 9, weight: 10 });
    cache.set('a', 1, 4);
    cache.set('b', 2, 4);
    cache.set('c', 3, 7);
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [undefined, undefined, 3]);
    cache.set('d', 4, 50);
    assert.deepEqual([cache.get('c'), cache.get('d')], [undefined, 4]);
    cache.set('e', 5, 1);
    assert.deepEqual([cache.get('d'), cache.get('e')], [undefined, 5]);
  });

  it('has what a plain list of uses would have', () => {
    const uses = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), weight: fc.nat({ max: 6 }), sets: fc.boolean() }),
    );
    fc.assert(
      fc.property(uses, (all) => {
        const limits = { entries: 3, weight: 10 };
        const cache = new ModelCache<number>(limits);
        let list: { readonly key: string; readonly weight: number }[] = [];
        for (const { key, weight, sets } of all) {
          const known = list.find((one) => one.key === key);
          assert.equal(cache.get(key), known?.weight);
          if (known !== undefined) list = [...list.filter((one) => one !== known), known];
          if (!sets) continue;
          cache.set(key, weight, weight);
          list = [...list.filter((one) => one.key !== key), { key, weight }];
          const isTooMuch = () =>
            list.length > limits.entries || list.reduce((sum, one) => sum + one.weight, 0) > limits.weight;
          while (list.length > 1 && isTooMuch()) list.shift();
        }
      }),
    );
  });
});
