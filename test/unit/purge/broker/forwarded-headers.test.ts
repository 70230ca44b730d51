import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FORWARDED_HEADERS } from '../../../../sidecar/purge/broker/client.js';
import { forwardedHeaders } from '../../../../sidecar/purge/broker/index.js';

describe('forwardedHeaders', () => {
  it('forwardedHeaders passes on @context, tenant, credentials, loop prevention and tracing, and nothing else', () => {
    const forwarded = [
      'authorization',
      'fiware-service',
      'fiware-servicepath',
      'link',
      'ngsild-tenant',
      'traceparent',
      'tracestate',
      'via',
      'x-auth-token',
      'x-request-id',
    ];
    assert.deepEqual([...FORWARDED_HEADERS].sort(), forwarded);
    const all = Object.fromEntries(forwarded.map((name) => [name, `value of ${name}`]));
    const others = [
      'x-gateway-token',
      'x-purge-policy',
      'host',
      'cookie',
      'content-length',
      'prefer',
      'accept',
    ];
    const request = { ...all, ...Object.fromEntries(others.map((name) => [name, 'x'])) };
    assert.deepEqual(forwardedHeaders(request), all);
  });

  it('forwardedHeaders joins repeated headers by a comma and leaves absent ones out', () => {
    const headers = { via: ['1.1 a', '1.1 b'], link: undefined };
    assert.deepEqual(forwardedHeaders(headers), { via: '1.1 a, 1.1 b' });
    assert.deepEqual(forwardedHeaders({}), {});
  });
});
