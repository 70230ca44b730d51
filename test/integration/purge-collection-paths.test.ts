import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { BrokerRefusedError } from '../../sidecar/purge/index.js';
import { startCarelessBroker } from '../support/careless-broker.js';
import { createTestClock, purge, purged, purgeHistory, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBroker } from '../support/stub-broker.js';

const pathOf = ({ target }: { readonly target: string }) => target.split('?')[0];
const isPlain = (request: { readonly target: string }) => pathOf(request) === '/ngsi-ld/v1/entities';
const plainQueries = (broker: StubBroker) => broker.of('query').filter(isPlain);

it('after a 404 for a collection without a slash, the path with a slash is used for an hour', async (t) => {
  const clock = createTestClock();
  const capabilities = new BrokerCapabilities(clock);
  for (const [passedMs, plain] of [
    [0, 1],
    [3_000_000, 0],
    [600_001, 1],
  ] as const) {
    await clock.sleep(passedMs);
    const broker = await startStubBroker(t, { entities: things(300), collectionEnds: ['/'] });
    const report = await purged(broker, 'type=Thing', { capabilities, clock });
    assert.deepEqual([report.deleted, broker.entities.size], [300, 0]);
    assert.equal(plainQueries(broker).length, plain);
  }
});

it('attributes can be purged, and dry runs made, at a broker that needs a slash after its collections', async (t) => {
  for (const [query, oddities] of [
    ['type=Thing&drop=n', {}],
    ['type=Thing&dryRun=true', {}],
    ['type=Thing', { pick: '400', pageMax: 20, overPageMax: '403' }],
    ['type=Thing', { pick: '400-mute', keyValues: '400-mute', pageMax: 20, overPageMax: '400-mute' }],
  ] as const) {
    const broker = await startStubBroker(t, { entities: things(60), collectionEnds: ['/'], ...oddities });
    const report = await purged(broker, query);
    assert.deepEqual([report.matched, report.failed], [60, 0], query);
  }
});

it('temporal entities can be purged at a broker that needs a slash after its collections', async (t) => {
  const broker = await startCarelessBroker(t);
  broker.collectionEnd = '/';
  const attributes = new Map([['n', [{ instanceId: 'urn:i:1', observedAt: '2025-01-01T00:00:00Z' }]]]);
  broker.fill(things(20).map(({ id }) => ({ id, type: 'Thing', attributes })));
  const { report } = await purgeHistory(broker, 'type=Thing');
  assert.deepEqual([report?.deleted, report?.failed], [20, 0]);
  const plain = broker.queries.filter((target) => target.startsWith('/ngsi-ld/v1/temporal/entities?'));
  assert.equal(plain.length, 1);
});

it('the native purge uses only the path spelling that worked for the query', async (t) => {
  for (const collectionEnds of [['/'], ['']] as const) {
    const broker = await startStubBroker(t, { entities: things(30), collectionEnds });
    const report = await purged(broker, 'type=Thing', { limits: { strategy: 'native' } });
    assert.equal(report.deleted, 30);
    const paths = new Set(broker.of('collection').map(pathOf));
    assert.deepEqual([...paths], [`/ngsi-ld/v1/entities${collectionEnds[0]}`]);
  }
});

it('a 404 to a query reaches the caller if the broker knows the collection in neither spelling', async (t) => {
  const broker = await startStubBroker(t, { entities: things(5), collectionEnds: [] });
  const { error } = await purge(broker, 'type=Thing');
  assert.ok(error instanceof BrokerRefusedError);
  assert.deepEqual([error.problem.status, error.problem.detail], [404, 'no such path']);
  assert.deepEqual(broker.requests.map(pathOf), ['/ngsi-ld/v1/entities', '/ngsi-ld/v1/entities/']);
});

it('a 404 about the tenant, or from a path that has worked before, causes no second query', async (t) => {
  const unknown = await startStubBroker(t, { entities: things(5), tenant: 'city' });
  const { error } = await purge(unknown, 'type=Thing', { headers: { 'ngsild-tenant': 'nowhere' } });
  assert.ok(error instanceof BrokerRefusedError);
  assert.equal(unknown.requests.length, 1);

  const capabilities = new BrokerCapabilities(createTestClock());
  const usual = await startStubBroker(t, { entities: things(5) });
  await purged(usual, 'type=Thing', { capabilities });
  assert.equal(plainQueries(usual).length, usual.of('query').length);
  const broken = await startStubBroker(t, { collectionEnds: ['/'], entities: things(5) });
  assert.ok((await purge(broken, 'type=Thing', { capabilities })).error instanceof BrokerRefusedError);
  assert.equal(broken.requests.length, 1);
});
