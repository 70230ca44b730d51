import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { startRecordingBroker, type RecordingBroker } from '../support/recording-broker.js';
import { CAR, etagOf, makeModel, startApi, type ApiClient } from './api-client.js';

after(stopAll);

let broker: RecordingBroker;
let api: ApiClient;
let port: number;
before(async () => {
  broker = await startRecordingBroker();
  ({ api, port } = await startApi({ BROKER_URL: broker.url }));
  await makeModel(api, 'Mobility', 'Car');
});

/**
 * Sends a request-target unchanged.
 * @returns the head of the answer
 */
async function raw(method: string, target: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(`${method} ${target} HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  return text;
}

it('paths under /api/v2 in a non-canonical spelling are 404 or 400, and never reach the broker', async () => {
  for (const target of [
    '/api/v2',
    '/api/v2/',
    '/api/v2/domains/',
    '/api/v2//domains',
    '/api//v2/domains',
    '//api/v2/domains',
    '/api/v2/./domains',
    '/api/v2/domains/../domains',
    '/api/v2/domains/..',
    '/api/v2/domains/Mobility/..',
    '/api/v2/domains/%2e%2e',
    '/api/v2/domains/.',
    '/%61pi/v2/domains',
    '/api/v2/%64omains',
    '/api/v2/domains/Mobility/model%73',
    '/api/v2/domains%2fMobility',
    '/api/v2/domains/Mobility%2fmodels',
    '/api/v2/domains/Mobility%5cmodels',
    '/api/v2\\domains',
    '/api/v2/domains;x=1',
    '/api/v2/domains/Mobility;x=1',
    '/api/v2/domains#fragment',
    '/API/v2/domains',
    '/api/V2/domains',
    '/api/v1/domains',
    '/api/v2/Domains',
    '/api/v2/domains/%',
    '/api/v2/domains/%ff',
    '/api/v2/domains/a%00',
    '/api/v2/nothing',
    '/api/v2/constructor',
    '/api/v2/../../ngsi-ld/v1/entities',
    '/api/v2/..%2f..%2fngsi-ld/v1/entities',
    '/api/v2/domains/../../../ngsi-ld/v1/entities?type=A',
    'api/v2/domains',
    'x/api/v2/domains',
  ]) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await raw(method, target);
      assert.match(answer, /^HTTP\/1\.1 (?:400|404) /, `${method} ${target}: ${answer.slice(0, 100)}`);
      assert.match(answer, /\r\ncontent-type: application\/problem\+json\r\n/i, `${method} ${target}`);
    }
  }
  assert.deepEqual(broker.requests, []);
  assert.equal((await api.get('/domains/Mobility')).status, 200);
});

it('an unsupported method under /api/v2 is 405, and Allow lists the supported ones', async () => {
  const model = '/domains/Mobility/models/Car';
  for (const [target, allowed] of [
    ['/domains', 'GET, HEAD, POST'],
    ['/domains/Mobility', 'GET, HEAD, PUT, DELETE'],
    ['/domains/Nowhere', 'GET, HEAD, PUT, DELETE'],
    ['/domains/Mobility/models', 'GET, HEAD, POST'],
    [model, 'GET, HEAD, PUT, DELETE'],
    [`${model}/schema`, 'GET, HEAD'],
    [`${model}/versions?limit=1`, 'GET, HEAD'],
    [`${model}/files`, 'GET, HEAD'],
    [`${model}/files/schema.json`, 'GET, HEAD'],
    [`${model}/context`, 'GET, HEAD, OPTIONS'],
    ['/contexts', 'GET, HEAD, POST'],
    ['/contexts/Any', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['/references', 'GET, HEAD, PUT, DELETE'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
  ] as const) {
    for (const method of ['PATCH', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'].filter(
      (name) => !allowed.split(', ').includes(name),
    )) {
      const refused = await api.send(method, target, method === 'POST' ? { body: {} } : {});
      assert.equal(refused.status, 405, `${method} ${target}`);
      assert.match(refused.problem().type, /method-not-allowed$/);
      assert.equal(refused.headers.get('allow'), allowed, `${method} ${target}`);
    }
  }
});

it('paths under /api/v2 answer HEAD as GET, without the body', async () => {
  const model = '/domains/Mobility/models/Car';
  await api.put('/references?uri=urn:doc:a', {});
  for (const target of [
    '/domains?limit=1',
    '/domains/Mobility',
    '/domains/Mobility/models',
    model,
    ...['schema', 'openapi', 'context', 'versions', 'files', 'files/schema.json'].map(
      (part) => `${model}/${part}`,
    ),
    '/contexts',
    '/contexts/Mobility~Car?version=1',
    '/references',
    '/references?uri=urn:doc:a',
    '/openapi.json',
    '/domains/Nowhere',
    '/domains?x=1',
  ]) {
    const [get, head] = [await api.get(target), await api.send('HEAD', target)];
    assert.equal(head.status, get.status, target);
    assert.equal(head.text, '');
    const fields = ({ headers }: typeof get) =>
      [...headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'x-request-id'].includes(name));
    assert.deepEqual(fields(head), fields(get), target);
  }
});

it('every GET under /api/v2 is 304 for the current ETag, and 200 after a change', async () => {
  const model = await makeModel(api, 'Cached', 'Car');
  const targets = [
    '/domains',
    '/domains/Cached',
    '/domains/Cached/models',
    model,
    ...['schema', 'schema?bundled=true', 'schema?version=1', 'openapi', 'context', 'versions', 'files'].map(
      (part) => `${model}/${part}`,
    ),
    '/contexts',
    '/contexts/Cached~Car',
    '/contexts/ngsi-ld-core-context-v1.8',
    '/references',
    '/openapi.json',
  ];
  for (const target of targets) {
    const etag = etagOf(await api.get(target));
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await api.send(method, target, { headers: { 'if-none-match': known } });
        assert.equal(answer.status, 304, `${method} ${target} ${known}`);
        assert.equal(answer.text, '');
        assert.equal(answer.headers.get('etag'), etag);
        assert.ok(answer.headers.has('cache-control'));
      }
    }
    const other = await api.get(target, { 'if-none-match': '"x"' });
    assert.equal(other.status, 200);
  }
  const etag = etagOf(await api.get(model));
  await api.put(model, { schema: CAR, description: 'changed' });
  assert.equal((await api.get(model, { 'if-none-match': etag })).status, 200);
});

it('a context is served without the tenant of the request, since caches may keep the answer', async () => {
  const answer = await api.get('/contexts/Mobility~Car', { 'ngsild-tenant': 'south' });
  assert.equal(answer.headers.get('ngsild-tenant'), null);
});
