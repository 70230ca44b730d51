import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import { startTestBroker, startTestGateway, stopAll, type TestGateway } from '../support/gateway-harness.js';
import { holdBack, isDelete } from '../support/recording-broker.js';
import { closeAll, connect, exchange, problemOf, request, statusOf } from './pass-through-wire.js';

after(async () => {
  await closeAll();
  await stopAll();
});

const INFO = 30;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Maximum length of the log line of a refusal, in characters. */
const MAX_LINE = 2000;

const idOf = (answer: string) => /^x-request-id: (.*)\r$/im.exec(answer)?.[1];
const long = (length: number) => 'x'.repeat(length);

/**
 * Requests that are refused before any route sees them: request line, fields, status, and the
 * reason in metrics and log.
 */
const REFUSED: readonly (readonly [string, readonly string[], number, string])[] = [
  ['GET /ngsi-ld/v1/entities?type=A', ['NGSILD-Tenant: a', 'NGSILD-Tenant: b'], 400, 'fields'],
  ['GET /ngsi-ld/v1/entities?type=A', ['NGSILD-Tenant:'], 400, 'fields'],
  ['GET /health/live', ['Host: other'], 400, 'fields'],
  ['GET /ngsi-ld/v1/x', ['Host: other'], 400, 'fields'],
  ['DELETE /ngsi-ld/v1/entities', ['Host: other'], 400, 'fields'],
  ['GET /health/live', Array.from({ length: 600 }, () => 'a: b'), 431, 'fields'],
  ['POST /ngsi-ld/v1/entities', ['Transfer-Encoding: gzip, chunked'], 501, 'fields'],
  [`GET /${long(9000)}`, [], 414, 'length'],
  [`DELETE /ngsi-ld/v1/entities?type=${long(20_000)}`, [], 414, 'length'],
  [`DELETE /ngsi-ld/v1/entities?type=A`, ['Origin: https://evil.example'], 403, 'host'],
  [`DELETE /ngsi-ld/v1//entities${'/%'.repeat(3000)}`, [], 400, 'not-one-resource'],
  ['DELETE /ngsi-ld/v1//entities', [], 400, 'inexact-collection'],
  ['GET /ngsi-ld/../x', [], 400, 'leaves-api'],
  ['GET /health/live', ['Expect: wonders'], 417, 'expectation'],
  ['POST /ngsi-ld/v1/entities', ['Expect: 200-ok', 'Content-Length: 0'], 417, 'expectation'],
  ['DELETE /ngsi-ld/v1/entities', ['Expect: 200-ok', 'Content-Length: 0'], 417, 'expectation'],
  ['CONNECT broker:1026', [], 405, 'method'],
];

/** Bytes that the parser refuses; such a request has no id. */
const UNREADABLE: readonly (readonly [string, number])[] = [
  ['hello\r\n\r\n', 400],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  [request('GET /health/live', ['X-Request-Id: mine', 'Content-Length: 1', 'Content-Length: 2']), 400],
  [request('GET /health/live', ['X-Request-Id: mine', `a: ${long(70_000)}`]), 431],
];

async function refusedIn(gateway: TestGateway, reason: string): Promise<number> {
  const { text } = await gateway.send('GET', '/metrics');
  const found = new RegExp(`requests_refused_total\\{reason="${reason}"\\} (\\d+)`).exec(text);
  return Number(found?.[1] ?? 0);
}

describe('refusals at the edge', () => {
  let broker: EmbeddedBroker;
  let gateway: TestGateway;
  before(async () => {
    broker = await startTestBroker();
    gateway = await startTestGateway({ BROKER_URL: broker.url });
  });
  beforeEach(() => {
    broker.requests.clear();
    gateway.log.lines.length = 0;
    gateway.log.text = '';
  });

  for (const [line, fields, status, reason] of REFUSED) {
    it(`a refusal at the edge has the id of its request, one short line in the log, and is counted: ${status} to ${line.slice(0, 50)} ${fields.slice(0, 2).join(', ')}`, async () => {
      const before = await refusedIn(gateway, reason);
      const body = fields.some((field) => field.startsWith('Transfer')) ? '0\r\n\r\n' : '';
      const given = await exchange(gateway.port, request(line, ['X-Request-Id: given-1', ...fields], body));
      const own = await exchange(gateway.port, request(line, [...fields, 'X-Request-Id: not usable'], body));
      assert.deepEqual([statusOf(given), statusOf(own)], [status, status]);
      assert.equal(problemOf(own).status, status);
      assert.equal(idOf(given), 'given-1');
      const ownId = idOf(own) ?? '';
      assert.match(ownId, UUID);
      const lines = gateway.log.with('request refused');
      assert.deepEqual(
        lines.map((one) => [one['reqId'], one['reason'], one['status'], one.level]),
        [
          ['given-1', reason, status, INFO],
          [ownId, reason, status, INFO],
        ],
      );
      for (const one of gateway.log.text.split('\n')) assert.ok(one.length < MAX_LINE, one);
      assert.equal(await refusedIn(gateway, reason), before + 2);
      // The requests that measure a metric are no part of the test.
      const sent = broker.requests.entries.filter(({ search }) => !search.includes('HealthProbe'));
      assert.deepEqual(sent, []);
    });
  }

  for (const [bytes, status] of UNREADABLE) {
    it(`bytes that are not a request are answered under a new id, which is in their one log line: ${JSON.stringify(bytes.slice(0, 90))}`, async () => {
      const before = await refusedIn(gateway, 'unreadable');
      const answer = await exchange(gateway.port, bytes);
      assert.equal(statusOf(answer), status);
      const id = idOf(answer) ?? '';
      assert.match(id, UUID);
      const [line, ...others] = gateway.log.with('request refused');
      assert.deepEqual(others, []);
      assert.deepEqual(
        [line?.['reqId'], line?.['reason'], line?.['status'], line?.level],
        [id, 'unreadable', status, INFO],
      );
      assert.equal(await refusedIn(gateway, 'unreadable'), before + 1);
    });
  }

  it('letters that are not percent-encoded, as curl sends them, are refused with that reason', async () => {
    for (const target of ['/ngsi-ld/v1/entities?type=Gebäude', '/ngsi-ld/v1/entities/urn:ngsi-ld:Straße:1']) {
      const answer = await exchange(gateway.port, request(`GET ${target} HTTP/1.1`, []));
      assert.deepEqual([statusOf(answer), problemOf(answer).status], [400, 400]);
      assert.match(problemOf(answer).detail, /percent-encode/);
    }
  });

  it('an HTTP/1.0 request is accepted; other versions are 400 and delete nothing', async () => {
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Old:${index}`, type: 'Old' }));
    const purge = (version: string) =>
      exchange(
        gateway.port,
        `DELETE /ngsi-ld/v1/entities?type=Old HTTP/${version}\r\nHost: g\r\nConnection: close\r\n\r\n`,
      );
    for (const version of ['2.0', '0.9', '3.0', '1.2', '2']) {
      const answer = await purge(version);
      assert.deepEqual([version, statusOf(answer), problemOf(answer).status], [version, 400, 400]);
      assert.match(problemOf(answer).type, /InvalidRequest$/);
    }
    assert.equal(broker.entities.count(), 3);
    assert.equal(gateway.log.with('request refused').length, 5);
    assert.equal(statusOf(await purge('1.0')), 204);
    assert.equal(broker.entities.count(), 0);
  });

  it('bytes after a Transfer-Encoding in HTTP/1.0 are never read as a request', async () => {
    broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Behind:${index}`, type: 'Behind' }));
    const purge = 'DELETE /ngsi-ld/v1/entities?type=Behind HTTP/1.1\r\nHost: g\r\n\r\n';
    for (const line of [
      'POST /ngsi-ld/v1/entities',
      'POST /api/v2/domains',
      'DELETE /ngsi-ld/v1/entities?type=X',
    ]) {
      for (const body of ['0\r\n\r\n', '3\r\nabc\r\n0\r\n\r\n']) {
        const head = `${line} HTTP/1.0\r\nHost: g\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n`;
        const answer = await exchange(gateway.port, head + body + purge);
        assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400'], line);
        assert.match(problemOf(answer).detail, /Transfer-Encoding/);
      }
    }
    assert.equal(broker.entities.count(), 3);
  });

  it('a client that resets its connection is neither refused nor logged', async () => {
    const before = await refusedIn(gateway, 'unreadable');
    const client = await connect(gateway.port);
    client.send('GET /health/live HTTP/1.1\r\nHost: ');
    assert.equal((await gateway.send('GET', '/health/live')).status, 200);
    client.socket.resetAndDestroy();
    assert.equal((await gateway.send('GET', '/health/live')).status, 200);
    assert.equal(await refusedIn(gateway, 'unreadable'), before);
    assert.equal(gateway.log.with('request refused').length, 0);
  });

  it('errors of the router and of forwarding have the id of their request, in the answer and in the log', async () => {
    const alone = await startTestGateway({ BROKER_URL: 'http://127.0.0.1:9' });
    for (const [line, status, msg] of [
      ['GET /%zz', 400, 'request refused'],
      ['GET /ngsi-ld/v1/entities?type=A', 502, 'pass-through failed'],
    ] as const) {
      for (const fields of [['X-Request-Id: given-2'], []]) {
        const answer = await exchange(alone.port, request(line, fields));
        assert.equal(statusOf(answer), status);
        const id = idOf(answer) ?? '';
        assert.match(id, fields.length === 0 ? UUID : /^given-2$/);
        assert.equal(alone.log.with(msg).at(-1)?.['reqId'], id);
      }
    }
  });
});

async function startHeld() {
  const broker = await startTestBroker();
  broker.entities.seed(3, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
  const { held, gate } = await holdBack(broker);
  const gateway = await startTestGateway({ BROKER_URL: held.url });
  const client = await connect(gateway.port);
  client.send('DELETE /ngsi-ld/v1/entities?type=Car HTTP/1.1\r\nHost: g\r\n\r\n');
  await held.arrived(isDelete);
  return { broker, gate, gateway, client };
}
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d+/g)?.map(Number);

for (const [what, bytes, status] of [
  ['bytes that are not HTTP', 'garbage\r\n\r\n', 400],
  ['a head that is too large', `GET / HTTP/1.1\r\nHost: g\r\na: ${long(70_000)}\r\n\r\n`, 431],
  ['a request without Host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: g\r\nExpect: x\r\n\r\n', 417],
] as const) {
  it(`a refused request behind a purge neither stops the purge nor receives its answer: ${what}`, async () => {
    const { broker, gate, gateway, client } = await startHeld();
    client.send(bytes);
    // The refusal was sent later, so the gateway has read it by now.
    assert.equal((await gateway.send('GET', '/health/live')).status, 200);
    assert.equal(client.text(), '');
    gate.open();
    assert.deepEqual(statuses(await client.closed()), [204, status]);
    assert.equal(broker.entities.count(), 0);
    assert.equal(gateway.log.with('purge finished').length, 1);
  });
}

it('a purge stops when its client disconnects in the middle of its next request', async () => {
  const { gate, gateway, client } = await startHeld();
  client.send('GET /health/live HTT');
  client.socket.end();
  await client.closed();
  gate.open();
  await gateway.log.until('purge stopped: its caller is gone');
  assert.equal(client.text(), '');
});

it('a CONNECT behind a purge closes the connection, which stops the purge', async () => {
  const { gate, gateway, client } = await startHeld();
  client.send('CONNECT x:1 HTTP/1.1\r\nHost: g\r\n\r\n');
  assert.equal(await client.closed(), '');
  gate.open();
  await gateway.log.until('purge stopped: its caller is gone');
});

it('an unreadable body is answered once, even if its request has been answered already', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const head = 'HTTP/1.1\r\nHost: g\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n';
  for (const [target, detail] of [
    ['/ngsi-ld/v1/entityOperations/query', /not an HTTP/],
    ['/ngsi-ld/../x', /dot segments/],
    ['/api/v2/domains', /media type|Content-Type/],
  ] as const) {
    const client = await connect(gateway.port);
    client.send(`POST ${target} ${head}`);
    if (!target.includes('query')) await client.until(/\}$/);
    client.send('zz\r\n');
    const answer = await client.closed();
    assert.equal(answer.match(/HTTP\/1\.1 \d/g)?.length, 1, answer);
    assert.match(problemOf(answer).detail, detail);
  }
  assert.equal((await gateway.send('GET', '/health/live')).status, 200);
});
