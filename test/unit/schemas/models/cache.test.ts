import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Cache, createCache, made } from '../../../../sidecar/schemas/models/contents.js';

interface Sized {
  readonly size: number;
}

/** Keys count one. */
function cacheOf(maxBytes: number): Cache<Sized> {
  return createCache<Sized>(maxBytes, ({ size }) => size);
}

describe('the cache of documents', () => {
  it('the cache of documents evicts the least recently used value when it exceeds its size', async () => {
    const cache = cacheOf(33);
    for (const key of ['a', 'b', 'c']) await made(cache, key, async () => ({ size: 10 }));
    assert.equal(cache.get('a')?.size, 10);
    await made(cache, 'd', async () => ({ size: 10 }));
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key)?.size),
      [10, undefined, 10, 10],
    );
  });

  it('the cache of documents evicts as many values as a new one needs', async () => {
    const cache = cacheOf(33);
    for (const key of ['a', 'b', 'c']) await made(cache, key, async () => ({ size: 10 }));
    await made(cache, 'd', async () => ({ size: 20 }));
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((key) => cache.get(key)?.size),
      [undefined, undefined, 10, 20],
    );
  });

  it('the cache of documents does not keep a value that is larger than the cache, and evicts nothing for it', async () => {
    const cache = cacheOf(33);
    await made(cache, 'a', async () => ({ size: 10 }));
    assert.deepEqual(await made(cache, 'b', async () => ({ size: 33 })), { size: 33 });
    assert.deepEqual([cache.get('a')?.size, cache.get('b')?.size], [10, undefined]);
  });

  it('the cache of documents makes a value once for all concurrent callers', async () => {
    const cache = cacheOf(100);
    let count = 0;
    const ask = () => made(cache, 'a', async () => ({ size: (count += 1) }));
    assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [{ size: 1 }, { size: 1 }, { size: 1 }]);
    assert.deepEqual(await ask(), { size: 1 });
  });

  it('the cache of documents rejects for all concurrent callers when making fails, and tries again for the next one', async () => {
    const cache = cacheOf(100);
    const failing = () => made(cache, 'a', () => Promise.reject(new Error('not now')));
    const settled = await Promise.allSettled([failing(), failing()]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.deepEqual(await made(cache, 'a', async () => ({ size: 7 })), { size: 7 });
  });
});
