import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BoundedCache } from '../../../../sidecar/schemas/service/bounded-cache.js';

/** Weighs what its values say; keys count one. */
function cacheOf(maxWeight: number): BoundedCache<number> {
  return new BoundedCache<number>(maxWeight, (value) => value);
}

describe('a bounded cache', () => {
  it('drops what was not used for longest when it weighs too much', async () => {
    const cache = cacheOf(33);
    for (const key of ['a', 'b', 'c']) await cache.getOrMake(key, async () => 10);
    assert.equal(cache.get('a'), 10);
    await cache.getOrMake('d', async () => 10);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key)),
      [10, undefined, 10, 10],
    );
  });

  it('makes room for as many as it takes', async () => {
    const cache = cacheOf(33);
    for (const key of ['a', 'b', 'c']) await cache.getOrMake(key, async () => 10);
    await cache.getOrMake('d', async () => 20);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key)),
      [undefined, undefined, 10, 20],
    );
  });

  it('does not keep what is too heavy for it, nor drop anything for that', async () => {
    const cache = cacheOf(33);
    await cache.getOrMake('a', async () => 10);
    assert.equal(await cache.getOrMake('b', async () => 33), 33);
    assert.deepEqual([cache.get('a'), cache.get('b')], [10, undefined]);
  });

  it('makes a value once for all who ask meanwhile', async () => {
    const cache = cacheOf(100);
    let made = 0;
    const ask = () => cache.getOrMake('a', async () => (made += 1));
    assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1]);
    assert.equal(await ask(), 1);
  });

  it('tells all who asked of a failure, and tries again for the next', async () => {
    const cache = cacheOf(100);
    const failing = () => cache.getOrMake('a', () => Promise.reject(new Error('not now')));
    const settled = await Promise.allSettled([failing(), failing()]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(await cache.getOrMake('a', async () => 7), 7);
  });
});
