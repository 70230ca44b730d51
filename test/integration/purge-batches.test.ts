import assert from 'node:assert/strict';
import { it } from 'node:test';
import { purged, requestCounts, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';

/**
 * How a broker answers batch deletes, and how many delete requests are allowed for 400 entities in
 * batches of 100.
 */
const BATCHES: Readonly<Record<string, readonly [Partial<StubBrokerOptions>, number]>> = {
  'the standard way': [{}, 4],
  '400 above 30 ids': [{ batchMaxIds: 30 }, 40],
  '413 above 30 ids': [{ batchMaxIds: 30, overBatchMax: 413 }, 40],
  '413 above 1000 bytes': [{ batchMaxBytes: 1000, overBatchMax: 413 }, 60],
  '400 above 1 id': [{ batchMaxIds: 1 }, 440],
  '400 for every batch': [{ batch: 400 }, 460],
  'no batch delete (404)': [{ batch: 404 }, 410],
  'no batch delete (405)': [{ batch: 405 }, 410],
  'no batch delete (501)': [{ batch: 501 }, 410],
  'success without effect (200)': [{ batch: 'idle-200' }, 410],
  'success without effect (204)': [{ batch: 'idle-204' }, 410],
  '"Entity Not Found" for all, without effect': [{ batch: 'idle-207' }, 410],
  '"Entity Not Found" for all above 80 ids': [{ batchLooksUp: 80 }, 410],
  '400 for one bad id': [{ badInBatch: (id) => id.endsWith(':123') }, 25],
  '400 for four bad ids': [{ badInBatch: (id) => /:[1-4]23$/.test(id) }, 80],
  '500 for one poisonous id': [{ poisonsBatch: (id) => id.endsWith(':123') }, 130],
};

for (const [name, [oddities, most]] of Object.entries(BATCHES)) {
  it(`a purge by batches deletes every match with few requests: ${name}`, async (t) => {
    const entities = [...things(400), ...things(10, 'Other')];
    const broker = await startStubBroker(t, { entities, ...oddities });
    const report = await purged(broker, 'type=Thing', { limits: { batchSize: 100, pageSize: 200 } });
    assert.equal(report.deleted, 400);
    assert.equal(report.failed, 0);
    assert.equal(broker.entities.size, 10);
    const { batch = 0, single = 0 } = requestCounts(broker);
    assert.ok(batch + single <= most, JSON.stringify(requestCounts(broker)));
  });
}

it('a purge by batches sends no batch of more than 900 kB, however long the ids are', async (t) => {
  const entities = things(300, 'Thing', 'é'.repeat(4000));
  const broker = await startStubBroker(t, { entities });
  await purged(broker, 'type=Thing', { limits: { batchSize: 500, pageSize: 1000 } });
  assert.equal(broker.entities.size, 0);
  for (const { body } of broker.of('batch')) assert.ok(Buffer.byteLength(body) <= 900_000);
});

for (const missing of ['207', '204', '404-errors', '404-entity-ids'] as const) {
  it(`a purge by batches counts missing ids as already gone if the broker reports them: ${missing}`, async (t) => {
    const broker = await startStubBroker(t, {
      entities: things(100),
      missing,
      // Another client deletes first: half of a page, then all of one.
      fault: ({ kind, ids }, { entities }) => {
        if (kind === 'batch')
          for (const id of ids.slice(0, ids[0]?.endsWith(':0') === true ? 25 : 50)) entities.delete(id);
        return undefined;
      },
    });
    const report = await purged(broker, 'type=Thing');
    // A broker that answers 204 anyway does not reveal which client was first.
    const [deleted, alreadyGone] = missing === '204' ? [100, 0] : [25, 75];
    assert.deepEqual([report.deleted, report.alreadyGone], [deleted, alreadyGone]);
    assert.deepEqual(report.errors, []);
    assert.ok(broker.requests.length <= 10, JSON.stringify(requestCounts(broker)));
  });
}

it('a purge by batches reports each remaining entity, with its problem, if half of a batch is refused', async (t) => {
  const locked = (id: string) => (Number(id.split(':').at(-1)) % 2 === 1 ? 409 : undefined);
  for (const oddities of [
    {},
    { missing: '404-errors' },
    { itemsWithoutStatus: true },
    { silentItems: true },
  ] as const) {
    const broker = await startStubBroker(t, { entities: things(500), locked, ...oddities });
    const report = await purged(broker, 'type=Thing', { limits: { batchSize: 500, pageSize: 1000 } });
    assert.equal(report.deleted, 250);
    assert.equal(report.failed, 250);
    const errors = report.errors.map(({ entityId }) => entityId);
    assert.deepEqual(errors.sort(), [...broker.entities.keys()].sort());
    assert.ok(report.success.every((id) => locked(id) === undefined));
    assert.equal(report.success.length, 250);
    for (const { error } of report.errors) assert.match(error.type, /^https:\/\//);
  }
});

it('a purge by batches lists at most 1000 items of each kind, and counts the rest', async (t) => {
  const locked = (id: string) => (Number(id.split(':').at(-1)) % 2 === 1 ? 423 : undefined);
  const broker = await startStubBroker(t, { entities: things(2500), locked });
  const report = await purged(broker, 'type=Thing', { limits: { batchSize: 500, pageSize: 1000 } });
  assert.deepEqual([report.deleted, report.failed], [1250, 1250]);
  assert.equal(report.errors.length, 1000);
  assert.ok(report.success.length <= 1000);
  const failed = new Set(report.errors.map(({ entityId }) => entityId));
  assert.ok(report.success.every((id) => !failed.has(id)));
});

it('a purge by batches remembers the batch sizes that a broker refuses, and the next purge does not try them', async (t) => {
  const { BrokerCapabilities } = await import('../../sidecar/purge/broker/index.js');
  const { createTestClock } = await import('../support/purge-harness.js');
  for (const oddities of [{ batch: 405 }, { batch: 'idle-204' }, { batchMaxIds: 10 }] as const) {
    const clock = createTestClock();
    const capabilities = new BrokerCapabilities(clock);
    const broker = await startStubBroker(t, { entities: things(100), ...oddities });
    await purged(broker, 'type=Thing', { capabilities, clock });
    for (const entity of things(50)) broker.entities.set(entity.id, entity);
    const before = broker.of('batch').length;
    await purged(broker, 'type=Thing', { capabilities, clock });
    assert.equal(broker.entities.size, 0);
    const batches = broker.of('batch').slice(before);
    assert.ok(batches.every(({ ids }) => 'batchMaxIds' in oddities && ids.length <= 10));
  }
});
