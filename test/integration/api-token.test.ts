import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { ApiClient, CAR, etagOf, makeModel, startApi } from './api-client.js';

after(stopAll);

const TOKEN = 'the-shared-secret';

let open: ApiClient;
let trusted: ApiClient;
let model: string;
before(async () => {
  const { api, url } = await startApi({ GATEWAY_TOKEN: TOKEN });
  open = api;
  trusted = await ApiClient.of(url, { 'x-gateway-token': TOKEN });
  model = await makeModel(trusted, 'Mobility', 'Car');
  await trusted.post('/contexts', { name: 'Own', '@context': {} });
  await trusted.put('/references?uri=urn:doc:a', {});
});

it('every write without the right token is 401, and changes nothing', async () => {
  for (const [method, target, body] of [
    ['POST', '/domains', { name: 'New' }],
    ['DELETE', '/domains/Mobility?cascade=true', undefined],
    ['POST', '/domains/Mobility/models', { name: 'New', schema: CAR }],
    ['PUT', model, { schema: {} }],
    ['PUT', `${model}?dryRun=true`, { schema: {} }],
    ['DELETE', model, undefined],
    ['POST', '/contexts', { name: 'New', '@context': {} }],
    ['PUT', '/contexts/Own', { '@context': { a: 'urn:a' } }],
    ['DELETE', '/contexts/Own', undefined],
    ['PUT', '/references?uri=urn:doc:b', {}],
    ['DELETE', '/references?uri=urn:doc:a', undefined],
  ] as const) {
    for (const headers of [{}, { 'x-gateway-token': 'wrong-secret' }]) {
      const refused = await open.send(method, target, { body, headers });
      assert.equal(refused.status, 401, `${method} ${target}`);
      assert.match(refused.problem().type, /unauthorized$/);
      assert.equal(refused.headers.get('www-authenticate'), 'GatewayToken');
      assert.ok(!refused.text.includes(TOKEN));
    }
  }
  assert.equal((await open.get('/domains/New')).status, 404);
  assert.equal((await open.get(model)).status, 200);
  assert.equal((await open.get('/contexts/Own?version=2')).status, 404);
  assert.equal((await open.get('/references?uri=urn:doc:a')).status, 200);
});

it('an answer to a request without the token reveals neither resources nor faults of the request', async () => {
  for (const [method, target, sent] of [
    ['POST', '/domains', { raw: 'no JSON' }],
    ['POST', '/domains', { raw: '{}', headers: { 'content-type': 'text/plain' } }],
    ['POST', '/domains', { raw: ' '.repeat(6_000_000) }],
    ['POST', '/domains?x=1', { body: {} }],
    ['DELETE', '/domains/Nowhere', {}],
    ['DELETE', '/domains/Mobility', { headers: { 'if-match': '"x"' } }],
    ['PUT', '/domains/Mobility', { body: {} }],
    ['PATCH', '/domains', { body: {} }],
    ['POST', '/nothing', { body: {} }],
    ['DELETE', '/domains/..', {}],
  ] as const) {
    assert.equal((await open.send(method, target, sent)).status, 401, `${method} ${target}`);
  }
});

it('reads need no token', async () => {
  for (const target of [
    '/domains',
    model,
    `${model}/schema`,
    '/contexts/Own',
    '/references',
    '/openapi.json',
  ]) {
    assert.equal((await open.get(target)).status, 200, target);
    assert.equal((await open.send('HEAD', target)).status, 200, target);
  }
  assert.equal((await open.send('OPTIONS', '/contexts/Own')).status, 204);
  assert.equal((await open.get('/nothing')).status, 404);
});

it('writes with the right token succeed', async () => {
  assert.equal((await trusted.post('/domains', { name: 'Done' })).status, 201);
  const etag = etagOf(await trusted.get('/domains/Done'));
  assert.equal((await trusted.delete('/domains/Done', { 'if-match': etag })).status, 204);
});
