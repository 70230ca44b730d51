import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { BrokerFailedError, BrokerRefusedError, FilterIgnoredError } from '../../sidecar/purge/index.js';
import { startTestBroker, startTestGateway, stopAll } from '../support/gateway-harness.js';
import { createTestClock, purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBroker } from '../support/stub-broker.js';
import { hour } from '../support/temporal-harness.js';

const CORE =
  '<https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld>; rel="http://www.w3.org/ns/json-ld#context"';

const NAMES = { 'ngsild-tenant': 'NGSILD-Tenant', 'fiware-service': 'Fiware-Service' } as const;
type Header = keyof typeof NAMES;
const HEADERS = Object.keys(NAMES) as readonly Header[];

/** Returns the requests for a tenant other than the purge's. */
const probesOf = ({ requests }: StubBroker, header: Header, tenant = 'city') =>
  requests.filter(({ headers }) => headers[header] !== tenant);

for (const header of HEADERS) {
  for (const [query, strategy] of [
    ['type=Thing', 'auto'],
    ['type=Thing&dryRun=true', 'auto'],
    ['type=Thing&drop=n', 'auto'],
    ['type=Thing', 'single'],
    ['type=Thing', 'native'],
    ['local=true&maxAffected=100', 'auto'],
  ] as const) {
    it(`a purge of a tenant whose header the broker ignores ends before the first delete and names the header (${header}, ${query}, ${strategy})`, async (t) => {
      const broker = await startStubBroker(t, {
        entities: things(20),
        tenantHeaders: HEADERS.filter((name) => name !== header),
      });
      const { error } = await purge(broker, query, { headers: { [header]: 'city' }, limits: { strategy } });
      assert.ok(error instanceof FilterIgnoredError);
      assert.equal(error.parameter, NAMES[header]);
      assert.match(error.message, new RegExp(`ignores the header ${NAMES[header]}.*Nothing was deleted`));
      assert.ok(broker.requests.every(({ method }) => method === 'GET'));
      assert.equal(broker.entities.size, 20);
    });
  }
}

it('a purge of a tenant notices an ignored header even if the broker filters after paging', async (t) => {
  const entities = things(30).map((thing, n) =>
    n < 25 ? thing : { ...thing, x: { type: 'Property', value: 1 } },
  );
  const broker = await startStubBroker(t, {
    entities,
    tenantHeaders: [],
    fault: ({ kind, query }) => {
      if (kind !== 'query' || query.get('attrs') !== 'x' || query.get('type') !== 'Thing') return undefined;
      const offset = Number(query.get('offset') ?? 0);
      const page = entities.slice(offset, offset + Number(query.get('limit')));
      const body = page.filter((entity) => 'x' in entity);
      return { status: 200, headers: { 'ngsild-results-count': '30' }, body };
    },
  });
  const { error } = await purge(broker, 'type=Thing&attrs=x', { headers: { 'ngsild-tenant': 'city' } });
  assert.ok(error instanceof FilterIgnoredError);
  assert.equal(error.parameter, 'NGSILD-Tenant');
  assert.equal(broker.entities.size, 30);
});

it('a purge of a tenant accepts an empty list, 400, 403 or 404 for an impossible tenant as proof of its header', async (t) => {
  for (const header of HEADERS) {
    for (const unknownTenant of [200, 400, 403, 404] as const) {
      const broker = await startStubBroker(t, { entities: things(20), tenant: 'city', unknownTenant });
      const report = await purged(broker, 'type=Thing', { headers: { [header]: 'city' } });
      assert.deepEqual([report.deleted, broker.entities.size], [20, 0], String(unknownTenant));
      assert.equal(probesOf(broker, header).length, 1);
    }
  }
});

it('a purge of a tenant sends its probe with the same query and limit=1, under a tenant name that every broker accepts', async (t) => {
  const names = new Set<unknown>();
  for (const query of ['type=Thing&q=n>5', 'type=Thing&maxAffected=30', 'type=Thing&drop=n']) {
    const broker = await startStubBroker(t, { entities: things(20), tenant: 'city' });
    await purge(broker, query, { headers: { 'ngsild-tenant': 'city', link: CORE } });
    const [probe] = probesOf(broker, 'ngsild-tenant');
    assert.ok(probe !== undefined);
    assert.equal(probe.query.get('limit'), '1');
    for (const name of ['type', 'q'])
      assert.equal(probe.query.get(name), broker.requests[0]?.query.get(name));
    assert.equal(probe.headers['link'], CORE);
    assert.match(String(probe.headers['ngsild-tenant']), /^[a-z0-9_]{30,50}$/);
    names.add(probe.headers['ngsild-tenant']);
  }
  assert.equal(names.size, 3, 'nobody can know it before');
});

it('a purge sends no tenant probe if no tenant is given or nothing is listed', async (t) => {
  const plain = await startStubBroker(t, { entities: things(5) });
  await purged(plain, 'type=Thing', { headers: { link: CORE } });
  assert.ok(plain.requests.every(({ headers }) => headers['ngsild-tenant'] === undefined));
  const empty = await startStubBroker(t, { entities: things(5), tenantHeaders: [] });
  const report = await purged(empty, 'type=Nothing', { headers: { 'ngsild-tenant': 'city' } });
  assert.deepEqual([report.matched, probesOf(empty, 'ngsild-tenant').length], [0, 0]);
});

it('a purge of a tenant proves each header once an hour for each tenant, and again after an ignored one', async (t) => {
  const clock = createTestClock();
  const capabilities = new BrokerCapabilities(clock);
  for (const [header, tenant, passedMs, probes] of [
    ['ngsild-tenant', 'city', 0, 1],
    ['ngsild-tenant', 'town', 1000, 1],
    ['fiware-service', 'town', 1000, 1],
    ['fiware-service', 'city', 1000, 1],
    ['fiware-service', 'city', 1000, 0],
    ['ngsild-tenant', 'city', 3_595_999, 0],
    ['ngsild-tenant', 'city', 1, 1],
  ] as const) {
    await clock.sleep(passedMs);
    const broker = await startStubBroker(t, { entities: things(3), tenant });
    await purged(broker, 'type=Thing', { headers: { [header]: tenant }, capabilities, clock });
    assert.equal(probesOf(broker, header, tenant).length, probes, `${header} ${tenant} ${passedMs}`);
  }
  await clock.sleep(3_600_000);
  const headers = { 'ngsild-tenant': 'city' };
  for (let time = 0; time < 2; time++) {
    const broker = await startStubBroker(t, { entities: things(3), tenantHeaders: [] });
    const { error } = await purge(broker, 'type=Thing', { headers, capabilities, clock });
    assert.ok(error instanceof FilterIgnoredError);
  }
});

it('a purge of a tenant ends before the first delete if its tenant probe fails or is refused', async (t) => {
  for (const status of [401, 500, 503]) {
    const broker = await startStubBroker(t, {
      entities: things(5),
      fault: ({ headers }) => (headers['ngsild-tenant'] === 'city' ? undefined : { status }),
      tenantHeaders: [],
    });
    const { error } = await purge(broker, 'type=Thing', { headers: { 'ngsild-tenant': 'city' } });
    assert.ok(status === 401 ? error instanceof BrokerRefusedError : error instanceof BrokerFailedError);
    assert.equal(broker.entities.size, 5);
  }
});

it('a purge with both headers for one tenant is accepted if the broker knows one of them', async (t) => {
  for (const header of HEADERS) {
    const broker = await startStubBroker(t, { entities: things(5), tenant: 'city', tenantHeaders: [header] });
    const headers = { 'ngsild-tenant': 'city', 'fiware-service': 'city' };
    assert.equal((await purged(broker, 'type=Thing', { headers })).deleted, 5);
    assert.equal(probesOf(broker, header).length, 1);
  }
});

it('a purge with both headers for one tenant is refused if the broker knows neither', async (t) => {
  const broker = await startStubBroker(t, { entities: things(5), tenantHeaders: [] });
  const headers = { 'ngsild-tenant': 'city', 'fiware-service': 'city' };
  const { error } = await purge(broker, 'type=Thing', { headers });
  assert.ok(error instanceof FilterIgnoredError);
  assert.equal(broker.entities.size, 5);
});

it('a purge with headers for two different tenants is refused unless the broker applies both', async (t) => {
  for (const [tenantHeaders, ignored] of [
    [['ngsild-tenant'], 'Fiware-Service'],
    [['fiware-service'], 'NGSILD-Tenant'],
    [['ngsild-tenant', 'fiware-service'], 'Fiware-Service'],
  ] as const) {
    const capabilities = new BrokerCapabilities(createTestClock());
    // The proofs for single headers do not apply to both together.
    for (const header of HEADERS) {
      const broker = await startStubBroker(t, { entities: things(1), tenant: 'city' });
      await purged(broker, 'type=Thing', { headers: { [header]: 'city' }, capabilities });
    }
    const counts = tenantHeaders[0];
    const headers = { 'ngsild-tenant': 'other', 'fiware-service': 'other', [counts]: 'city' };
    const broker = await startStubBroker(t, { entities: things(5), tenant: 'city', tenantHeaders });
    const { error } = await purge(broker, 'type=Thing', { headers, capabilities });
    assert.ok(error instanceof FilterIgnoredError);
    assert.equal(error.parameter, ignored);
    assert.equal(broker.entities.size, 5);
  }
});

describe('the gateway in front of a broker that ignores a tenant header', () => {
  after(stopAll);

  for (const header of HEADERS) {
    it(`the gateway answers 501 to purges, temporal purges and dry runs if the broker ignores the tenant (${header})`, async () => {
      const broker = await startTestBroker();
      broker.behaviour.ignoreTenantHeaders = [header];
      const gateway = await startTestGateway({ BROKER_URL: broker.url });
      broker.entities.seed(4, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' }));
      broker.temporal.seed(4, (index) => ({
        id: `urn:ngsi-ld:Car:${index}`,
        type: 'Car',
        speed: { type: 'Property', value: index, observedAt: hour(index) },
      }));
      for (const target of [
        '/ngsi-ld/v1/entities?type=Car',
        '/ngsi-ld/v1/entities?type=Car&dryRun=true',
        '/ngsi-ld/v1/temporal/entities?type=Car',
        '/ngsi-ld/v1/temporal/entities?type=Car&attrs=speed',
        `/ngsi-ld/v1/temporal/entities?type=Car&timerel=before&timeAt=${hour(9)}`,
        `/ngsi-ld/v1/temporal/entities?type=Car&timerel=before&timeAt=${hour(9)}&dryRun=true`,
      ]) {
        const refused = await gateway.send('DELETE', target, { headers: { [header]: 'city' } });
        assert.equal(refused.status, 501, target);
        assert.equal(refused.problem().type, 'urn:ngsi-ld-gateway:problem:filter-ignored');
        assert.equal(refused.problem()['parameter'], NAMES[header]);
      }
      assert.deepEqual([broker.entities.count(), broker.temporal.instances()], [4, 4]);
    });
  }
});
