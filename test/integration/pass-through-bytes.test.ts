import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  bodyOf,
  closeAll,
  connect,
  exchange,
  headLines,
  request,
  startFixedBroker,
  startGateway,
  startRawBroker,
  statusOf,
  type Gateway,
  type RawBroker,
} from './pass-through-wire.js';

after(closeAll);

/** The request that the broker received last. */
const lastOf = (broker: RawBroker) => broker.received.at(-1) ?? '';

describe('requests reach the broker unchanged', () => {
  let broker: RawBroker;
  let gateway: Gateway;
  before(async () => {
    broker = await startFixedBroker();
    // A new connection for each request, so that the last connection's bytes are those of a single
    // request.
    gateway = await startGateway(broker.url, { agent: { pipelining: 0 } });
  });
  const forwarded = async (text: string) => {
    const answer = await exchange(gateway.port, text);
    assert.equal(statusOf(answer), 200, answer);
    return lastOf(broker);
  };

  for (const target of [
    '/ngsi-ld/v1/entities/urn:a%2F..b?options=a%20b&q=x%3E5;y<6|z',
    '/ngsi-ld/v1/./entities//../entities/%7e%7E/%zz',
    '/ngsi-ld/v1/entities?',
    '/ngsi-ld/v1/entities??a=?&b=/../c',
    '/ngsi-ld/v1/a\\b"c<d>e^f`g{h|i}j#k',
    '//ngsi-ld/v1/entities',
    '/ngsi-ld/v1/entities?__proto__=x&constructor=y',
  ]) {
    it(`path and query reach the broker unchanged, byte for byte: ${target}`, async () => {
      assert.equal(headLines(await forwarded(request(`GET ${target}`)))[0], `GET ${target} HTTP/1.1`);
    });
  }

  it('path and query reach the broker unchanged for any target that the server accepts', async () => {
    const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    const target = fc.string({ unit: character, maxLength: 40 }).map((tail) => `/ngsi-ld/${tail}`);
    await fc.assert(
      fc.asyncProperty(target, async (text) => {
        const line = `PATCH ${text} HTTP/1.1`;
        assert.equal(headLines(await forwarded(request(`PATCH ${text}`)))[0], line);
      }),
      { numRuns: 60 },
    );
  });

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'PURGE']) {
    it(`the method reaches the broker unchanged: ${method}`, async () => {
      assert.match(
        await forwarded(request(`${method} /ngsi-ld/v1/x`)),
        new RegExp(`^${method} /ngsi-ld/v1/x HTTP/1\\.1\r\n`),
      );
    });
  }

  it('a target in absolute form reaches the broker in origin form', async () => {
    for (const [target, sent] of [
      ['http://gateway:8080/ngsi-ld/v1/entities?a=%41', '/ngsi-ld/v1/entities?a=%41'],
      ['HTTP://u@h:1/x?y', '/x?y'],
      ['http://h?a', '/?a'],
      ['http://h', '/'],
    ] as const)
      assert.equal((await forwarded(request(`GET ${target}`))).split('\r\n')[0], `GET ${sent} HTTP/1.1`);
  });

  it('header names, values, order and repetitions reach the broker unchanged', async () => {
    const headers = [
      'NGSILD-Tenant: t1',
      'link: <http://x/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"',
      'X-Twice: one',
      'aCCept: application/ld+json;q=0.9, */*',
      'X-Twice: two',
      'X-Empty: ',
      'X-Latin: caf\xe9 \xff',
      'Authorization: Bearer a.b-c',
      'Cookie: a=b; c=d',
      'Accept-Encoding: gzip, br',
    ];
    const lines = headLines(await forwarded(request('GET /ngsi-ld/v1/x', headers)));
    assert.deepEqual(
      lines.filter((line) => headers.includes(line)),
      headers,
    );
  });

  it("the broker receives its own name in Host, and the client's in X-Forwarded-* and Via", async () => {
    const lines = headLines(await forwarded(request('GET /ngsi-ld/v1/x')));
    assert.deepEqual(
      lines.filter((line) => /^host:/i.test(line)),
      [`host: ${broker.url.host}`],
    );
    assert.deepEqual(
      lines.filter((line) => /^(?:x-forwarded|via)/i.test(line)),
      [
        'X-Forwarded-Host: gateway:8080',
        'X-Forwarded-Proto: http',
        'X-Forwarded-For: 127.0.0.1',
        'Via: 1.1 ngsi-ld-gateway',
      ],
    );
  });

  it('X-Forwarded-* and Via of earlier proxies are kept and extended', async () => {
    const headers = [
      'X-Forwarded-For: 10.0.0.1',
      'via: 1.1 brokerA',
      'X-Forwarded-Host: public.example',
      'X-Forwarded-Proto: https',
    ];
    const lines = headLines(await forwarded(request('GET /ngsi-ld/v1/x', headers)));
    assert.deepEqual(
      lines.filter((line) => /^(?:x-forwarded|via)/i.test(line)),
      [
        'X-Forwarded-For: 10.0.0.1, 127.0.0.1',
        'via: 1.1 brokerA, 1.1 ngsi-ld-gateway',
        'X-Forwarded-Host: public.example',
        'X-Forwarded-Proto: https',
      ],
    );
  });

  it('hop-by-hop headers, headers named by Connection, and secrets of the gateway never reach the broker', async () => {
    const head = await forwarded(
      [
        'GET /ngsi-ld/v1/x HTTP/1.1',
        'Host: gateway',
        'Connection: close, X-Hop, keep-alive',
        'X-Hop: 1',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic x',
        'TE: trailers',
        'Trailer: X-T',
        'Upgrade: h2c',
        'HTTP2-Settings: x',
        'X-GATEWAY-TOKEN: secret',
        'x-purge-policy: {}',
        'X-Stays: 1',
        '',
        '',
      ].join('\r\n'),
    );
    assert.doesNotMatch(head, /x-hop|keep-alive: t|proxy-|\nte:|trailer|upgrade|http2|secret|policy/i);
    assert.match(head, /\r\nX-Stays: 1\r\n/);
  });

  it('Connection never removes a header that the message needs', async () => {
    const kept = [
      'NGSILD-Tenant: t1',
      'Authorization: a',
      'Link: <x>',
      'Content-Type: application/json',
      'X-Forwarded-For: 10.0.0.1',
      'Via: 1.1 a',
    ];
    const head = await forwarded(
      [
        'POST /ngsi-ld/v1/x HTTP/1.1',
        'Host: gateway',
        'Connection: close, host, content-length, NGSILD-Tenant, authorization, link, content-type, x-forwarded-for, via',
        ...kept,
        'Content-Length: 2',
        '',
        '{}',
      ].join('\r\n'),
    );
    for (const line of kept) assert.ok(head.includes(`\r\n${line}`), line);
    assert.match(head, /\r\ncontent-length: 2\r\n/i);
    assert.equal(bodyOf(head), '{}');
  });

  it('the path of the broker URL is prefixed to the unchanged target', async () => {
    const prefixed = await startGateway(new URL('/base/broker//', broker.url), { agent: { pipelining: 0 } });
    await exchange(prefixed.port, request('GET /ngsi-ld/v1/%65?a'));
    assert.match(lastOf(broker), /^GET \/base\/broker\/ngsi-ld\/v1\/%65\?a HTTP/);
  });
});

describe('request bodies reach the broker whole, with any method and framing', () => {
  let broker: RawBroker;
  let gateway: Gateway;
  before(async () => {
    broker = await startRawBroker((socket, text) => {
      const [head = '', body = ''] = text.split(/\r\n\r\n([^]*)/, 2);
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      const isWhole = /^transfer-encoding: chunked/im.test(head)
        ? /(?:^|\r\n)0\r\n\r\n$/.test(body)
        : body.length >= length;
      if (isWhole) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      return isWhole;
    });
    gateway = await startGateway(broker.url, { agent: { pipelining: 0 } });
  });

  for (const method of ['POST', 'PATCH', 'GET', 'DELETE']) {
    it(`a body of ${method} with Content-Length reaches the broker whole`, async () => {
      const answer = await exchange(
        gateway.port,
        request(`${method} /ngsi-ld/v1/x`, ['Content-Length: 5'], 'a\0\xffbc'),
      );
      assert.equal(statusOf(answer), 200);
      assert.match(lastOf(broker), /\r\ncontent-length: 5\r\n/i);
      assert.equal(bodyOf(lastOf(broker)), 'a\0\xffbc');
    });

    it(`a body of ${method} in chunks reaches the broker whole, without the trailers`, async () => {
      const client = await connect(gateway.port);
      client.send(
        request(`${method} /ngsi-ld/v1/x`, ['Transfer-Encoding: chunked', 'Trailer: X-T'], '3\r\nxyz\r\n'),
      );
      while (!lastOf(broker).includes('xyz')) await new Promise(setImmediate);
      client.send('2;ext=1\r\nuv\r\n0\r\nX-T: 1\r\n\r\n');
      assert.equal(statusOf(await client.closed()), 200);
      assert.match(lastOf(broker), /\r\ntransfer-encoding: chunked\r\n/i);
      assert.equal(bodyOf(lastOf(broker)).replace(/[0-9a-f]+\r\n|\r\n/g, ''), 'xyzuv');
      assert.doesNotMatch(lastOf(broker), /X-T/);
    });
  }

  it('an empty POST reaches the broker empty', async () => {
    await exchange(gateway.port, request('POST /ngsi-ld/v1/x', ['Content-Length: 0']));
    assert.match(lastOf(broker), /\r\ncontent-length: 0\r\n/i);
  });
});

it('a client keeps its connection over many requests, including pipelined ones', async () => {
  const broker = await startFixedBroker();
  const gateway = await startGateway(broker.url);
  const client = await connect(gateway.port);
  const text = 'GET /ngsi-ld/v1/x HTTP/1.1\r\nHost: gateway\r\n\r\n';
  for (let count = 1; count <= 3; count += 1) {
    client.send(text);
    await client.until(new RegExp(`^(?:HTTP/1\\.1 200 OK\r\n[^]*?\\[\\]){${count}}$`));
  }
  client.send(text + text);
  await client.until(/^(?:HTTP\/1\.1 200 OK\r\n[^]*?\[\]){5}$/);
  assert.match(client.text(), /\r\nConnection: keep-alive\r\n/);
  client.socket.destroy();
});
