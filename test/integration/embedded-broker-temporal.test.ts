import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import {
  day,
  instancesOf,
  type Instance,
  room,
  roomId as id,
  roomPath as path,
  valuesOf,
} from './embedded-broker-temporal-room.js';
import { stopAll } from '../support/gateway-harness.js';
import { column } from '../support/columns.js';

let nowMs = 0;
let broker: BrokerUnderTest;
let send: BrokerUnderTest['send'];
let temporal: BrokerUnderTest['temporal'];
before(async () => {
  broker = await startBroker({
    clock: { now: () => nowMs, monotonicMs: () => nowMs, sleep: async () => undefined },
  });
  ({ send, temporal } = broker);
});
after(stopAll);

beforeEach(async () => {
  nowMs = Date.UTC(2026, 5, 1);
  for (const known of temporal.ids()) await send('DELETE', `/temporal/entities/${known}`);
  assert.equal((await send('POST', '/temporal/entities', room)).status, 201);
});

it('POST of a temporal entity creates it, or adds to the existing one', async () => {
  const other = { ...room, id: 'urn:ngsi-ld:Room:2' };
  const created = await send('POST', '/temporal/entities/', other);
  assert.equal(created.status, 201);
  assert.equal(created.body, undefined);
  const location = created.headers.get('location') ?? '';
  assert.equal(location, '/ngsi-ld/v1/temporal/entities/urn%3Angsi-ld%3ARoom%3A2');
  assert.equal((await send('GET', location.replace('/ngsi-ld/v1', ''))).status, 200);

  const added = await send('POST', '/temporal/entities', {
    id,
    type: ['Room', 'Hall'],
    scope: '/House',
    temperature: { value: 19, observedAt: day(3) },
    humidity: [{ type: 'Property', value: 0.5 }],
  });
  assert.equal(added.status, 204);
  assert.equal(added.headers.get('location'), null);
  assert.deepEqual(valuesOf(broker, 'temperature'), [21, 20, 25, 19]);
  assert.deepEqual(valuesOf(broker, 'humidity'), [0.5]);
  assert.deepEqual(temporal.get(id)?.['type'], ['Room', 'Hall']);
  assert.equal(temporal.get(id)?.['scope'], '/House');
  assert.deepEqual([temporal.count(), temporal.attributes(), temporal.instances()], [2, 5, 10]);
  assert.equal((await send('POST', '/temporal/entities', { id, owner: room.owner })).status, 204);
});

it('attributes are added only to an existing temporal entity', async () => {
  const more = { temperature: [{ type: 'Property', value: 18, observedAt: day(4) }] };
  assert.equal((await send('POST', `${path}/attrs`, more)).status, 204);
  assert.equal((await send('POST', `${path}/attrs`, { id, type: 'Room', ...more })).status, 204);
  assert.deepEqual(valuesOf(broker, 'temperature'), [21, 20, 25, 18, 18]);
  assertProblem(await send('POST', `${path}/attrs`, { id: 'urn:x:2', ...more }), 400, 'BadRequestData');
  assertProblem(await send('POST', '/temporal/entities/urn:x:2/attrs', more), 404, 'ResourceNotFound');
  assertProblem(await send('POST', '/temporal/entities/x/attrs', more), 400, 'BadRequestData');
});

it('an invalid temporal entity is refused as a whole', async () => {
  const refused: readonly unknown[] = [
    [room],
    { type: 'Room' },
    { id: 'Room 2', type: 'Room' },
    { id: 'urn:x:2', temperature: room.temperature },
    { id: 'urn:x:2', type: 'Room', temperature: [] },
    { id: 'urn:x:2', type: 'Room', temperature: 5 },
    { id: 'urn:x:2', type: 'Room', temperature: [[{ type: 'Property', value: 1 }]] },
    { id: 'urn:x:2', type: 'Room', temperature: [room.temperature[0], { type: 'Property' }] },
    { id: 'urn:x:2', type: 'Room', temperature: { type: 'Property', value: 1, observedAt: 'today' } },
    { ...room, temperature: { type: 'Property', value: 1, datasetId: 'B' } },
  ];
  for (const body of refused) {
    assertProblem(await send('POST', '/temporal/entities', body), 400, 'BadRequestData');
  }
  assertProblem(await send('POST', '/temporal/entities', '{'), 400, 'InvalidRequest');
  assertProblem(await send('POST', '/temporal/entities?x=1', room), 400, 'InvalidRequest');
  assert.deepEqual([temporal.count(), temporal.instances()], [1, 4]);
});

it('the broker sets instanceId and times itself and ignores those that a client sends', async () => {
  const sent = {
    type: 'Property',
    value: 1,
    instanceId: 'urn:x:mine',
    createdAt: day(1),
    modifiedAt: day(1),
  };
  await send('POST', `${path}/attrs`, { humidity: sent });
  const [instance] = instancesOf(broker, 'humidity');
  assert.match(instance?.instanceId ?? '', /^urn:ngsi-ld:Instance:/);
  assert.equal(instance?.['createdAt'], undefined);
  const shown = await send('GET', `${path}?attrs=humidity&options=sysAttrs`);
  const { humidity } = shown.body as { humidity: Instance };
  assert.equal(humidity['createdAt'], '2026-06-01T00:00:00.000Z');
  const all = [
    ...instancesOf(broker, 'temperature'),
    ...instancesOf(broker, 'owner'),
    ...instancesOf(broker, 'humidity'),
  ];
  assert.equal(new Set(all.map(({ instanceId }) => instanceId)).size, 5);
});

it('every kind of attribute keeps its content in the history', async () => {
  const kinds = {
    location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [1, 2] }, observedAt: day(1) },
    name: { type: 'LanguageProperty', languageMap: { en: 'a', de: 'b' } },
    raw: { type: 'JsonProperty', json: { a: [1] } },
    sort: { type: 'VocabProperty', vocab: 'x' },
    list: { type: 'ListProperty', valueList: [1, 2] },
  };
  await send('POST', '/temporal/entities', { id: 'urn:x:2', type: 'X', ...kinds });
  const { body } = await send('GET', '/temporal/entities/urn:x:2');
  for (const [name, kind] of Object.entries(kinds)) {
    const { instanceId, ...shown } = (body as Record<string, Instance>)[name] ?? { instanceId: '' };
    assert.deepEqual(shown, kind);
    assert.notEqual(instanceId, '');
  }
});

it('an instance is replaced as a whole, and keeps its id and createdAt', async () => {
  const [first] = instancesOf(broker, 'temperature');
  const instance = `${path}/attrs/temperature/${first?.instanceId ?? ''}`;
  nowMs += 1000;
  const replaced = { temperature: [{ type: 'Property', value: 1, observedAt: day(9) }] };
  assert.equal((await send('PATCH', instance, replaced)).status, 204);
  const { body } = await send('GET', `${path}?attrs=temperature&lastN=1&options=sysAttrs`);
  assert.deepEqual((body as { temperature: unknown }).temperature, {
    ...replaced.temperature[0],
    instanceId: first?.instanceId,
    createdAt: '2026-06-01T00:00:00.000Z',
    modifiedAt: '2026-06-01T00:00:01.000Z',
  });
  assertProblem(await send('PATCH', instance, { owner: room.owner }), 400, 'BadRequestData');
  assertProblem(await send('PATCH', instance, room), 400, 'BadRequestData');
  assertProblem(await send('PATCH', instance, { temperature: room.temperature }), 400, 'BadRequestData');
  assertProblem(await send('PATCH', `${path}/attrs/temperature/urn:x:1`, replaced), 404, 'ResourceNotFound');
});

it('a single instance is shown as an object, and several as an array, oldest first', async () => {
  const { status, headers, body } = await send('GET', path);
  assert.equal(status, 200);
  assert.match(headers.get('link') ?? '', /json-ld#context/);
  const { temperature, owner, ...rest } = body as { temperature: Instance[]; owner: Instance };
  assert.deepEqual(rest, { id, type: 'Room' });
  assert.deepEqual(column(temperature, 'value'), [20, 25, 21]);
  const { instanceId, ...content } = temperature[2] ?? { instanceId: '' };
  assert.deepEqual(content, room.temperature[0]);
  assert.equal(instanceId, instancesOf(broker, 'temperature')[0]?.instanceId);
  assert.deepEqual(owner, { ...room.owner, instanceId: instancesOf(broker, 'owner')[0]?.instanceId });
});

it('interval, attributes, datasets and lastN narrow the shown instances of an entity', async () => {
  const show = async (query: string) => {
    const { status, body } = await send('GET', `${path}?${query}`);
    assert.ok(status === 200 || status === 206, JSON.stringify(body));
    const shown: [string, unknown][] = [];
    for (const [name, value] of Object.entries(body as object)) {
      const instances = [value as Instance | Instance[] | string].flat();
      const values = instances.map((each) =>
        typeof each === 'string' ? each : (each['value'] ?? each['object']),
      );
      if (name !== 'id' && name !== 'type') shown.push([name, values]);
    }
    return { status, shown };
  };
  const owner = ['owner', ['urn:ngsi-ld:P:1']];
  assert.deepEqual(await show('timerel=before&timeAt=2026-01-02T00:00:00Z'), {
    status: 200,
    shown: [['temperature', [20, 25]]],
  });
  assert.deepEqual((await show('attrs=owner')).shown, [owner]);
  assert.deepEqual((await show('pick=owner,id')).shown, [owner]);
  assert.deepEqual((await show('datasetId=urn:ngsi-ld:ds:B')).shown, [['temperature', [25]]]);
  assert.deepEqual((await show('datasetId=@none&timerel=after&timeAt=2025-01-01T00:00:00Z')).shown, [
    ['temperature', [20, 21]],
  ]);
  assert.deepEqual(await show('lastN=2'), { status: 206, shown: [['temperature', [21, 25]], owner] });
  assert.deepEqual((await show('attrs=x')).shown, []);
});

it("reads of an entity's history are refused for unknown entities, invalid parameters and unsupported formats", async () => {
  assertProblem(await send('GET', '/temporal/entities/urn:x:2'), 404, 'ResourceNotFound');
  assertProblem(await send('GET', '/temporal/entities/x'), 400, 'BadRequestData');
  assertProblem(await send('GET', `${path}?timeAt=2026-01-01T00:00:00Z`), 400, 'BadRequestData');
  assertProblem(await send('GET', `${path}?type=Room`), 400, 'InvalidRequest');
  assertProblem(await send('GET', `${path}?datasetId=B`), 400, 'BadRequestData');
  assertProblem(await send('GET', `${path}?options=keyValues`), 400, 'InvalidRequest');
  for (const query of ['format=temporalValues', 'options=sysAttrs,aggregatedValues', 'aggrMethods=max']) {
    assertProblem(await send('GET', `${path}?${query}`), 501, 'OperationNotSupported');
  }
});

it('JSON-LD is sent to clients that accept it, also in partial answers', async () => {
  const accept = { Accept: 'application/ld+json' };
  for (const query of ['', '?lastN=1']) {
    const { headers, body } = await send('GET', path + query, undefined, accept);
    assert.equal(headers.get('content-type'), 'application/ld+json');
    assert.ok('@context' in (body as object));
    assert.equal(headers.get('link'), null);
  }
});
