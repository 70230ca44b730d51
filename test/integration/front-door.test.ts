import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import {
  closeAll,
  connect,
  exchange,
  problemOf,
  request,
  startFixedBroker,
  statusOf,
  type RawBroker,
} from './pass-through-wire.js';

let broker: RawBroker;
let gateway: TestGateway;
let port: number;
/** The request lines that the broker has received. */
const seen = (): string[] => broker.received.join('').match(/^\S+ \S+ HTTP\/1\.1$/gm) ?? [];
const lastReason = () => gateway.log.with('request refused').at(-1)?.['reason'];

before(async () => {
  broker = await startFixedBroker();
  gateway = await startTestGateway({ BROKER_URL: broker.url.href });
  ({ port } = gateway);
});
after(async () => {
  await stopAll();
  await closeAll();
});

it('the front door answers 400 problem+json to a misspelt DELETE of entities, and gives the correct spelling', async () => {
  const answer = await exchange(port, request('DELETE /ngsi-ld/v1//entities?type=T'));
  assert.equal(statusOf(answer), 400);
  assert.match(answer, /\r\nContent-Type: application\/problem\+json\r\n/);
  const problem = problemOf(answer);
  assert.equal(problem.type, 'https://uri.etsi.org/ngsi-ld/errors/InvalidRequest');
  assert.equal(problem.status, 400);
  assert.equal(problem.instance, '/ngsi-ld/v1//entities');
  assert.match(problem.detail, /DELETE \/ngsi-ld\/v1\/entities\?/);
  assert.equal(lastReason(), 'inexact-collection');
});

it("this service's own routes accept a target in absolute form, and purges do not (RFC 9112, section 3.2.2)", async () => {
  for (const [target, status] of [
    ['GET http://gateway.example/health/live', 200],
    ['GET HTTP://127.0.0.1:1/api/v2/domains?limit=1', 200],
    ['GET http://127.0.0.1', 200],
    ['GET http://127.0.0.1?x', 200],
    ['GET http://127.0.0.1/api/v2/nothing', 404],
    ['DELETE http://127.0.0.1/api/v2/domains/none', 404],
    ['DELETE http://127.0.0.1/ngsi-ld/v1/entities?type=T', 400],
  ] as const) {
    const answer = await exchange(port, request(target));
    assert.equal(statusOf(answer), status, `${target}: ${answer}`);
  }
  assert.equal(lastReason(), 'inexact-collection');
});

it('the front door refuses transfer codings other than chunked with 501, for purges and forwarded requests (RFC 9112, section 6.1)', async () => {
  const body = '0\r\n\r\nDELETE /ngsi-ld/v1/entities/urn:smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const line of ['POST /ngsi-ld/v1/x', 'DELETE /ngsi-ld/v1/entities', 'POST /api/v2/domains']) {
    const before = seen().length;
    for (const coding of ['gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'xchunked', 'identity']) {
      const answer = await exchange(port, request(line, [`Transfer-Encoding: ${coding}`], body));
      // The connection may also be closed without an answer if the bytes that follow are not HTTP.
      assert.ok(answer === '' || [400, 501].includes(statusOf(answer)), answer);
    }
    const answer = await exchange(port, request(line, ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'));
    assert.equal(statusOf(answer), 501);
    assert.match(problemOf(answer).type, /transfer-coding-not-supported$/);
    assert.equal(seen().length, before, line);
  }
  assert.doesNotMatch(broker.received.join(''), /smuggled/);
});

it('a Transfer-Encoding in HTTP/1.0 is 400 and closes the connection, even if the request has other faults (RFC 9112, section 6.1)', async () => {
  const rest = '0\r\n\r\n';
  for (const line of ['POST /ngsi-ld/v1/x', 'DELETE /ngsi-ld/v1/entities', 'POST /api/v2/domains']) {
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
  assert.equal(lastReason(), 'fields');
  const kept = await connect(port);
  kept.send('POST /ngsi-ld/v1/x HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na');
  assert.match(await kept.until(/\[\]$/), /^HTTP\/1\.1 200 [^]*Connection: keep-alive/);
  kept.socket.destroy();
});

it('the front door discards the body of a refused request and keeps the connection', async () => {
  const client = await connect(port);
  const body = 'DELETE /ngsi-ld/v1/entities/urn:smuggled HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100);
  client.send(`DELETE /ngsi-ld/v1//entities HTTP/1.1\r\nHost: g\r\nContent-Length: ${body.length}\r\n\r\n`);
  await client.until(/^HTTP\/1\.1 400 [^]*\}$/);
  client.send(body);
  client.send(request('GET /health/live'));
  assert.match(await client.closed(), /^HTTP\/1\.1 400 [^]*\}HTTP\/1\.1 200 [^]*\{"status":"up"\}$/);
  assert.doesNotMatch(broker.received.join(''), /smuggled/);
});

it('the front door answers Expect: 100-continue for Fastify, and with only the refusal if it refuses the request', async () => {
  const expect = ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 15'];
  const client = await connect(port);
  client.send(request('POST /api/v2/domains', expect));
  await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  client.send('{"name":"Town"}');
  assert.match(await client.closed(), /HTTP\/1\.1 201 /);

  const kept = request('DELETE /ngsi-ld/v1//entities', expect).replace('Connection: close\r\n', '');
  const answer = await exchange(port, kept);
  assert.equal(statusOf(answer), 400);
});

it('the front door answers 414 to a path of more than 8 KiB, and to a target of more than 16 KiB on routes of the gateway', async () => {
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
