import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCache, made } from '../../../../sidecar/schemas/models/contents.js';
import { column } from '../../../support/columns.js';

describe('the cache of documents', () => {
  it('the cache of documents keeps no failure, and evicts nothing for a value that is larger than the cache', async () => {
    // Each key counts one.
    const cache = createCache<{ readonly size: number }>(33, ({ size }) => size);
    const failing = () => made(cache, 'a', () => Promise.reject(new Error('not now')));
    const settled = await Promise.allSettled([failing(), failing()]);
    assert.deepEqual(column(settled, 'status'), ['rejected', 'rejected']);
    assert.deepEqual(await made(cache, 'a', async () => ({ size: 10 })), { size: 10 });
    assert.deepEqual(await made(cache, 'b', async () => ({ size: 33 })), { size: 33 });
    assert.deepEqual([cache.get('a')?.size, cache.get('b')?.size], [10, undefined]);
  });
});
