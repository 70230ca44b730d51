import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Client } from 'undici';
import type { EmbeddedBroker } from '../../sidecar/embedded-broker/index.js';
import {
  sendJson,
  startTestBroker,
  startTestGateway,
  stopAll,
  type TestGateway,
} from '../support/gateway-harness.js';
import { column } from '../support/columns.js';

/** The entities of a small town; each test gets them in a tenant of its own. */
const TOWN = [
  vehicle('Car:1', 'Car', { brandName: 'Volvo', speed: 120 }, [2, 41]),
  vehicle('Car:2', 'Car', { brandName: 'Seat', speed: 40 }, [2.001, 41]),
  vehicle('Car:3', 'Car', { speed: 90 }, [9, 45]),
  vehicle('Bus:1', 'Bus', { speed: 30, line: 7 }, [2, 41.001]),
  vehicle('Bus:2', 'Bus', { speed: 110, line: 9 }, [9, 45.1]),
  vehicle('Bike:1', 'Bike', { brandName: 'Orbea' }, [2, 41]),
];
const ALL = TOWN.map(({ id }) => id);

function vehicle(
  name: string,
  type: string,
  values: Readonly<Record<string, unknown>>,
  coordinates: readonly [number, number],
) {
  const properties = Object.entries(values).map(
    ([key, value]) => [key, { type: 'Property', value }] as const,
  );
  return {
    id: `urn:ngsi-ld:${name}`,
    type,
    ...Object.fromEntries(properties),
    location: { type: 'GeoProperty', value: { type: 'Point', coordinates } },
  };
}

let broker: EmbeddedBroker;
let gateway: TestGateway;
let towns = 0;

before(async () => {
  broker = await startTestBroker();
  gateway = await startTestGateway({ BROKER_URL: broker.url });
});
after(stopAll);

/** Creates a tenant with the entities of the town. */
async function town(): Promise<{ 'ngsild-tenant': string }> {
  const tenant = { 'ngsild-tenant': `town${(towns += 1)}` };
  const created = await sendJson(gateway.url, 'POST', '/ngsi-ld/v1/entityOperations/create', TOWN, tenant);
  assert.equal(created.status, 201);
  return tenant;
}
const idsIn = (tenant: { 'ngsild-tenant': string }) => broker.entities.ids(tenant['ngsild-tenant']);

it('a purge over HTTP removes entities created through the gateway, singly or in a batch, and keeps every other type', async () => {
  const entity = (id: string, type: string) => ({ id: `urn:ngsi-ld:${id}`, type });
  for (const id of ['Tram:1', 'Tram:2']) {
    const created = await sendJson(gateway.url, 'POST', '/ngsi-ld/v1/entities', entity(id, 'Tram'));
    assert.equal(created.status, 201);
    const location = created.headers.get('location') ?? '';
    assert.equal((await gateway.send('GET', location)).status, 200);
  }
  const batch = [entity('Tram:3', 'Tram'), entity('Ship:1', 'Ship'), entity('Ship:2', 'Ship')];
  await sendJson(gateway.url, 'POST', '/ngsi-ld/v1/entityOperations/create', batch);

  const purged = await gateway.purge('type=Tram');
  assert.equal(purged.status, 204);
  assert.equal(purged.text, '');
  assert.equal(purged.headers.get('purge-matched'), '3');
  assert.equal(purged.headers.get('purge-deleted'), '3');
  assert.equal(purged.headers.get('purge-failed'), '0');
  assert.deepEqual(broker.entities.ids(), ['urn:ngsi-ld:Ship:1', 'urn:ngsi-ld:Ship:2']);

  const again = await gateway.purge('type=Tram');
  assert.equal(again.status, 204);
  assert.equal(again.headers.get('purge-matched'), '0');
  assert.equal(again.headers.get('purge-deleted'), '0');

  const slashed = await gateway.send('DELETE', '/ngsi-ld/v1/entities/?type=Ship');
  assert.equal(slashed.status, 204);
  assert.equal(slashed.headers.get('purge-deleted'), '2');
  assert.equal(broker.entities.count(), 0);
});

it('a warning that repeats a query percent-encodes the characters that a header cannot contain', async () => {
  const city = { id: 'urn:ngsi-ld:City:1', type: 'City', 温度: { type: 'Property', value: 'mild' } };
  assert.equal((await sendJson(gateway.url, 'POST', '/ngsi-ld/v1/entities', city)).status, 201);
  const query = `type=City&q=${encodeURIComponent('温度>2026-01-01')}`;
  const purged = await gateway.purge(query);
  assert.equal(purged.status, 207, purged.text);
  assert.match(purged.headers.get('ngsild-warning') ?? '', /what %E6%B8%A9%E5%BA%A6>2026-01-01 compares/);
  assert.match(purged.text, /温度>2026-01-01/);
  const preview = await gateway.purge(`${query}&dryRun=true`);
  assert.equal(preview.status, 200, preview.text);
  assert.equal((await gateway.purge('type=City')).headers.get('purge-deleted'), '1');
});

const QUERIES: readonly (readonly [query: string, gone: readonly string[]])[] = [
  ['type=Car', ['Car:1', 'Car:2', 'Car:3']],
  ['type=Car,Bike', ['Car:1', 'Car:2', 'Car:3', 'Bike:1']],
  ['type=Car&id=urn:ngsi-ld:Car:1,urn:ngsi-ld:Bus:1', ['Car:1']],
  ['type=Bus&idPattern=.*2$', ['Bus:2']],
  ['q=speed%3E100', ['Car:1', 'Bus:2']],
  ['type=Car&q=speed%3E100%7CbrandName==%22Seat%22', ['Car:1', 'Car:2']],
  ['attrs=line', ['Bus:1', 'Bus:2']],
  [
    'georel=near;maxDistance==500&geometry=Point&coordinates=%5B2,41%5D',
    ['Car:1', 'Car:2', 'Bus:1', 'Bike:1'],
  ],
  ['type=Bus&georel=within&geometry=Polygon&coordinates=[[[1,40],[3,40],[3,42],[1,42],[1,40]]]', ['Bus:1']],
  ['type=*&maxAffected=6', ['Car:1', 'Car:2', 'Car:3', 'Bus:1', 'Bus:2', 'Bike:1']],
];
for (const [query, names] of QUERIES) {
  it(`a purge by ?${query} deletes exactly what the same GET shows`, async () => {
    const tenant = await town();
    const gone = names.map((name) => `urn:ngsi-ld:${name}`);
    const asked = query.replace(/type=\*.*/, 'local=true');
    const shown = await gateway.send('GET', `/ngsi-ld/v1/entities?${asked}`, { headers: tenant });
    assert.deepEqual(column(shown.json() as { id: string }[], 'id'), gone);
    const purged = await gateway.purge(query, tenant);
    assert.equal(purged.status, 204, purged.text);
    assert.equal(purged.headers.get('purge-deleted'), String(gone.length));
    assert.deepEqual(
      idsIn(tenant),
      ALL.filter((id) => !gone.includes(id)),
    );
  });
}

it('a purge over HTTP with drop removes the named attributes only, and no entity', async () => {
  const tenant = await town();
  const purged = await gateway.purge('type=Car&drop=brandName,line', tenant);
  assert.equal(purged.status, 204);
  assert.equal(purged.headers.get('purge-deleted'), '2', 'counted in attributes');
  assert.deepEqual(idsIn(tenant), ALL);
  const car = broker.entities.get('urn:ngsi-ld:Car:1', tenant['ngsild-tenant']);
  assert.deepEqual(Object.keys(car ?? {}), ['id', 'type', 'speed', 'location']);
  const bike = broker.entities.get('urn:ngsi-ld:Bike:1', tenant['ngsild-tenant']);
  assert.ok(bike !== undefined && 'brandName' in bike);
});

it('a purge over HTTP with keep removes all attributes except the named ones', async () => {
  const tenant = await town();
  const purged = await gateway.purge('type=Bus&q=line==7&keep=location', tenant);
  assert.equal(purged.status, 204);
  assert.equal(purged.headers.get('purge-deleted'), '2');
  const bus = broker.entities.get('urn:ngsi-ld:Bus:1', tenant['ngsild-tenant']);
  assert.deepEqual(Object.keys(bus ?? {}), ['id', 'type', 'location']);
  const other = broker.entities.get('urn:ngsi-ld:Bus:2', tenant['ngsild-tenant']);
  assert.deepEqual(Object.keys(other ?? {}), ['id', 'type', 'speed', 'line', 'location']);
});

it('a purge over HTTP with dryRun=true counts and lists the matches, and deletes nothing', async () => {
  const tenant = await town();
  broker.requests.clear();
  const preview = await gateway.purge('type=Car&dryRun=true', tenant);
  assert.equal(preview.status, 200);
  assert.match(preview.headers.get('content-type') ?? '', /^application\/json\b/);
  assert.deepEqual(preview.json(), { matched: 3, sample: ALL.slice(0, 3) });
  assert.equal(preview.headers.get('purge-matched'), '3');
  assert.equal(preview.headers.get('purge-deleted'), null);
  assert.deepEqual(idsIn(tenant), ALL);
  assert.deepEqual([...broker.requests.counts.keys()], ['GET /ngsi-ld/v1/entities']);
});

it('a purge over HTTP with Prefer: return=representation is 200 with its counts and Preference-Applied', async () => {
  const tenant = await town();
  const purged = await gateway.purge('type=Car', { ...tenant, prefer: 'wait=10, return=representation' });
  assert.equal(purged.status, 200);
  assert.equal(purged.headers.get('preference-applied'), 'return=representation');
  const { id, durationMs, requests, ...counts } = purged.json() as Record<string, unknown>;
  assert.equal(id, purged.headers.get('purge-id'));
  assert.deepEqual(counts, { matched: 3, deleted: 3, alreadyGone: 0, failed: 0, unknown: 0 });
  assert.equal(typeof durationMs, 'number');
  assert.ok(typeof requests === 'number' && requests >= 2);
  const minimal = await gateway.purge('type=Bus', { ...tenant, prefer: 'return=minimal' });
  assert.equal(minimal.status, 204);
  assert.equal(minimal.headers.get('preference-applied'), null);
});

it('a purge over HTTP is 207 with the entities that the broker refuses to delete, and deletes all others', async () => {
  const tenant = await town();
  broker.behaviour.isLocked = (id) => id === 'urn:ngsi-ld:Car:2';
  const purged = await gateway.purge('type=Car', tenant);
  broker.behaviour.isLocked = () => false;
  assert.equal(purged.status, 207);
  assert.equal(purged.headers.get('purge-matched'), '3');
  assert.equal(purged.headers.get('purge-deleted'), '2');
  assert.equal(purged.headers.get('purge-failed'), '1');
  const result = purged.json() as {
    success: string[];
    errors: { entityId: string; error: { type: string; status: number; title: string; detail: string } }[];
  };
  assert.deepEqual([...result.success].sort(), ['urn:ngsi-ld:Car:1', 'urn:ngsi-ld:Car:3']);
  const [failed, ...others] = result.errors;
  assert.deepEqual(others, []);
  assert.equal(failed?.entityId, 'urn:ngsi-ld:Car:2');
  assert.equal(failed.error.status, 409);
  assert.match(failed.error.detail, /locked/);
  assert.ok(idsIn(tenant).includes('urn:ngsi-ld:Car:2'));
  assert.equal(idsIn(tenant).length, ALL.length - 2);
});

it('a purge over HTTP that would affect more than maxAffected is refused before the first delete', async () => {
  const tenant = await town();
  broker.requests.clear();
  const refused = await gateway.purge('type=Car&maxAffected=2', tenant);
  assert.equal(refused.status, 409);
  const problem = refused.problem();
  assert.equal(problem.type, 'urn:ngsi-ld-gateway:problem:too-many-matches');
  assert.equal(problem['matched'], 3);
  assert.equal(problem['maxAffected'], 2);
  assert.deepEqual(idsIn(tenant), ALL);
  assert.deepEqual([...broker.requests.counts.keys()], ['GET /ngsi-ld/v1/entities']);
  const allowed = await gateway.purge('type=Car&maxAffected=3', tenant);
  assert.equal(allowed.status, 204);
});

it('a larger maxAffected does not override PURGE_MAX_AFFECTED in a purge over HTTP', async () => {
  const bounded = await startTestGateway({ BROKER_URL: broker.url, PURGE_MAX_AFFECTED: '2' });
  const tenant = await town();
  for (const query of ['type=Car', 'type=Car&maxAffected=100']) {
    const refused = await bounded.purge(query, tenant);
    assert.equal(refused.status, 409);
    assert.equal(refused.problem()['maxAffected'], 2);
  }
  assert.equal((await bounded.purge('type=Car&maxAffected=1', tenant)).problem()['maxAffected'], 1);
  assert.deepEqual(idsIn(tenant), ALL);
});

it('a purge over HTTP reads as many pages as it needs', async () => {
  const tenant = `many${(towns += 1)}`;
  const small = await startTestGateway({
    BROKER_URL: broker.url,
    PURGE_PAGE_SIZE: '50',
    PURGE_BATCH_SIZE: '20',
  });
  broker.entities.seed(503, (index) => ({ id: `urn:ngsi-ld:Lamp:${index}`, type: 'Lamp' }), tenant);
  broker.entities.seed(2, (index) => ({ id: `urn:ngsi-ld:Pole:${index}`, type: 'Pole' }), tenant);
  const purged = await small.purge('type=Lamp', { 'ngsild-tenant': tenant });
  assert.equal(purged.status, 204);
  assert.equal(purged.headers.get('purge-matched'), '503');
  assert.deepEqual(broker.entities.ids(tenant), ['urn:ngsi-ld:Pole:0', 'urn:ngsi-ld:Pole:1']);
});

it('a query of ten kilobytes, which the broker repeats in links to two pages, is listed and passed through', async () => {
  const broker = await startTestBroker();
  const names = Array.from({ length: 1000 }, (_, index) => `number-${String(index)}`);
  broker.entities.seed(1000, (index) => ({
    id: `urn:ngsi-ld:Car:${String(index)}`,
    type: 'Car',
    name: { type: 'Property', value: names[index] },
  }));
  const gateway = await startTestGateway({ BROKER_URL: broker.url, PURGE_PAGE_SIZE: '100' });
  const list = names.slice(0, 600).map((name) => `%22${name}%22`);
  const query = `type=Car&q=name==${list.join()}`;
  assert.ok(query.length > 10_000);
  // fetch accepts no such answer.
  const client = new Client(gateway.url, { maxHeaderSize: 64 * 1024 });
  const path = `/ngsi-ld/v1/entities?${query}&limit=100&offset=100`;
  const { statusCode, headers, body } = await client.request({ method: 'GET', path });
  const text = await body.text();
  await client.close();
  assert.equal(statusCode, 200, text.slice(0, 500));
  assert.ok(String(headers['link']).length > 16_384);
  const answer = await gateway.sendJson('POST', '/api/v2/purges', {
    target: 'entities',
    query,
    dryRun: true,
    plan: true,
  });
  const { id } = answer.json() as { readonly id: string };
  await gateway.send('GET', `/api/v2/purges/${id}/events`);
  const record = (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as Record<string, unknown>;
  assert.deepEqual(
    [record['state'], record['matched']],
    ['succeeded', 600],
    JSON.stringify(record['problem']),
  );
});
