import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import Fastify from 'fastify';
import { Agent } from 'undici';
import { createFrontDoor, type Refusal } from '../../sidecar/http/front-door.js';
import { createPassThrough } from '../../sidecar/http/pass-through.js';
import {
  bodyOf,
  closeAll,
  closeLater,
  connect,
  exchange,
  problemOf,
  request,
  startFixedBroker,
  statusOf,
  type RawBroker,
} from './pass-through-wire.js';

describe('the front door as the server of Fastify 5', () => {
  let broker: RawBroker;
  let port: number;
  const refused: Refusal[] = [];
  /** Request lines that the broker has seen. */
  const seen = (): string[] => broker.received.join('').match(/^\S+ \S+ HTTP\/1\.1$/gm) ?? [];

  before(async () => {
    broker = await startFixedBroker();
    const passThrough = createPassThrough({ dispatcher: new Agent(), brokerUrl: broker.url, viaName: 'g' });
    const app = Fastify({
      serverFactory: (fastify) => {
        const door = createFrontDoor({
          passThrough,
          fastify,
          checkHost: () => undefined,
          checkLoop: () => undefined,
          onRefused: (reason) => refused.push(reason),
        });
        return http
          .createServer({ maxHeaderSize: 64 * 1024, requireHostHeader: false }, door.request)
          .on('checkContinue', door.checkContinue)
          .on('checkExpectation', door.checkExpectation);
      },
    });
    app.delete('/ngsi-ld/v1/entities', async (req) => ({ purge: req.query }));
    app.delete('/ngsi-ld/v1/entities/', async (req) => ({ purge: req.query }));
    app.get('/health/live', async () => ({ live: true }));
    app.post('/api/v2/echo', async (req) => req.body);
    await app.listen({ port: 0, host: '127.0.0.1' });
    closeLater(async () => app.close());
    port = (app.server.address() as AddressInfo).port;
  });
  after(closeAll);

  it('the front door hands purges to Fastify', async () => {
    const answer = await exchange(port, request('DELETE /ngsi-ld/v1/entities/?type=T'));
    assert.deepEqual(JSON.parse(bodyOf(answer)), { purge: { type: 'T' } });
  });

  it("the front door hands this service's own routes to Fastify", async () => {
    assert.deepEqual(JSON.parse(bodyOf(await exchange(port, request('GET /health/live')))), { live: true });
    assert.equal(statusOf(await exchange(port, request('GET /nowhere'))), 404);
    assert.equal(statusOf(await exchange(port, request('OPTIONS *'))), 404);
  });

  it('the front door passes everything else under /ngsi-ld to the broker', async () => {
    for (const line of [
      'GET /ngsi-ld/v1/entities?type=T',
      'POST /ngsi-ld/v1//entities',
      'DELETE /ngsi-ld/v1/entities/urn:a%2F..b',
    ]) {
      assert.equal(statusOf(await exchange(port, request(line))), 200);
      assert.ok(seen().includes(`${line} HTTP/1.1`), line);
    }
  });

  it('the front door answers 400 problem+json to a DELETE that is neither, and says how to spell it', async () => {
    const answer = await exchange(port, request('DELETE /ngsi-ld/v1//entities?type=T'));
    assert.equal(statusOf(answer), 400);
    assert.match(answer, /\r\nContent-Type: application\/problem\+json\r\n/);
    const problem = problemOf(answer);
    assert.equal(problem.type, 'https://uri.etsi.org/ngsi-ld/errors/InvalidRequest');
    assert.equal(problem.status, 400);
    assert.equal(problem.instance, '/ngsi-ld/v1//entities');
    assert.match(problem.detail, /DELETE \/ngsi-ld\/v1\/entities\?/);
    assert.equal(refused.at(-1), 'inexact-collection');
  });

  it('the front door shows the broker no DELETE of a collection, however it is spelled or disguised', async () => {
    for (const target of [
      '/ngsi-ld/v1/entities',
      '/ngsi-ld/v1/entities/',
      '/ngsi-ld/v1//entities',
      '/ngsi-ld/v1/./entities',
      '/ngsi-ld/v1/entities/.',
      '/ngsi-ld/v1/x/../entities',
      '/ngsi-ld/v1/%65ntities',
      '/ngsi-ld/v1/%2565ntities',
      '/ngsi-ld/v1/entities;x',
      '/ngsi-ld/v1\\entities',
      '/ngsi-ld/v1/ENTITIES',
      '/ngsi-ld/v1/entities#x',
      '/ngsi-ld/v1/entities/urn:x%2F..',
      '/ngsi-ld/v1/temporal/entities',
      '/ngsi-ld/v1/subscriptions',
      'http://broker/ngsi-ld/v1/entities',
    ]) {
      await exchange(port, request(`DELETE ${target}`));
      await exchange(
        port,
        request(`POST ${target}`, ['X-HTTP-Method-Override: DELETE', 'Content-Length: 0']),
      );
    }
    assert.deepEqual(
      seen().filter((line) => line.startsWith('DELETE') && !line.includes('urn:a%2F..b')),
      [],
    );
    assert.doesNotMatch(broker.received.join(''), /override/i);
  });

  it('the front door accepts upper-case methods only', async () => {
    assert.equal(statusOf(await exchange(port, request('delete /ngsi-ld/v1/entities'))), 400);
  });

  it('the front door refuses two Host headers, and an HTTP/1.1 request without one, with 400', async () => {
    for (const line of ['GET /ngsi-ld/v1/x', 'DELETE /ngsi-ld/v1/entities', 'GET /health/live']) {
      const before = seen().length;
      const two = await exchange(port, request(line, ['Host: other']));
      assert.equal(statusOf(two), 400, line);
      assert.match(problemOf(two).detail, /more than one Host/);
      const none = await exchange(port, request(line).replace('Host: gateway:8080\r\n', ''));
      assert.equal(statusOf(none), 400, line);
      assert.match(problemOf(none).detail, /no Host/);
      assert.equal(seen().length, before);
    }
    const old = await exchange(port, 'GET /health/live HTTP/1.0\r\n\r\n');
    assert.equal(statusOf(old), 200);
  });

  it('the front door refuses transfer codings but chunked with 501, for purges and the broker alike (RFC 9112, section 6.1)', async () => {
    const body = '0\r\n\r\nDELETE /ngsi-ld/v1/entities/urn:smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const line of ['POST /ngsi-ld/v1/x', 'DELETE /ngsi-ld/v1/entities', 'POST /api/v2/echo']) {
      const before = seen().length;
      for (const coding of ['gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'xchunked', 'identity']) {
        const answer = await exchange(port, request(line, [`Transfer-Encoding: ${coding}`], body));
        // The connection may also be closed without a word, when what follows is no HTTP.
        assert.ok(answer === '' || [400, 501].includes(statusOf(answer)), answer);
      }
      const answer = await exchange(port, request(line, ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'));
      assert.equal(statusOf(answer), 501);
      assert.match(problemOf(answer).type, /transfer-coding-not-supported$/);
      assert.equal(seen().length, before, line);
    }
    assert.doesNotMatch(broker.received.join(''), /smuggled/);
  });

  it('a Transfer-Encoding in HTTP/1.0 is 400, and its connection ends whatever the request is refused for (RFC 9112, section 6.1)', async () => {
    const rest = '0\r\n\r\n';
    for (const line of ['POST /ngsi-ld/v1/x', 'DELETE /ngsi-ld/v1/entities', 'POST /api/v2/echo']) {
      const before = seen().length;
      for (const version of ['1.0', '2.0', '0.9']) {
        for (const fields of [
          ['Transfer-Encoding: chunked'],
          ['Transfer-Encoding: gzip, chunked'],
          ['Transfer-Encoding: chunked', 'NGSILD-Tenant: a', 'NGSILD-Tenant: b'],
        ]) {
          const head = [`${line} HTTP/${version}`, 'Host: g', 'Connection: keep-alive', ...fields];
          const answer = await exchange(port, `${head.join('\r\n')}\r\n\r\n${rest}`);
          assert.deepEqual([statusOf(answer), problemOf(answer).status], [400, 400], head.join());
          assert.match(answer, /\r\nConnection: close\r\n/, head.join());
          if (version === '1.0' && fields.length === 1)
            assert.match(problemOf(answer).detail, /Transfer-Encoding/);
        }
      }
      assert.equal(seen().length, before, line);
    }
    assert.equal(refused.at(-1), 'fields');
    const kept = await connect(port);
    kept.send('POST /ngsi-ld/v1/x HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na');
    assert.match(await kept.until(/\[\]$/), /^HTTP\/1\.1 200 [^]*Connection: keep-alive/);
    kept.socket.destroy();
  });

  it('the front door refuses expectations but 100-continue with 417, at once', async () => {
    const before = seen().length;
    for (const line of ['GET /health/live', 'POST /ngsi-ld/v1/entities', 'DELETE /ngsi-ld/v1/entities']) {
      const answer = await exchange(port, request(line, ['Expect: 200-ok', 'Content-Length: 5']));
      assert.equal(statusOf(answer), 417);
      assert.equal(problemOf(answer).status, 417);
      assert.equal(refused.at(-1), 'expectation');
    }
    assert.equal(seen().length, before);
  });

  it('the front door discards the body of a refused request and keeps the connection', async () => {
    const client = await connect(port);
    const body = 'DELETE /ngsi-ld/v1/entities/urn:smuggled HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100);
    client.send(`DELETE /ngsi-ld/v1//entities HTTP/1.1\r\nHost: g\r\nContent-Length: ${body.length}\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 400 [^]*\}$/);
    client.send(body);
    client.send(request('GET /health/live'));
    assert.match(await client.closed(), /^HTTP\/1\.1 400 [^]*\}HTTP\/1\.1 200 [^]*\{"live":true\}$/);
    assert.doesNotMatch(broker.received.join(''), /smuggled/);
  });

  it('the front door answers Expect: 100-continue for Fastify, and with the refusal alone where it refuses', async () => {
    const expect = ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 7'];
    const client = await connect(port);
    client.send(request('POST /api/v2/echo', expect));
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.send('{"a":1}');
    assert.match(await client.closed(), /\{"a":1\}$/);

    const kept = request('DELETE /ngsi-ld/v1//entities', expect).replace('Connection: close\r\n', '');
    const answer = await exchange(port, kept);
    assert.equal(statusOf(answer), 400);
  });

  it('the front door refuses a path of more than 8 KiB, and a target of more than 16 KiB where it reads it, with 414', async () => {
    const KB = 1024;
    const line = (start: string, length: number) => start.padEnd(length + start.indexOf('/'), 'x');
    for (const [start, length] of [
      ['GET /ngsi-ld/v1/entities/', 8 * KB + 1],
      ['GET /health/', 8 * KB + 1],
      ['DELETE /ngsi-ld/v1/entities/urn:', 8 * KB + 1],
      ['DELETE /ngsi-ld/v1/entities?type=', 16 * KB + 1],
      ['DELETE /ngsi-ld/v1/entities/urn:a:1?x=', 16 * KB + 1],
      ['POST /ngsi-ld/v1/entityOperations/query?x=', 16 * KB + 1],
      ['GET /health/live?x=', 16 * KB + 1],
    ] as const) {
      const before = seen().length;
      const answer = await exchange(port, request(line(start, length)));
      assert.equal(statusOf(answer), 414, start);
      assert.match(problemOf(answer).detail, /longer than (8192|16384) bytes/);
      assert.equal(seen().length, before, start);
      assert.notEqual(statusOf(await exchange(port, request(line(start, length - 1)))), 414, start);
    }
    assert.equal(statusOf(await exchange(port, request(line('GET /ngsi-ld/v1/entities?id=', 15 * KB)))), 200);
  });
});
