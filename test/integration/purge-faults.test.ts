import assert from 'node:assert/strict';
import { it } from 'node:test';
import { purged, requestCounts, things, type PurgeOptions } from '../support/purge-harness.js';
import { startStubBroker, type Fault, type StubBrokerOptions } from '../support/stub-broker.js';
import { seededRandom } from '../support/stub-broker-state.js';
import { isThorough } from '../support/thoroughness.js';

const SEEDS = isThorough ? [1, 2, 3, 4] : [1, 2];

const FAULTS: readonly Fault[] = [
  { status: 429 },
  { status: 429, headers: { 'retry-after': '2' } },
  { status: 500 },
  { status: 503, body: '<h1>try later</h1>' },
  'reset-before',
  'reset-after',
];

/** Makes a share of all requests fail at random. */
function chaos(seed: number, share: number): NonNullable<StubBrokerOptions['fault']> {
  const random = seededRandom(seed);
  return () => (random() < share ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined);
}

const locked = (id: string) => (id.endsWith('3') ? 423 : undefined);

/** Brokers that accept different requests; `single` means that deletes are sent one by one. */
const BROKERS: Readonly<Record<string, Partial<StubBrokerOptions>>> = {
  'an exemplary broker': {},
  'pages of 7, TooManyResults above': { pageMax: 7, overPageMax: '403' },
  'pages of 7, a 400 with the reason above': { pageMax: 7, overPageMax: '400' },
  'pages of 7, a 400 without a reason above': { pageMax: 7, overPageMax: '400-mute' },
  'pages of 7 whatever the limit': { pageMax: 7 },
  'short pages': { shortPages: true },
  'no batch delete (404)': { batch: 404 },
  'no batch delete (405)': { batch: 405 },
  'no batch delete (501)': { batch: 501 },
  'no pick': { pick: '400' },
  'a 400 without a reason to pick': { pick: '400-mute' },
  'no counts, no order': { count: () => undefined, order: 'shuffled' },
  'locked entities': { locked },
  'locked entities, no batch delete': { locked, batch: 405 },
  'locked entities, errors without status': { locked, itemsWithoutStatus: true },
  'pages of 7, short, no batch, no pick, locked': {
    pageMax: 7,
    overPageMax: '403',
    shortPages: true,
    batch: 405,
    pick: '400-mute',
    locked,
  },
};

for (const [name, oddities] of Object.entries(BROKERS)) {
  it(`a purge in which a quarter of all requests fail deletes every match that can be deleted, and nothing else: ${name}`, async (t) => {
    for (const seed of SEEDS) {
      const others = things(20, 'Other');
      const entities = [...things(60), ...others];
      const broker = await startStubBroker(t, { entities, ...oddities, fault: chaos(seed, 0.25), seed });
      const report = await purged(broker, 'type=Thing', { seed });

      const stay = things(60).filter(({ id }) => oddities.locked?.(id) !== undefined);
      const left = [...broker.entities.keys()].filter((id) => id.startsWith('urn:ngsi-ld:Thing:'));
      assert.deepEqual(left.sort(), stay.map(({ id }) => id).sort(), `seed ${seed}`);
      for (const { id } of others) assert.ok(broker.entities.has(id), `seed ${seed}: ${id} is gone`);
      const errors = report.errors.map(({ entityId }) => entityId);
      assert.deepEqual(errors.sort(), left, `seed ${seed}: the report names exactly what stayed`);
      assert.equal(report.matched, 60);
      assert.equal(report.deleted, 60 - stay.length);
      assert.equal(report.failed, stay.length);
      assert.ok(report.success.every((id) => !broker.entities.has(id)));
    }
  });
}

it('a purge in which a quarter of all requests fail counts every attempt as a request', async (t) => {
  const broker = await startStubBroker(t, { entities: things(60), fault: chaos(9, 0.25) });
  const { requests } = await purged(broker, 'type=Thing');
  assert.equal(requests, broker.requests.length);
});

const few = { pageSize: 100, batchSize: 50 };
const cases: readonly [string, number, Partial<StubBrokerOptions>, PurgeOptions['limits'], number][] = [
  ['1000 entities in pages of 100 and batches of 50', 1000, {}, few, 10 + 20 + 8],
  ['1000 entities one by one', 1000, { batch: 405 }, few, 10 + 1000 + 12],
  ['5000 entities in pages of 1000 and batches of 500', 5000, {}, { pageSize: 1000, batchSize: 500 }, 25],
  ['one entity', 1, {}, few, 4],
  ['no entity', 0, {}, few, 1],
  ['300 entities in pages of 7 after TooManyResults', 300, { pageMax: 7, overPageMax: '403' }, few, 60 + 24],
];
for (const [name, count, oddities, limits, most] of cases) {
  it(`a purge in which nothing fails needs hardly more requests than pages and batches: ${name}`, async (t) => {
    const broker = await startStubBroker(t, { entities: things(count), ...oddities });
    const report = await purged(broker, 'type=Thing', { limits });
    assert.equal(report.deleted, count);
    assert.equal(broker.entities.size, 0);
    assert.ok(broker.requests.length <= most, JSON.stringify(requestCounts(broker)));
  });
}

it('a purge in which nothing fails never sends an empty batch, a repeated id in a batch, or a DELETE of the collection', async (t) => {
  const twice = [...things(120), ...things(120)];
  const broker = await startStubBroker(t, { entities: twice, order: 'shuffled', shortPages: true });
  await purged(broker, 'type=Thing');
  for (const { ids } of broker.of('batch')) {
    assert.ok(ids.length > 0 && ids.length <= 50);
    assert.equal(new Set(ids).size, ids.length);
  }
  assert.equal(broker.of('collection').length, 0);
  assert.equal(broker.of('other').length, 0);
});
