import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import {
  deletesOf,
  hour,
  instancesOf,
  shownBy,
  startTemporal,
  TEMPORAL,
  without,
} from '../support/temporal-harness.js';
import { column, columns } from '../support/columns.js';

after(stopAll);

const BEFORE = `type=Sensor&timerel=before&timeAt=${hour(8)}`;

interface ItemError {
  readonly entityId: string;
  readonly error: Readonly<Record<string, unknown>>;
}
interface BatchResult {
  readonly success: readonly string[];
  readonly errors: readonly ItemError[];
}

it('a temporal purge uses the delete with the widest scope that is still exact', async () => {
  for (const [query, deletes] of [
    ['type=Sensor', { '/{id}': 6 }],
    ['type=Sensor&attrs=humidity', { '/{id}/attrs/{attr}': 3 }],
    ['type=Sensor&datasetId=urn:ds:b', { '/{id}/attrs/{attr}': 6 }],
    [BEFORE, { '/{id}/attrs/{attr}/{instanceId}': 72 }],
  ] as const) {
    const { broker, purge } = await startTemporal();
    assert.equal((await purge(query)).status, 204);
    assert.deepEqual(deletesOf(broker), deletes);
  }
});

it('a temporal purge deletes all instances of an attribute, one dataset, or the default dataset', async () => {
  const { broker, purge } = await startTemporal({}, { entities: 1 });
  const searches = async (query: string) => {
    broker.requests.clear();
    assert.equal((await purge(query)).status, 204);
    return broker.requests.entries.filter(({ method }) => method === 'DELETE').map(({ search }) => search);
  };
  assert.deepEqual(await searches('type=Sensor&attrs=humidity'), ['deleteAll=true']);
  assert.deepEqual(await searches('type=Sensor&datasetId=urn:ds:b'), ['datasetId=urn%3Ads%3Ab']);
  assert.deepEqual(await searches('type=Sensor&attrs=temperature&datasetId=@none'), ['']);
});

it('a temporal purge without matches is 204, with counts of 0', async () => {
  for (const query of [
    'type=Nothing',
    `type=Nothing&timerel=before&timeAt=${hour(8)}`,
    'type=Sensor&attrs=no',
  ]) {
    const { broker, purge } = await startTemporal();
    const answer = await purge(query);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    assert.equal(answer.headers.get('purge-matched'), '0');
    assert.equal(answer.headers.get('purge-deleted'), '0');
    assert.deepEqual(deletesOf(broker), {});
  }
});

it('a temporal purge sends the @context, the tenant and credentials with every request', async () => {
  const { broker, purge } = await startTemporal();
  broker.temporal.seed(
    2,
    (n) => ({ id: `urn:x:${n}`, type: 'Car', speed: { type: 'Property', value: 1, observedAt: hour(n) } }),
    'city',
  );
  broker.requests.clear();
  const headers = {
    link: '<https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"',
    'ngsild-tenant': 'city',
    authorization: 'Bearer abc',
  };
  const answer = await purge(`type=Car&timerel=after&timeAt=${hour(0)}`, { headers });
  assert.deepEqual([answer.status, answer.headers.get('ngsild-tenant')], [204, 'city']);
  assert.equal(broker.temporal.instances('city'), 0);
  assert.ok(broker.requests.total > 3);
  const { entries } = broker.requests;
  const probes = entries.filter((request) => request.headers['ngsild-tenant'] !== 'city');
  assert.deepEqual(columns(probes, 'method', 'status'), [['GET', 404]]);
  for (const request of entries) {
    for (const [name, value] of Object.entries(headers)) {
      if (name !== 'ngsild-tenant' || !probes.includes(request)) assert.equal(request.headers[name], value);
    }
  }
});

it('a temporal purge encodes an id that is an IRI into one path segment, after the broker has proven that path', async () => {
  const { broker, purge } = await startTemporal();
  broker.temporal.seed(1, () => ({
    id: 'http://example.org/cars/1?x#y%2Fé',
    type: 'Car',
    speed: { type: 'Property', value: 1, observedAt: hour(1) },
  }));
  const answer = await purge('type=Car');
  assert.deepEqual([answer.status, answer.headers.get('purge-deleted')], [204, '1'], answer.text);
  assert.equal(broker.temporal.count(), 9);
});

it('a temporal purge reports attributes and instances that have no safe path, and deletes nothing else', async () => {
  const { broker, purge } = await startTemporal();
  const instances = { type: 'Property', value: 1, observedAt: hour(1) };
  broker.temporal.seed(1, () => ({ id: 'http://example.org/cars/1?x', type: 'Car', speed: instances }));
  const attribute = 'https://example.org/terms/speed#now';
  broker.temporal.seed(1, () => ({ id: 'urn:x:2', type: 'Car', [attribute]: instances }));
  const before = instancesOf(broker);
  for (const query of [
    `type=Car&timerel=before&timeAt=${hour(8)}`,
    `type=Car&attrs=speed,${encodeURIComponent(attribute)}`,
    'type=Car&datasetId=@none',
  ]) {
    const answer = await purge(query);
    assert.deepEqual([answer.status, answer.headers.get('purge-failed')], [207, '2'], answer.text);
    const { errors } = answer.json() as {
      readonly errors: readonly { readonly error: { type: string } }[];
    };
    for (const { error } of errors) assert.equal(error.type, 'urn:ngsi-ld-gateway:problem:no-safe-path');
  }
  assert.deepEqual(instancesOf(broker), before);
  assert.deepEqual(deletesOf(broker), {});
});

it('a temporal purge accepts a path with a slash at its end', async () => {
  const { broker, gateway } = await startTemporal();
  const answer = await gateway.send('DELETE', `${TEMPORAL}/?type=Sensor`);
  assert.equal(answer.status, 204);
  assert.equal(broker.temporal.count(), 3);
});

it('a dry run of a temporal purge counts and samples entities, and deletes nothing', async () => {
  const { broker, purge } = await startTemporal({ maxPageSize: 2 });
  const answer = await purge('type=Sensor&dryRun=true');
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json(), {
    matched: 6,
    sample: [0, 1, 2, 3, 4, 5].map((n) => `urn:ngsi-ld:Sensor:${n}`),
    unit: 'entities',
  });
  assert.deepEqual(deletesOf(broker), {});
});

it('a dry run of a temporal purge counts and samples attributes, datasets and instances, with their names', async () => {
  for (const [query, matched, unit, members] of [
    ['type=Sensor&attrs=humidity', 3, 'attributes', ['entityId', 'attribute']],
    ['type=Sensor&datasetId=urn:ds:b', 6, 'datasets', ['entityId', 'attribute', 'datasetId']],
    [BEFORE, 72, 'instances', ['entityId', 'attribute', 'instanceId', 'observedAt']],
  ] as const) {
    const { broker, purge } = await startTemporal();
    const answer = await purge(`${query}&dryRun=true`);
    const body = answer.json() as {
      readonly matched: number;
      readonly unit: string;
      readonly items: readonly Readonly<Record<string, string>>[];
      readonly sample: readonly string[];
    };
    assert.deepEqual([answer.status, body.matched, body.unit], [200, matched, unit]);
    assert.equal(answer.headers.get('purge-matched'), String(matched));
    assert.equal(body.items.length, matched);
    const inDataset = body.items.find(({ datasetId }) => datasetId !== undefined);
    const plain = body.items.find(({ datasetId }) => datasetId === undefined) ?? inDataset;
    assert.deepEqual(Object.keys(plain ?? {}), members);
    assert.ok(body.sample.every((id) => broker.temporal.has(id)));
    assert.deepEqual(deletesOf(broker), {});
  }
});

it('a temporal purge is 207 and reports each instance without an instanceId by entity, attribute and time', async () => {
  const { broker, purge } = await startTemporal({ noInstanceIds: true }, { entities: 1 });
  const before = instancesOf(broker);
  const answer = await purge(BEFORE);
  assert.equal(answer.status, 207);
  const { success, errors } = answer.json() as BatchResult;
  assert.deepEqual(success, []);
  assert.equal(errors.length, 16);
  assert.equal(answer.headers.get('purge-failed'), '16');
  const [first] = errors;
  assert.equal(first?.entityId, 'urn:ngsi-ld:Sensor:0');
  assert.equal(first.error['type'], 'urn:ngsi-ld-gateway:problem:instance-without-id');
  const named = errors.map(({ error }) => [error['attribute'], error['observedAt']].join(' ')).sort();
  const wanted = ['humidity', 'temperature'].flatMap((attribute) =>
    [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `${attribute} ${hour(n)}`),
  );
  assert.deepEqual(named, wanted.sort());
  assert.deepEqual(instancesOf(broker), before);
  assert.deepEqual(deletesOf(broker), {});
});

for (const [how, behaviour] of [
  ['', {}],
  [' in pages of 5', { instancePageSize: 5 }],
  [', the newest 5 at a time', { silentInstanceLimit: 5 }],
] as const) {
  it(`a temporal purge reaches instances hidden behind others that cannot be deleted${how}`, async () => {
    const { broker, purge } = await startTemporal(behaviour);
    const before = instancesOf(broker);
    const shown = await shownBy(broker, BEFORE);
    // A run of eight in the middle of each list, which is as many as an answer shows.
    const locked = new Set([...shown].filter((_, n) => n % 12 < 8));
    broker.behaviour.isLockedInstance = (id, attribute, instanceId) =>
      locked.has(`${id} ${attribute} ${String(instanceId)}`);
    const answer = await purge(BEFORE);
    assert.equal(answer.status, 207);
    assert.deepEqual(instancesOf(broker), without(before, without(shown, locked)));
    assert.equal(answer.headers.get('purge-failed'), String(locked.size));
    assert.equal(answer.headers.get('purge-deleted'), String(shown.size - locked.size));
    const { success, errors } = answer.json() as BatchResult;
    const failed = new Set(errors.map(({ entityId }) => entityId));
    assert.ok(success.every((id) => !failed.has(id)));
    assert.ok(
      errors.every(({ error }) => error['status'] === 409 && typeof error['instanceId'] === 'string'),
    );
  });
}

it('a temporal purge reports attributes and whole entities that cannot be deleted', async () => {
  const { broker, purge } = await startTemporal();
  broker.behaviour.isLocked = (id) => id.endsWith(':2');
  const whole = await purge('type=Sensor');
  assert.deepEqual([whole.status, whole.headers.get('purge-deleted')], [207, '5']);
  assert.deepEqual(column((whole.json() as BatchResult).errors, 'entityId'), ['urn:ngsi-ld:Sensor:2']);
  broker.behaviour.isLockedInstance = (_id, attribute) => attribute === 'humidity';
  const attributes = await purge('type=Sensor&attrs=humidity,status');
  assert.deepEqual([attributes.status, attributes.headers.get('purge-deleted')], [207, '1']);
  const [item] = (attributes.json() as BatchResult).errors;
  assert.deepEqual([item?.entityId, item?.error['attribute']], ['urn:ngsi-ld:Sensor:2', 'humidity']);
});
