import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { startRecordingBroker, type RecordingBroker } from '../support/recording-broker.js';
import { closeAll, connect, exchange, problemOf, request, statusOf } from './pass-through-wire.js';

after(async () => {
  await closeAll();
  await stopAll();
});

/** Spellings of "all entities" that some server would understand. */
const HOSTILE = [
  '//ngsi-ld/v1/entities',
  '/ngsi-ld//v1/entities',
  '/ngsi-ld/v1//entities',
  '/ngsi-ld/v1/entities//',
  '/ngsi-ld/v1/./entities',
  '/./ngsi-ld/v1/entities',
  '/ngsi-ld/v1/entities/.',
  '/ngsi-ld/v1/entities/./',
  '/ngsi-ld/v1/entities/..',
  '/ngsi-ld/v1/x/../entities',
  '/ngsi-ld/v1/entities/urn:x:1/..',
  '/ngsi-ld/v1/entities/urn:x:1/../',
  '/ngsi-ld/v1/entities/urn:x:1%2F..',
  '/ngsi-ld/v1/entities/%2e',
  '/ngsi-ld/v1/entities/%2E%2E/entities',
  '/ngsi-ld/v1/%65ntities',
  '/ngsi-ld/v1/%2565ntities',
  '/%6egsi-ld/v1/entities',
  '/ngsi-ld/v1%2Fentities',
  '/ngsi-ld/v1/entities%2F',
  '/ngsi-ld/v1/entities%3Ftype=Car',
  '/ngsi-ld/v1/entities;x=1',
  '/ngsi-ld/v1;x/entities',
  '/ngsi-ld/v1\\entities',
  '/ngsi-ld/v1/entities\\',
  '/NGSI-LD/v1/entities',
  '/ngsi-ld/v1/Entities',
  '/ngsi-ld/v1/entities%20',
  '/ngsi-ld/v1/entities%00',
  '/ngsi-ld/v1/entities#',
  'http://broker/ngsi-ld/v1/entities',
  'HTTP://broker//ngsi-ld/v1/entities',
  '/ngsi-ld/v1/temporal//entities',
  '/ngsi-ld/v1/temporal/entities/.',
  '/ngsi-ld/v1/subscriptions',
  '/ngsi-ld/v1/',
  '/ngsi-ld',
];

describe('the gateway before a broker', () => {
  let broker: RecordingBroker;
  let gateway: TestGateway;

  before(async () => {
    broker = await startRecordingBroker(({ method }) => ({
      status: 200,
      headers: { 'x-from-the-broker': method, etag: '"1"' },
      body: method === 'HEAD' ? '' : 'the answer',
    }));
    gateway = await startTestGateway({ BROKER_URL: `${broker.url}/prefix/` });
  });

  for (const path of HOSTILE) {
    it(`the broker never receives DELETE ${path}`, async () => {
      const before = broker.requests.length;
      for (const target of [`${path}?type=Car`, path]) {
        const answer = await exchange(gateway.port, request(`DELETE ${target}`));
        assert.ok([400, 404].includes(statusOf(answer)), answer);
        assert.match(answer, /^content-type: application\/problem\+json\r$/im);
        assert.match(problemOf(answer).detail, /\S/);
      }
      assert.equal(broker.requests.length, before);
    });
  }

  it('the broker never receives a DELETE hidden in a POST or behind another request', async () => {
    const before = broker.requests.length;
    const headers = ['X-HTTP-Method-Override: DELETE', 'Content-Length: 0'];
    const overridden = await exchange(gateway.port, request('POST /ngsi-ld/v1/entities', headers));
    assert.equal(statusOf(overridden), 400);
    const smuggled = 'DELETE /ngsi-ld/v1//entities HTTP/1.1\r\nHost: g\r\nX: y';
    const both = ['Content-Length: 0', 'Transfer-Encoding: chunked'];
    const ambiguous = await exchange(
      gateway.port,
      request('POST /ngsi-ld/v1/x', both, `0\r\n\r\n${smuggled}`),
    );
    assert.equal(statusOf(ambiguous), 400);
    assert.equal(broker.requests.length, before);
  });

  const PASSED: readonly (readonly [method: string, target: string, body: string | undefined])[] = [
    ['GET', '/ngsi-ld/v1/entities?type=Car&limit=1&options=keyValues', undefined],
    ['GET', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1?attrs=a%2Cb', undefined],
    ['HEAD', '/ngsi-ld/v1/entities', undefined],
    ['OPTIONS', '/ngsi-ld/v1/entities', undefined],
    ['POST', '/ngsi-ld/v1/entities', '{ "id": "urn:ngsi-ld:Car:1" ,"type":"Car"}'],
    ['POST', '/ngsi-ld/v1//entities', '{}'],
    ['POST', '/ngsi-ld/v1/entityOperations/delete', '["urn:ngsi-ld:Car:1"]'],
    ['PATCH', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1/attrs', '{"a":1}'],
    ['PUT', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1', 'not even JSON'],
    ['DELETE', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1', undefined],
    ['DELETE', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1/attrs/speed?deleteAll=true', undefined],
    ['DELETE', '/ngsi-ld/v1/subscriptions/urn:ngsi-ld:Subscription:1', undefined],
  ];
  for (const [method, target, body] of PASSED) {
    it(`the gateway forwards ${method} ${target} unchanged, and the answer too`, async () => {
      const headers = {
        'content-type': 'application/ld+json',
        'x-custom': 'a, b',
        authorization: 'Bearer t',
      };
      const answer = await gateway.send(method, target, {
        headers: { ...headers, 'ngsild-tenant': 'north' },
        ...(body === undefined ? {} : { body }),
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('x-from-the-broker'), method);
      assert.equal(answer.headers.get('etag'), '"1"');
      assert.equal(answer.text, method === 'HEAD' ? '' : 'the answer');
      const seen = broker.requests.at(-1);
      assert.equal(seen?.method, method);
      assert.equal(seen.url, `/prefix${target}`);
      assert.equal(seen.body, body ?? '');
      for (const [name, value] of Object.entries(headers)) assert.equal(seen.headers[name], value);
      assert.equal(seen.headers['ngsild-tenant'], 'north');
    });
  }

  it('the gateway answers pipelined requests in order, whether answered by itself or by the broker', async () => {
    const client = await connect(gateway.port);
    const head = (line: string) => `${line} HTTP/1.1\r\nHost: g\r\n\r\n`;
    client.send(
      head('GET /ngsi-ld/v1/types') +
        head('DELETE /ngsi-ld/v1/entities?limit=1') +
        head('GET /health/live') +
        head('DELETE /ngsi-ld/v1//entities') +
        request('GET /ngsi-ld/v1/attributes'),
    );
    const answers = await client.closed();
    assert.deepEqual(answers.match(/HTTP\/1\.1 \d{3}/g), [
      'HTTP/1.1 200',
      'HTTP/1.1 400',
      'HTTP/1.1 200',
      'HTTP/1.1 400',
      'HTTP/1.1 200',
    ]);
  });

  it('the gateway answers a malformed or too large request with a problem, and keeps serving', async () => {
    const CASES: readonly (readonly [text: string, status: number])[] = [
      ['NONSENSE\r\n\r\n', 400],
      ['GET /health/live HTTP/1.1\r\nbad header\r\n\r\n', 400],
      [request(`GET /ngsi-ld/v1/entities?q=${'x'.repeat(70_000)}`), 431],
      [request(`DELETE /ngsi-ld/v1/entities?q=${'x'.repeat(300_000)}`), 431],
    ];
    for (const [text, status] of CASES) {
      const answer = await exchange(gateway.port, text);
      assert.equal(statusOf(answer), status);
      assert.match(answer, /\r\nContent-Type: application\/problem\+json\r\n/);
      assert.equal(problemOf(answer).status, status);
    }
    for (const line of ['OPTIONS *', 'delete /ngsi-ld/v1/entities'])
      assert.equal(statusOf(await exchange(gateway.port, request(line))), line === 'OPTIONS *' ? 404 : 400);
    for (const path of ['/%zz', '/health/%E0%A4%A', '/api%']) {
      const answer = await exchange(gateway.port, request(`GET ${path}`));
      assert.ok([400, 404].includes(statusOf(answer)), answer);
      assert.match(problemOf(answer).detail, /\S/);
    }
    assert.equal((await gateway.send('GET', '/health/live')).status, 200);
  });

  it('the gateway forwards a URL of 60 kB', async () => {
    const target = `/ngsi-ld/v1/entities?id=${'urn:x:1,'.repeat(7_400)}urn:x:2`;
    const answer = await gateway.send('GET', target);
    assert.equal(answer.status, 200);
    assert.equal(broker.requests.at(-1)?.url, `/prefix${target}`);
  });

  it('the gateway answers 404 to an unknown path, and 405 with Allow to an unsupported method', async () => {
    for (const path of ['/nowhere?x=1', '/health', '/health/', '/ngsi-ldx/v1/entities']) {
      const answer = await gateway.send('GET', path);
      assert.equal(answer.status, 404);
      assert.equal(answer.problem().type, 'https://uri.etsi.org/ngsi-ld/errors/ResourceNotFound');
      assert.equal(answer.problem().instance, path.split('?', 1)[0]);
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await gateway.send(method, '/health/live');
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('allow'), 'GET, HEAD');
      assert.equal(answer.problem().type, 'urn:ngsi-ld-gateway:problem:method-not-allowed');
    }
  });
});

it('a purge by a URL of 16 kB deletes exactly the named entities, and a longer one deletes nothing', async () => {
  const broker = await startTestBroker();
  const gateway = await startTestGateway({ BROKER_URL: broker.url });
  const ids = Array.from({ length: 600 }, (_, index) => `urn:ngsi-ld:Car:${String(index).padStart(14, '0')}`);
  const entities = [...ids, 'urn:ngsi-ld:Car:other'].map((id) => ({ id, type: 'Car' }));
  await sendJson(gateway.url, 'POST', '/ngsi-ld/v1/entityOperations/create', entities);
  const tooLong = await gateway.purge(`type=Car&id=${ids.join(',')}`);
  assert.equal(tooLong.status, 414, tooLong.text);
  assert.match(tooLong.problem().detail ?? '', /Send a long list of ids in several requests/);
  assert.equal(broker.entities.ids().length, 601);
  for (const some of [ids.slice(0, 520), ids.slice(520)]) {
    const purged = await gateway.purge(`type=Car&id=${some.join(',')}`);
    assert.equal(purged.status, 204, purged.text);
  }
  assert.deepEqual(broker.entities.ids(), ['urn:ngsi-ld:Car:other']);
});
