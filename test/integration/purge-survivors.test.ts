import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Item } from '../../sidecar/purge/index.js';
import { purged, requestCounts, things } from '../support/purge-harness.js';
import { startStubBroker } from '../support/stub-broker.js';

const every10th = (id: string) => id.endsWith('3');

for (const status of [400, 409, 423] as const) {
  it(`entities that survive their delete are reported with the broker's own problem, after one attempt each: ${status}`, async (t) => {
    for (const oddities of [{}, { batch: 405 }] as const) {
      const locked = (id: string) => (every10th(id) ? status : undefined);
      const broker = await startStubBroker(t, { entities: things(100), locked, ...oddities });
      const report = await purged(broker, 'type=Thing');
      assert.deepEqual([report.matched, report.deleted, report.failed], [100, 90, 10]);
      assert.equal(broker.entities.size, 10);
      for (const { entityId, error } of report.errors) {
        assert.ok(broker.entities.has(entityId));
        assert.equal(error.status, status);
      }
      const tries = broker.requests.filter(({ id, ids }) => [id, ...ids].includes('urn:ngsi-ld:Thing:3'));
      assert.equal(tries.length, 'batch' in oddities ? 2 : 1, 'a refused one is not asked for again');
    }
  });
}

it('entities that survive their delete are found by a new query, whatever the answer to the delete was', async (t) => {
  for (const oddities of [{}, { batch: 405 }] as const) {
    const broker = await startStubBroker(t, { entities: things(100), ghosts: every10th, ...oddities });
    const report = await purged(broker, 'type=Thing');
    assert.deepEqual([report.deleted, report.failed], [90, 10]);
    assert.deepEqual(
      report.errors.map(({ entityId }) => entityId).sort(),
      [...broker.entities.keys()].sort(),
    );
    assert.ok(report.errors.every(({ error }) => error.status === 409));
    const tries = broker.requests.filter(
      ({ kind, id, ids }) => kind !== 'retrieve' && [id, ...ids].includes('urn:ngsi-ld:Thing:3'),
    );
    assert.ok(tries.length <= 3, `${tries.length} deletes of one ghost`);
  }
});

it('the final outcome of entities that survive their delete is "not deleted", as in the counts', async (t) => {
  const last = new Map<string, string>();
  const broker = await startStubBroker(t, { entities: things(100), ghosts: every10th });
  const onOutcome = ({ entityId }: Item, outcome: string) => void last.set(entityId, outcome);
  const report = await purged(broker, 'type=Thing', { onOutcome });
  assert.deepEqual([report.deleted, report.failed, last.size], [90, 10, 100]);
  assert.equal(report.errors[0]?.error.status, 409);
  for (const [id, outcome] of last)
    assert.equal(outcome, broker.entities.has(id) ? 'notDeleted' : 'deleted', id);
});

it('entities that survive their delete count as recreated, with a warning, if the broker does not show their creation time', async (t) => {
  const broker = await startStubBroker(t, { entities: things(100), ghosts: every10th, sysAttrs: false });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.failed, report.arrived], [100, 0, 10]);
  assert.match(report.warnings.join(), /without a createdAt/);
  const tries = broker.requests.filter(
    ({ kind, id, ids }) => kind !== 'retrieve' && [id, ...ids].includes('urn:ngsi-ld:Thing:3'),
  );
  assert.equal(tries.length, 1, 'it may be another entity');
});

it('entities are reported as not deleted if every single DELETE is answered with 404 and does nothing', async (t) => {
  const broker = await startStubBroker(t, { entities: things(60), batch: 405, single: 404 });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.failed], [0, 60]);
  const counts = requestCounts(broker);
  assert.ok((counts['single'] ?? 0) <= 120, JSON.stringify(counts));
});

it('all entities are reported if the broker refuses to delete any', async (t) => {
  for (const missing of ['207', '404-errors'] as const) {
    const broker = await startStubBroker(t, { entities: things(250), locked: () => 409, missing });
    const report = await purged(broker, 'type=Thing');
    assert.deepEqual([report.deleted, report.failed, report.errors.length], [0, 250, 250]);
    assert.equal(report.success.length, 0);
    assert.ok(broker.requests.length <= 30, JSON.stringify(requestCounts(broker)));
  }
});

it('entities that survive their delete do not count as failed if another client deletes them afterwards', async (t) => {
  const broker = await startStubBroker(t, {
    entities: things(30),
    locked: (id) => (every10th(id) ? 423 : undefined),
    after: ({ kind }, { entities }) => {
      if (kind === 'batch') entities.clear();
    },
  });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.deleted, report.alreadyGone, report.failed], [27, 3, 0]);
});

for (const staleFor of [1, 2, 3, 5]) {
  it(`a purge waits for a query that lags behind, and does not report deleted entities: ${staleFor} queries behind`, async (t) => {
    for (const oddities of [{}, { batch: 405 }] as const) {
      const broker = await startStubBroker(t, { entities: things(60), staleFor, ...oddities });
      const report = await purged(broker, 'type=Thing');
      assert.deepEqual([report.deleted, report.failed], [60, 0]);
      assert.equal(broker.entities.size, 0);
      assert.ok(broker.of('query').length <= 20);
    }
  });
}

it('a query that lags behind causes no repeated deletes if one more query resolves it', async (t) => {
  const broker = await startStubBroker(t, { entities: things(60), staleFor: 1 });
  await purged(broker, 'type=Thing');
  assert.equal(broker.of('single').length, 0);
  assert.equal(broker.of('batch').length, 2);
});
