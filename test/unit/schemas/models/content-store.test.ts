import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  contextUrl,
  isUnderBaseUrl,
  namedContext,
  createCache,
  getOrCreate,
} from '../../../../sidecar/schemas/models/content-store.js';
import { words } from '../../../support/words.js';
import { column } from '../../../support/columns.js';

describe('context URLs', () => {
  it('context URLs lead back to the name and the version of which they were made', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,20}$/);
    const names = fc.oneof(
      name,
      fc.tuple(name, name).map((pair) => pair.join('~')),
    );
    const versions = fc.option(fc.integer({ min: 1, max: 999_999_999 }), { nil: undefined });
    fc.assert(
      fc.property(names, versions, (one, version) => {
        for (const base of ['http://localhost:8080', 'https://city.example/gate'])
          assert.deepEqual(namedContext(contextUrl(base, one, version)), { name: one, version });
      }),
    );
  });

  it('context URLs are understood with an encoded tilde', () => {
    assert.equal(namedContext('http://gw/api/v2/contexts/city%7EBench')?.name, 'city~Bench');
  });

  for (const url of [
    ...words(`
      http://gw/api/v2/contexts/ http://gw/api/v2/contexts/a/b http://gw/api/v2/contexts/a%2Fb
      http://gw/api/v2/contexts/a%ZZ http://gw/api/v2/contexts/a#fragment
      http://gw/api/v2/contexts/a?version=0 http://gw/api/v2/contexts/a?version=1&x=1
      http://gw/api/v2/contexts/a?x http://gw/api/v2/domains/a /api/v2/contexts/a
    `),
    '',
  ]) {
    it(`URLs that are not context URLs of this service are recognised as such: ${url}`, () => {
      assert.equal(namedContext(url), undefined);
    });
  }

  it('context URLs are below the base URL, and not below a URL that only begins alike', () => {
    assert.ok(isUnderBaseUrl('http://gw/x/api/v2/contexts/a', 'http://gw/x'));
    assert.ok(!isUnderBaseUrl('http://gw.evil/api/v2/contexts/a', 'http://gw'));
  });
});

describe('the cache of documents', () => {
  it('the cache of documents keeps no failure, and evicts nothing for a value that is larger than the cache', async () => {
    // Each key counts one.
    const cache = createCache<{ readonly size: number }>(33, ({ size }) => size);
    const failing = () => getOrCreate(cache, 'a', () => Promise.reject(new Error('not now')));
    const settled = await Promise.allSettled([failing(), failing()]);
    assert.deepEqual(column(settled, 'status'), ['rejected', 'rejected']);
    assert.deepEqual(await getOrCreate(cache, 'a', async () => ({ size: 10 })), { size: 10 });
    assert.deepEqual(await getOrCreate(cache, 'b', async () => ({ size: 33 })), { size: 33 });
    assert.deepEqual([cache.get('a')?.size, cache.get('b')?.size], [10, undefined]);
  });
});
