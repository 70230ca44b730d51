import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerFailedError, FilterIgnoredError, QueryRefusedError } from '../../sidecar/purge/index.js';
import { isProbe, purge, purged } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';
import type { StubEntity } from '../support/stub-broker-filter.js';

const property = (value: number) => ({ type: 'Property', value });

/** Things with an attribute n; the last one also has an attribute rare. */
function rarely(count: number): StubEntity[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `urn:ngsi-ld:Thing:${index}`,
    type: 'Thing',
    n: property(index),
    ...(index === count - 1 ? { rare: property(1) } : {}),
  }));
}

it('a purge or dry run whose keep names no attribute of any match is refused before the first delete', async (t) => {
  for (const keep of ['speeed', 'speeed,nme', 'https://example.org/n', 'rare', 'toString']) {
    for (const more of ['', '&dryRun=true', '&maxAffected=1000', '&q=n%3C30']) {
      const entities = [
        ...rarely(40).slice(0, 39),
        { id: 'urn:ngsi-ld:Other:1', type: 'Other', rare: property(1), speeed: property(1) },
      ];
      const broker = await startStubBroker(t, { entities });
      const { error } = await purge(broker, `type=Thing&keep=${keep}${more}`, { limits: { pageSize: 10 } });
      assert.ok(error instanceof QueryRefusedError, String(error));
      assert.deepEqual([error.kind, error.parameter], ['badRequestData', 'keep']);
      assert.ok(error.message.includes(keep.split(',')[0] ?? ''));
      assert.ok(broker.requests.every(({ kind }) => kind === 'query'));
      const checks = broker.of('query').filter((request) => request.query.get('attrs') === keep);
      assert.equal(checks.filter((request) => !isProbe(request)).length, 1);
    }
  }
});

it('a purge whose keep names no attribute of any match is refused even if the broker ignores attrs or lists entities without the attribute', async (t) => {
  const ignoring = await startStubBroker(t, { entities: rarely(5), ignores: ['attrs'] });
  const { error } = await purge(ignoring, 'type=Thing&keep=speeed');
  assert.ok(error instanceof FilterIgnoredError);
  assert.equal(error.parameter, 'attrs');
  const listing = await startStubBroker(t, {
    entities: rarely(5),
    fault: ({ query }) =>
      query.has('attrs') ? { status: 200, body: [{ id: 'urn:ngsi-ld:Thing:1', type: 'Thing' }] } : undefined,
  });
  const refused = await purge(listing, 'type=Thing&keep=speeed');
  assert.ok(refused.error instanceof QueryRefusedError);
  assert.equal(ignoring.of('attribute').length + listing.of('attribute').length, 0);
});

it('a purge with keep removes nothing if the check of its names fails', async (t) => {
  const broker = await startStubBroker(t, {
    entities: rarely(5),
    fault: ({ query }) => (query.get('attrs') === 'speeed' ? { status: 500 } : undefined),
  });
  const { error } = await purge(broker, 'type=Thing&keep=speeed');
  assert.ok(error instanceof BrokerFailedError);
  assert.equal(broker.of('attribute').length, 0);
});

it('the names in keep are not checked if nothing matches', async (t) => {
  const broker = await startStubBroker(t, { entities: rarely(5) });
  const report = await purged(broker, 'type=Nothing&keep=speeed,nme');
  assert.equal(report.matched, 0);
  assert.ok(broker.requests.every(({ query }) => query.get('attrs') !== 'speeed,nme'));
});

it('a keep is accepted if any match has one of its attributes, on whichever page the match is', async (t) => {
  for (const pageSize of [10, 1000]) {
    const broker = await startStubBroker(t, { entities: rarely(40) });
    const report = await purged(broker, 'type=Thing&keep=nowhere,rare', { limits: { pageSize } });
    assert.equal(report.deleted, 40);
    assert.deepEqual(
      [...broker.entities.values()].filter((entity) => 'rare' in entity).map(({ id }) => id),
      ['urn:ngsi-ld:Thing:39'],
    );
  }
});

it('the check of keep needs no request if the first page shows one of its attributes', async (t) => {
  const broker = await startStubBroker(t, { entities: rarely(5) });
  await purged(broker, 'type=Thing&keep=n,nowhere');
  assert.ok(broker.requests.every(({ query }) => query.get('attrs') !== 'n,nowhere'));
});

it('a distance that the broker adds to what it lists is neither kept nor removed', async (t) => {
  const near = 'type=Thing&georel=near;maxDistance==10&geometry=Point&coordinates=[1,2]';
  const entities = rarely(5).map((thing) => ({ ...thing, location: { type: 'GeoProperty', value: {} } }));
  const broker = await startStubBroker(t, { entities, distances: true });
  const { error } = await purge(broker, `${near}&keep=geoDistance`);
  assert.ok(error instanceof QueryRefusedError, String(error));
  assert.equal(broker.of('attribute').length, 0);
  const report = await purged(broker, `${near}&keep=location`);
  assert.deepEqual([report.matched, report.deleted, report.alreadyGone], [6, 6, 0]);
});
