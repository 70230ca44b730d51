import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureOf } from '../../../../sidecar/purge/broker/index.js';
import { isRetryableStatus } from '../../../../sidecar/purge/broker/reply.js';
import { replyOf } from './replies.js';

const CONTEXT_ERROR = 'https://uri.etsi.org/ngsi-ld/errors/LdContextNotAvailable';

describe('isRetryableStatus', () => {
  it('isRetryableStatus is 429 and every 5xx but 501, 505, 508, 510 and 511', () => {
    const permanent = [501, 505, 508, 510, 511];
    for (let status = 100; status < 700; status++) {
      const expected = status === 429 || (status >= 500 && status < 600 && !permanent.includes(status));
      assert.equal(isRetryableStatus(status), expected, String(status));
    }
  });
});

describe('failureOf', () => {
  it('failureOf is undefined for every final reply', () => {
    for (const status of [200, 201, 204, 207, 301, 304, 400, 401, 403, 404, 409, 413, 422, 501, 505, 511]) {
      assert.equal(failureOf(replyOf(status, { title: 'x' })), undefined, String(status));
    }
  });

  it('failureOf keeps status, problem and Retry-After of a throttled request', () => {
    const failure = failureOf(replyOf(429, { title: 'Slow down' }, { 'retry-after': '7' }));
    assert.deepEqual(failure, {
      kind: 'throttled',
      status: 429,
      problem: { title: 'Slow down', status: 429 },
      retryAfter: '7',
    });
  });

  it('failureOf is a broker error for the 5xx that may pass, with an HTML page or nothing as body', () => {
    for (const status of [500, 502, 503, 504, 507, 599]) {
      const page = replyOf(status, '<html>Bad Gateway</html>', { 'content-type': 'text/html' });
      assert.deepEqual(failureOf(page), { kind: 'broker-error', status, problem: { status } });
      assert.deepEqual(failureOf(replyOf(status)), { kind: 'broker-error', status, problem: { status } });
    }
  });

  it('failureOf recognises an unavailable @context by its type, whether sent as 503 or 504', () => {
    for (const status of [503, 504]) {
      for (const type of [CONTEXT_ERROR, `${CONTEXT_ERROR} `, 'LdContextNotAvailable']) {
        assert.equal(failureOf(replyOf(status, { type }))?.kind, 'context-unavailable');
      }
      assert.equal(failureOf(replyOf(status, { title: 'Gateway Timeout' }))?.kind, 'broker-error');
    }
  });
});
