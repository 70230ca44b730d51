import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import { stopAll } from '../support/gateway-harness.js';
import { words } from '../support/words.js';

let now = Date.UTC(2026, 0, 1);
let broker: BrokerUnderTest;
let send: BrokerUnderTest['send'];
before(async () => {
  broker = await startBroker({
    clock: { now: () => now, monotonicMs: () => now, sleep: async () => undefined },
  });
  ({ send } = broker);
});
after(stopAll);
const id = 'urn:ngsi-ld:Car:1';
const path = `/entities/${encodeURIComponent(id)}`;
const car = {
  id,
  type: 'Car',
  speed: { type: 'Property', value: 50 },
  load: [
    { type: 'Property', value: 1 },
    { type: 'Property', value: 2, datasetId: 'urn:ds:2' },
  ],
};

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  await send('DELETE', path);
  assert.equal((await send('POST', '/entities', car)).status, 201);
});

const read = async (query = '') => (await send('GET', path + query)).body as Record<string, unknown>;

it('POST of an entity answers 201 with Location, and a repeated POST 409 AlreadyExists', async () => {
  const created = await send('POST', '/entities', {
    id: 'urn:ngsi-ld:Car:é 2'.replace(' ', ''),
    type: 'Car',
  });
  assert.equal(created.status, 201);
  const location = created.headers.get('location') ?? '';
  assert.equal((await fetch(broker.url + location)).status, 200);
  assertProblem(await send('POST', '/entities', car), 409, 'AlreadyExists');
});

it('an entity is read as it was written, in each requested form', async () => {
  assert.deepEqual(await read(), car);
  assert.deepEqual(await read('?pick=id,speed'), { id, speed: car.speed });
  assert.deepEqual(await read('?format=simplified&attrs=speed'), { id, type: 'Car', speed: 50 });
  assert.deepEqual(await read('?options=keyValues&pick=speed'), { speed: 50 });
  const times = { createdAt: '2026-01-01T00:00:00.000Z', modifiedAt: '2026-01-01T00:00:00.000Z' };
  assert.deepEqual(await read('?options=sysAttrs&pick=id,speed'), {
    id,
    ...times,
    speed: { ...car.speed, ...times },
  });
  assertProblem(await send('GET', `${path}?attrs=fuel`), 404, 'ResourceNotFound');
});

it('an answer is JSON-LD with its @context if the client accepts only JSON-LD', async () => {
  const answer = await send('GET', `${path}?pick=id`, undefined, { Accept: 'application/ld+json' });
  assert.equal(answer.headers.get('content-type'), 'application/ld+json');
  assert.deepEqual(Object.keys(answer.body as object), ['id', '@context']);
  assert.equal(answer.headers.get('link'), null);
  assertProblem(await send('GET', path, undefined, { Accept: 'application/geo+json' }), 406);
});

it('a body that breaks the rules for JSON and @context is refused', async () => {
  const ld = { 'Content-Type': 'application/ld+json' };
  const link = {
    Link: '<https://a.example/c>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"',
  };
  const fresh = { id: 'urn:ngsi-ld:Car:3', type: 'Car' };
  assertProblem(await send('POST', '/entities', '{'), 400, 'InvalidRequest');
  assertProblem(await send('POST', '/entities', '['.repeat(100_000)), 400, 'InvalidRequest');
  assertProblem(await send('POST', '/entities', ''), 400, 'InvalidRequest');
  const deep = `{"id":"urn:ngsi-ld:Car:3","type":"Car","a":{"value":${'['.repeat(300)}${']'.repeat(300)}}}`;
  assertProblem(await send('POST', '/entities', deep), 400, 'InvalidRequest');
  assertProblem(await send('POST', '/entities', [fresh]), 400, 'BadRequestData');
  assertProblem(
    await send('POST', '/entities', { ...fresh, '@context': 'https://a.example' }),
    400,
    'BadRequestData',
  );
  assertProblem(await send('POST', '/entities', fresh, ld), 400, 'BadRequestData');
  assertProblem(
    await send('POST', '/entities', { ...fresh, '@context': [] }, { ...ld, ...link }),
    400,
    'BadRequestData',
  );
  assertProblem(await send('POST', '/entities', fresh, { 'Content-Type': 'text/plain' }), 415);
  assert.equal(broker.entities.has(fresh.id), false);
  assert.equal((await send('POST', '/entities', { ...fresh, '@context': [] }, ld)).status, 201);
});

it('a body over the limit is 413, with or without an announced length', async () => {
  const small = await startBroker({ limits: { maxBodyBytes: 1000 } });
  assertProblem(await small.send('POST', '/entities', { ...car, note: 'x'.repeat(1000) }), 413);
  const chunks = ReadableStream.from([600, 600, 600].map((size) => new Uint8Array(size).fill(0x20)));
  const chunked = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: chunks,
    duplex: 'half',
  };
  const response = await fetch(`${small.url}/ngsi-ld/v1/entities`, chunked as RequestInit);
  assert.equal(response.status, 413);
});

it('urn:ngsi-ld:null removes an attribute of any kind in a merge and an update, and is not stored', async () => {
  const gone = 'urn:ngsi-ld:null';
  const nulls = { a: { vocab: gone }, b: { json: gone }, c: { languageMap: gone }, d: { value: gone } };
  const kinds = { a: { vocab: 'x' }, b: { json: 1 }, c: { languageMap: { en: 'x' } }, d: { value: 1 } };
  for (const suffix of ['', '/attrs']) {
    const id = `urn:ngsi-ld:Null:1${suffix.length}`;
    await send('POST', '/entities', { id, type: 'Null', ...kinds, e: 1 });
    assert.equal((await send('PATCH', `/entities/${id}${suffix}`, nulls)).status, 204);
    assert.deepEqual((await send('GET', `/entities/${id}?options=keyValues`)).body, {
      id,
      type: 'Null',
      e: 1,
    });
    if (suffix === '') await send('PATCH', `/entities/${id}`, nulls);
    assert.deepEqual((await send('GET', `/entities/${id}?options=keyValues`)).body, {
      id,
      type: 'Null',
      e: 1,
    });
  }
});

it('a merge changes and adds attributes, and urn:ngsi-ld:null removes one', async () => {
  now += 1000;
  const patch = { speed: { value: 60, accuracy: 1 }, fuel: 5, load: 'urn:ngsi-ld:null', type: 'Vehicle' };
  assert.equal((await send('PATCH', path, patch)).status, 204);
  assert.deepEqual(await read(), {
    id,
    type: ['Car', 'Vehicle'],
    speed: { type: 'Property', value: 60, accuracy: { type: 'Property', value: 1 } },
    fuel: { type: 'Property', value: 5 },
  });
  const { createdAt, modifiedAt } = await read('?options=sysAttrs');
  assert.deepEqual([createdAt, modifiedAt], ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z']);
  const { speed } = await read('?options=sysAttrs');
  const times = speed as { readonly createdAt: string; readonly modifiedAt: string };
  assert.deepEqual([times.createdAt, times.modifiedAt], [createdAt, modifiedAt]);
  assert.ok((await broker.idsOf('type=Vehicle')).includes(id));
});

it('a merge accepts an array as the value of a Property', async () => {
  for (const tags of [['a', 'b'], ['a'], []]) {
    assert.equal((await send('PATCH', path, { tags })).status, 204);
    assert.deepEqual((await read())['tags'], { type: 'Property', value: tags });
  }
  assert.equal((await send('PATCH', path, { tags: 'urn:ngsi-ld:null' })).status, 204);
});

it('a refused change of an entity changes nothing', async () => {
  assertProblem(
    await send('PATCH', path, { fuel: 5, speed: { type: 'Relationship', object: 'urn:x:1' } }),
    400,
  );
  assertProblem(await send('PATCH', path, { fuel: 5, speed: { object: 'urn:x:1' } }), 400);
  assertProblem(await send('PATCH', `${path}/attrs/speed`, { json: 1 }), 400);
  assertProblem(await send('POST', `${path}/attrs`, { fuel: 5, bad: { object: 'no uri' } }), 400);
  assertProblem(await send('PUT', path, { type: 'Boat', bad: null }), 400);
  assertProblem(await send('PATCH', path, { id: 'urn:other:1', fuel: 5 }), 400);
  assertProblem(await send('PATCH', `${path}?type=Boat`, { fuel: 5 }), 404);
  assert.deepEqual(await read(), car);
  assert.equal((await broker.idsOf('type=Boat')).length, 0);
});

it('a replace removes all old attributes', async () => {
  assert.equal((await send('PUT', path, { id, type: 'Boat', length: 9 })).status, 204);
  assert.deepEqual(await read(), { id, type: 'Boat', length: { type: 'Property', value: 9 } });
  assert.ok(!(await broker.idsOf('type=Car&limit=1000')).includes(id));
});

it('an append adds and overwrites attributes; with noOverwrite it reports existing ones and leaves them', async () => {
  assert.equal((await send('POST', `${path}/attrs`, { speed: 70, fuel: 1 })).status, 204);
  const kept = await send('POST', `${path}/attrs?options=noOverwrite`, { speed: 80, doors: 4 });
  assert.equal(kept.status, 207);
  assert.deepEqual((kept.body as { updated: unknown }).updated, ['doors']);
  const beside = await send('POST', `${path}/attrs?options=sysAttrs,noOverwrite`, { speed: 90 });
  assert.deepEqual([beside.status, (beside.body as { updated: unknown }).updated], [207, []]);
  assert.deepEqual(await read('?format=simplified&pick=speed,fuel,doors'), { speed: 70, fuel: 1, doors: 4 });
});

it('an attribute update changes only existing attributes', async () => {
  const answer = await send('PATCH', `${path}/attrs`, { speed: 70, fuel: 1 });
  assert.equal(answer.status, 207);
  assert.deepEqual(await read('?format=simplified&pick=speed,fuel'), { speed: 70 });
  assert.equal((await send('PATCH', `${path}/attrs/speed`, { value: 71 })).status, 204);
  assert.deepEqual(await read('?format=simplified&pick=speed'), { speed: 71 });
  assertProblem(await send('PATCH', `${path}/attrs/fuel`, { value: 71 }), 404, 'ResourceNotFound');
});

it('an entity is deleted once, and only under its own type', async () => {
  assertProblem(await send('DELETE', `${path}?type=Boat`), 404, 'ResourceNotFound');
  assert.equal(broker.entities.has(id), true);
  const answer = await send('DELETE', `${path}?type=Car`);
  assert.deepEqual([answer.status, answer.body], [204, undefined]);
  assertProblem(await send('DELETE', path), 404, 'ResourceNotFound');
  assertProblem(await send('DELETE', '/entities/no-uri'), 400, 'BadRequestData');
  assertProblem(await send('DELETE', '/entities/urn:x:%ff'), 400, 'InvalidRequest');
});

it('an attribute can be deleted by its default instance, by datasetId, or with all instances', async () => {
  assert.equal((await send('DELETE', `${path}/attrs/load?datasetId=urn:ds:2`)).status, 204);
  assert.deepEqual(await read('?format=simplified&pick=load'), { load: 1 });
  assertProblem(await send('DELETE', `${path}/attrs/load?datasetId=urn:ds:2`), 404, 'ResourceNotFound');
  assert.equal((await send('DELETE', `${path}/attrs/load`)).status, 204);
  assertProblem(await send('DELETE', `${path}/attrs/load`), 404, 'ResourceNotFound');
  await send('POST', `${path}/attrs`, { load: car.load });
  assert.equal((await send('DELETE', `${path}/attrs/load?deleteAll=true`)).status, 204);
  assert.deepEqual(await read('?pick=load'), {});
});

it('DELETE on the collection is 405 and deletes nothing', async () => {
  const before = broker.entities.count();
  for (const target of words(`
    /entities?type=Car /entities/?type=Car /entities /temporal/entities?type=Car
  `)) {
    const answer = await send('DELETE', target);
    assertProblem(answer, 405);
    assert.equal(answer.headers.get('allow'), 'GET, POST');
  }
  assertProblem(await send('DELETE', '/entities//'), 404);
  assert.equal(broker.entities.count(), before);
});
