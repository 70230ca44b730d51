import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { createBaseUrl } from '../../../sidecar/http/api/base-url.js';
import { RequestRefusedError } from '../../../sidecar/http/errors.js';

const request = (host: string | undefined, localAddress?: string, localPort?: number) =>
  ({
    headers: { host, 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' },
    socket: { localAddress, localPort },
  }) as unknown as IncomingMessage;

describe('the base of links', () => {
  it('the base of links is PUBLIC_URL without its final slash, whatever the request says', () => {
    for (const [url, base] of [
      ['https://gw.test', 'https://gw.test'],
      ['https://gw.test/', 'https://gw.test'],
      ['https://gw.test/a/b//', 'https://gw.test/a/b'],
    ] as const) {
      const baseUrlOf = createBaseUrl(new URL(url));
      for (const host of ['other.test', 'no host', undefined]) assert.equal(baseUrlOf(request(host)), base);
    }
  });

  it('without PUBLIC_URL, the base of links is the Host of each request', () => {
    const baseUrlOf = createBaseUrl(undefined);
    for (const host of ['gw.test', 'gw.test:8080', '127.0.0.1', '[::1]:80', 'gw.test', 'a_b-c.test'])
      assert.equal(baseUrlOf(request(host)), `http://${host}`);
  });

  it('the base of links is the gateway’s own address where there is no Host', () => {
    const baseUrlOf = createBaseUrl(undefined);
    for (const host of [undefined, '']) {
      assert.equal(baseUrlOf(request(host, '10.0.0.1', 8080)), 'http://10.0.0.1:8080');
      assert.equal(baseUrlOf(request(host, '::1', 8080)), 'http://[::1]:8080');
    }
  });

  it('an invalid Host never becomes the base of links, however often it is sent', () => {
    const baseUrlOf = createBaseUrl(undefined);
    for (const host of [
      ...['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a,b', '<a>', 'a"', 'a:b', 'a:123456', ':80', '[::1', 'a:99999'],
      ...['256.1.1.1', 'ä.test', '[a.b]'],
    ]) {
      for (let time = 0; time < 2; time += 1) {
        assert.throws(
          () => baseUrlOf(request(host)),
          (error) => error instanceof RequestRefusedError && error.problem.status === 400,
          host,
        );
      }
      assert.equal(baseUrlOf(request('gw.test')), 'http://gw.test');
    }
  });
});
