import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { FilterIgnoredError } from '../../sidecar/purge/index.js';
import { createTestClock, isProbe, purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';

const GEO = 'georel=near;maxDistance==10&geometry=Point&coordinates=[1,2]';

/** Queries of which the broker ignores one filter. */
const IGNORED: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  type: ['type=Thing', ['type']],
  attrs: ['attrs=n', ['attrs']],
  q: ['type=Thing&q=n>5', ['q']],
  scopeQ: ['type=Thing&scopeQ=/Madrid', ['scopeQ']],
  georel: [`type=Thing&${GEO}`, ['georel']],
  // The listed ids happen to be right; only the probe shows that the pattern is ignored.
  idPattern: ['type=Thing&idPattern=Thing', ['idPattern']],
  'idPattern of a few': ['type=Thing&idPattern=:1$', ['idPattern']],
  'type next to id': ['type=Thing&id=urn:ngsi-ld:Thing:1', ['type']],
};

const entities = things(20).map((thing) => ({ ...thing, scope: '/Madrid', location: {} }));

for (const [name, [query, ignores]] of Object.entries(IGNORED)) {
  it(`a broker that ignores a filter loses no entity: ${name}`, async (t) => {
    const broker = await startStubBroker(t, { entities, ignores });
    const { error, progress } = await purge(broker, query);
    assert.ok(error instanceof FilterIgnoredError, String(error));
    assert.equal(error.parameter, name.split(' ')[0]);
    assert.equal(progress.hasBegun, false);
    assert.equal(broker.entities.size, 20);
    assert.ok(broker.requests.every(({ kind }) => kind === 'query'));
  });
}

it('a broker that ignores a filter loses no entity, even if its first page was empty by mistake', async (t) => {
  let queries = 0;
  const broker = await startStubBroker(t, {
    entities,
    ignores: ['q'],
    fault: ({ kind }) => {
      if (kind !== 'query' || ++queries > 4) return undefined;
      return { status: 200, headers: { 'ngsild-results-count': '20' }, body: [] };
    },
  });
  const { error } = await purge(broker, 'type=Thing&q=n>5');
  assert.ok(error instanceof FilterIgnoredError);
  assert.equal(broker.entities.size, 20);
});

it('a purge whose filter proof fails deletes nothing', async (t) => {
  const broker = await startStubBroker(t, {
    entities,
    fault: (request) => (isProbe(request) ? { status: 503 } : undefined),
  });
  const { error } = await purge(broker, 'type=Thing');
  assert.ok(error instanceof Error);
  assert.equal(broker.entities.size, 20);
});

it('each query gets its own proof that filters are applied, and again after an hour', async (t) => {
  const clock = createTestClock();
  const capabilities = new BrokerCapabilities(clock);
  const broker = await startStubBroker(t, {});
  const probes = async (query: string) => {
    for (const entity of entities) broker.entities.set(entity.id, entity);
    const before = broker.requests.filter(isProbe).length;
    await purged(broker, query, { capabilities, clock });
    return broker.requests.filter(isProbe).length - before;
  };
  assert.equal(await probes('type=Thing'), 1);
  assert.equal(await probes('type=Thing'), 0);
  assert.equal(await probes('type=Thing&q=n>5'), 2);
  assert.equal(await probes('type=Thing&q=n>6'), 2);
  assert.equal(await probes(`type=Thing&q=n>5&scopeQ=/Madrid&${GEO}&attrs=n&idPattern=Thing`), 6);
  assert.equal(await probes('type=Thing&id=urn:ngsi-ld:Thing:1'), 1);
  assert.equal(await probes('type=Thing&q=n>6'), 0);
  await clock.sleep(60 * 60 * 1000);
  assert.equal(await probes('type=Thing&q=n>5'), 2);
});

it('the proof that filters are applied is skipped if there is nothing to delete', async (t) => {
  const broker = await startStubBroker(t, {});
  await purged(broker, 'type=Thing&q=n>5');
  assert.equal(broker.requests.length, 1);
});
