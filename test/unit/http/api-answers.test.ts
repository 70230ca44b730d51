import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { page } from '../../../sidecar/http/api/answer.js';

const URL_OF_LIST = 'http://gw/api/v2/domains';

it('the links of a list lead to every item once, whatever the limit, and the total is stated', () => {
  fc.assert(
    fc.property(fc.nat({ max: 40 }), fc.integer({ min: 1, max: 12 }), (total, limit) => {
      const all = Array.from({ length: total }, (_, index) => index);
      const seen: number[] = [];
      let offset = 0;
      for (let turn = 0; ; turn += 1) {
        assert.ok(turn <= total, 'the links go on for ever');
        const {
          status,
          headers = {},
          body,
        } = page(all.slice(offset, offset + limit), total, { limit, offset }, URL_OF_LIST);
        assert.deepEqual([status, headers['x-total-count']], [200, String(total)]);
        seen.push(...(JSON.parse(String(body?.bytes)) as number[]));
        const link = /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
        assert.equal(link === undefined, headers['link'] === undefined);
        if (link === undefined) break;
        const next = new URL(link);
        assert.equal(next.origin + next.pathname, URL_OF_LIST);
        assert.equal(next.searchParams.get('limit'), String(limit));
        offset = Number(next.searchParams.get('offset'));
      }
      assert.deepEqual(seen, all);
    }),
  );
});

it('a page past the end of a list has no link', () => {
  assert.equal(page([], 3, { limit: 2, offset: 7 }, URL_OF_LIST).headers?.['link'], undefined);
  // Items may be removed between the count and the read. A link to the same page would then be followed for ever.
  assert.equal(page([], 3, { limit: 2, offset: 1 }, URL_OF_LIST).headers?.['link'], undefined);
});

it('a page of a list changes its ETag exactly if its items or the total change', () => {
  const etag = (items: readonly unknown[], total: number) =>
    page(items, total, { limit: 2, offset: 0 }, URL_OF_LIST).etag;
  assert.equal(etag([1], 1), etag([1], 1));
  assert.equal(new Set([etag([1], 1), etag([1], 2), etag([2], 1)]).size, 3);
});
