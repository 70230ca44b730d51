import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';
import { orderOf, recordedOrderOf, type AskedPurge } from '../../../sidecar/http/purge-order.js';
import type { PurgeOrder } from '../../../sidecar/jobs/new-record.js';
import { PurgeFailedError } from '../../../sidecar/jobs/errors.js';
import { UnsupportedRequestError } from '../../../sidecar/purge/index.js';

const ASKED: AskedPurge = { target: 'entities', query: 'type=T' };
const VOUCHED = { hasToken: true };
const requestOf = (headers: Readonly<Record<string, string>>) =>
  ({ headers, id: 'r-1' }) as unknown as FastifyRequest;

describe('the order of a purge', () => {
  it('an order has the target, the query, the headers for the broker, the caller, the policy and the id of the request', () => {
    const request = requestOf({
      ...{ 'ngsild-tenant': 't', link: '<c>', authorization: 'Bearer x', 'x-request-id': 'not usable' },
      ...{ 'x-consumer-username': 'me', 'x-purge-policy': 'max-affected=5', 'x-gateway-token': 'secret' },
    });
    assert.deepEqual(orderOf(request, { target: 'temporal', query: 'type=T' }, VOUCHED), {
      ...{ target: 'temporal', query: 'type=T', caller: 'me', requestId: 'r-1' },
      policy: { maxAffected: 5 },
      headers: { 'ngsild-tenant': 't', link: '<c>', authorization: 'Bearer x', 'x-request-id': 'r-1' },
    });
  });

  it('the caller of an order is anonymous where no token vouches for it', () => {
    const request = requestOf({ 'x-consumer-username': 'me' });
    assert.equal(orderOf(request, ASKED, { hasToken: false }).caller, 'anonymous');
  });

  it('headers that would move a purge to other data than the live one are refused', () => {
    for (const name of ['ngsild-snapshot', 'ngsild-entitymap']) {
      assert.throws(
        () => orderOf(requestOf({ [name]: 'urn:x' }), ASKED, VOUCHED),
        (error: unknown) => error instanceof UnsupportedRequestError && error.message.includes(name),
      );
    }
  });

  it('headers of a body reach the broker', () => {
    const bodyHeaders = { 'ngsild-tenant': 't', link: '<c>' };
    const { headers } = orderOf(requestOf({ authorization: 'a' }), { ...ASKED, bodyHeaders }, VOUCHED);
    assert.deepEqual(headers, { ...bodyHeaders, authorization: 'a', 'x-request-id': 'r-1' });
  });

  it('a body and a header that name different things are refused, the other header for the tenant too', () => {
    for (const [inBody, header] of [
      ['ngsild-tenant', 'ngsild-tenant'],
      ['ngsild-tenant', 'fiware-service'],
      ['link', 'link'],
    ] as const) {
      const asked = { ...ASKED, bodyHeaders: { [inBody]: 'a' } };
      assert.throws(
        () => orderOf(requestOf({ [header]: 'b' }), asked, VOUCHED),
        (error: unknown) =>
          error instanceof RequestRefusedError &&
          error.problem.status === 400 &&
          error.message.includes(header),
      );
    }
    const other = { ...ASKED, bodyHeaders: { link: '<c>' } };
    assert.equal(orderOf(requestOf({ 'fiware-service': 'b' }), other, VOUCHED).headers['link'], '<c>');
  });
});

describe('the order of a purge that is refused', () => {
  /** Refuses into a list of what would be recorded. */
  function recording() {
    const refused: (readonly [PurgeOrder, unknown])[] = [];
    const refusal = (order: PurgeOrder, error: unknown) => {
      refused.push([order, error]);
      return new PurgeFailedError(error, undefined);
    };
    return { refused, options: { ...VOUCHED, purges: { refusal } } };
  }

  it('an order that is refused is recorded with all that was asked, and without a policy', () => {
    const { refused, options } = recording();
    const request = requestOf({ 'x-purge-policy': 'nonsense', 'x-consumer-id': '7', 'ngsild-tenant': 't' });
    assert.throws(() => recordedOrderOf(request, ASKED, options), PurgeFailedError);
    const [[order, error] = []] = refused;
    assert.deepEqual(order, {
      ...{ target: 'entities', query: 'type=T', caller: '7', requestId: 'r-1', policy: {} },
      headers: { 'ngsild-tenant': 't', 'x-request-id': 'r-1' },
    });
    assert.ok(error instanceof RequestRefusedError);
    assert.equal(refused.length, 1);
  });

  it('what the check finds is refused first, and recorded as well', () => {
    const { refused, options } = recording();
    const found = new Error('found');
    const check = () => {
      throw found;
    };
    assert.throws(
      () => recordedOrderOf(requestOf({ 'x-purge-policy': 'nonsense' }), ASKED, options, check),
      PurgeFailedError,
    );
    assert.deepEqual(
      refused.map(([, error]) => error),
      [found],
    );
  });

  it('an order that holds is not recorded here', () => {
    const { refused, options } = recording();
    let checks = 0;
    const order = recordedOrderOf(requestOf({}), ASKED, options, () => (checks += 1));
    assert.deepEqual([order, checks, refused], [orderOf(requestOf({}), ASKED, VOUCHED), 1, []]);
  });
});
