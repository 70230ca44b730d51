import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import { assertProblem, startBroker, type BrokerUnderTest } from './embedded-broker-client.js';
import {
  instancesOf,
  room,
  roomId as id,
  roomPath as path,
  valuesOf,
} from './embedded-broker-temporal-room.js';
import { stopAll } from '../support/gateway-harness.js';

let broker: BrokerUnderTest;
let send: BrokerUnderTest['send'];
let temporal: BrokerUnderTest['temporal'];
before(async () => {
  broker = await startBroker();
  ({ send, temporal } = broker);
});
after(stopAll);

beforeEach(async () => {
  for (const known of temporal.ids()) await send('DELETE', `/temporal/entities/${known}`);
  assert.equal((await send('POST', '/temporal/entities', room)).status, 201);
});

it('a temporal entity is deleted with all its attributes, and a second delete is 404', async () => {
  assert.equal((await send('DELETE', path)).status, 204);
  assert.equal(temporal.has(id), false);
  assertProblem(await send('DELETE', path), 404, 'ResourceNotFound');
  assertProblem(await send('DELETE', '/temporal/entities/x'), 400, 'BadRequestData');
});

it('deleting an attribute of a history removes its default dataset, a named dataset, or all instances', async () => {
  const attribute = `${path}/attrs/temperature`;
  assertProblem(await send('DELETE', `${attribute}?datasetId=urn:x:no`), 404, 'ResourceNotFound');
  assert.equal((await send('DELETE', attribute)).status, 204);
  assert.deepEqual(valuesOf(broker, 'temperature'), [25]);
  assertProblem(await send('DELETE', attribute), 404, 'ResourceNotFound');
  assertProblem(await send('DELETE', `${attribute}?datasetId=@none`), 404, 'ResourceNotFound');
  assertProblem(await send('DELETE', `${attribute}?datasetId=B`), 400, 'BadRequestData');
  assertProblem(await send('DELETE', `${attribute}?deleteAll=yes`), 400, 'BadRequestData');
  assertProblem(await send('DELETE', `${attribute}?type=Room`), 400, 'InvalidRequest');
  assert.equal((await send('DELETE', `${attribute}?datasetId=urn:ngsi-ld:ds:B`)).status, 204);
  assert.equal(temporal.get(id)?.['temperature'], undefined);

  await send('POST', `${path}/attrs`, { temperature: room.temperature });
  assert.equal((await send('DELETE', `${attribute}?datasetId=@none`)).status, 204);
  assert.deepEqual(valuesOf(broker, 'temperature'), [25]);
  const expanded = encodeURIComponent('https://uri.etsi.org/ngsi-ld/default-context/temperature');
  assert.equal((await send('DELETE', `${path}/attrs/${expanded}?deleteAll=true`)).status, 204);
  assert.deepEqual(Object.keys(temporal.get(id) ?? {}), ['id', 'type', 'owner']);
});

it('an instance is deleted alone, only under its own attribute, and only once', async () => {
  const [first, second] = instancesOf(broker, 'temperature');
  const instance = `${path}/attrs/temperature/${encodeURIComponent(second?.instanceId ?? '')}`;
  assertProblem(await send('DELETE', instance.replace('temperature', 'owner')), 404, 'ResourceNotFound');
  assertProblem(await send('DELETE', instance.replace(id, 'urn:x:9')), 404, 'ResourceNotFound');
  assertProblem(await send('DELETE', `${path}/attrs/temperature/urn:x:1`), 404, 'ResourceNotFound');
  assertProblem(await send('DELETE', `${path}/attrs/temperature/1`), 400, 'BadRequestData');
  assert.equal((await send('DELETE', instance)).status, 204);
  assertProblem(await send('DELETE', instance), 404, 'ResourceNotFound');
  assert.deepEqual(valuesOf(broker, 'temperature'), [21, 25]);
  assert.equal(instancesOf(broker, 'temperature')[0]?.instanceId, first?.instanceId);
});

it('a temporal entity without attributes can be retrieved and extended, but no query finds it', async () => {
  for (const name of ['temperature', 'owner']) {
    for (const { instanceId } of instancesOf(broker, name)) {
      assert.equal((await send('DELETE', `${path}/attrs/${name}/${instanceId}`)).status, 204);
    }
  }
  assert.deepEqual((await send('GET', path)).body, { id, type: 'Room' });
  const query =
    '/temporal/entities?type=Room&timeproperty=createdAt&timerel=after&timeAt=1970-01-01T00:00:00Z';
  assert.deepEqual((await send('GET', query)).body, []);
  assert.deepEqual([temporal.count(), temporal.attributes(), temporal.instances()], [1, 0, 0]);
  assert.equal((await send('POST', `${path}/attrs`, { owner: room.owner })).status, 204);
  assert.equal(((await send('GET', query)).body as unknown[]).length, 1);
});

it('DELETE on the collection of temporal entities is refused', async () => {
  for (const target of [
    '/temporal/entities',
    '/temporal/entities/',
    '/temporal/entities?type=Room&local=true',
  ]) {
    const answer = await send('DELETE', target);
    assertProblem(answer, 405);
    assert.equal(answer.headers.get('allow'), 'GET, POST');
  }
  assert.equal(temporal.instances(), 4);
});

it('current entities and history are separate: no write or delete of one changes the other', async () => {
  await send('POST', '/entities', { id, type: 'Room', temperature: 21 });
  assert.equal(temporal.instances(), 4);
  assert.equal((await send('DELETE', `/entities/${id}`)).status, 204);
  assert.equal(temporal.has(id), true);
  await send('POST', '/entities', { id, type: 'Room', temperature: 21 });
  assert.equal((await send('DELETE', path)).status, 204);
  assert.equal(broker.entities.has(id), true);
});

it('current entities and history have the same tenants, each with its own data', async () => {
  const tenant = { 'NGSILD-Tenant': 'city' };
  assertProblem(await send('GET', path, undefined, tenant), 404, 'NonexistentTenant');
  assertProblem(await send('POST', '/temporal/entities', { id }, tenant), 400, 'BadRequestData');
  assertProblem(await send('DELETE', path, undefined, tenant), 404, 'NonexistentTenant');
  assert.equal((await send('POST', '/temporal/entities', room, tenant)).status, 201);
  assert.deepEqual((await send('GET', '/entities?type=Room', undefined, tenant)).body, []);
  assert.equal((await send('DELETE', path, undefined, tenant)).status, 204);
  assert.deepEqual([temporal.count('city'), temporal.count()], [0, 1]);
});
