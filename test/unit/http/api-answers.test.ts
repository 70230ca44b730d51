import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { created, derived, document, ok, page } from '../../../sidecar/http/api/answer.js';
import { writeOptions } from '../../../sidecar/http/api/conditions.js';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';

const URL_OF_LIST = 'http://gw/api/v2/domains';

describe('a page of a list', () => {
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
    // Items may go between the count and the read: a link to the same page would be followed for ever.
    assert.equal(page([], 3, { limit: 2, offset: 1 }, URL_OF_LIST).headers?.['link'], undefined);
  });

  it('a page of a list changes its ETag exactly when its items or the total change', () => {
    const etag = (items: readonly unknown[], total: number) =>
      page(items, total, { limit: 2, offset: 0 }, URL_OF_LIST).etag;
    assert.equal(etag([1], 1), etag([1], 1));
    assert.equal(new Set([etag([1], 1), etag([1], 2), etag([2], 1)]).size, 3);
  });
});

describe('an answer', () => {
  it('an answer of a resource has its ETag and JSON, and a Location when it is new', () => {
    const body = { bytes: Buffer.from('{"a":1}'), mediaType: 'application/json' };
    assert.deepEqual(ok({ a: 1 }, 'e'), { status: 200, etag: 'e', body });
    const headers = { location: 'http://gw/x' };
    assert.deepEqual(created('http://gw/x', { a: 1 }, 'e'), { status: 201, etag: 'e', headers, body });
  });

  it('an answer that is generated has the ETag of its content', () => {
    assert.equal(derived([1]).etag, derived([1]).etag);
    assert.notEqual(derived([1]).etag, derived([2]).etag);
    assert.match(derived([1]).etag ?? '', /^[\w-]{22}$/);
  });

  it('an answer may be cached only where the request named a version', () => {
    const held = { bytes: Buffer.from('x'), mediaType: 'text/plain', etag: 'e' };
    assert.equal(document(held, 1).isImmutable, true);
    assert.equal(document(held, undefined).isImmutable, false);
  });
});

describe('the conditions of a write to what must be there', () => {
  const there = async () => Promise.resolve();
  const missing = async () => Promise.reject(new Error('not there'));

  it('the conditions of a write to an existing resource are the ETags of If-Match; * adds none', async () => {
    const options = async (ifMatch: readonly string[] | '*' | undefined) =>
      writeOptions({ ifMatch, ifAbsent: false }, () => assert.fail('nothing is looked up'));
    assert.deepEqual(await options(['a', 'b']), { ifMatch: ['a', 'b'] });
    // Weak ETags match nothing, which is another thing than no condition.
    assert.deepEqual(await options([]), { ifMatch: [] });
    assert.deepEqual(await options('*'), {});
    assert.deepEqual(await options(undefined), {});
  });

  it('If-None-Match: * never holds for a write to an existing resource, and a missing resource is reported', async () => {
    for (const ifMatch of [undefined, '*', ['a']] as const) {
      await assert.rejects(writeOptions({ ifMatch, ifAbsent: true }, there), (error) => {
        assert.ok(error instanceof RequestRefusedError);
        return error.problem.status === 412;
      });
      await assert.rejects(writeOptions({ ifMatch, ifAbsent: true }, missing), /not there/);
    }
  });
});
