import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { createTestClock, purged, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';

/**
 * What a broker refuses in a query, and how many refusals a purge may receive until it has adapted.
 */
const REFUSALS: Readonly<Record<string, readonly [Partial<StubBrokerOptions>, number]>> = {
  'TooManyResults above 7': [{ pageMax: 7, overPageMax: '403' }, 8],
  'a 400 above 7 that names the limit': [{ pageMax: 7, overPageMax: '400' }, 8],
  'a 400 without a reason above 7': [{ pageMax: 7, overPageMax: '400-mute' }, 26],
  'a 400 to pick that names it': [{ pick: '400' }, 1],
  'a 400 without a reason to pick': [{ pick: '400-mute' }, 1],
  '400s without a reason to pick and key-values': [{ pick: '400-mute', keyValues: '400-mute' }, 2],
  'a 400 to count that names it': [{ countParameter: '400' }, 1],
  'a 400 without a reason to count': [{ countParameter: '400-mute' }, 4],
  '400s without a reason to pick and count': [{ pick: '400-mute', countParameter: '400-mute' }, 6],
  '400s without a reason to pick, key-values, count and above 7': [
    {
      pick: '400-mute',
      keyValues: '400-mute',
      countParameter: '400-mute',
      pageMax: 7,
      overPageMax: '400-mute',
    },
    40,
  ],
};

for (const [name, [oddities, most]] of Object.entries(REFUSALS)) {
  it(`a purge finds a form of the query that the broker accepts, and keeps using it: ${name}`, async (t) => {
    const entities = [...things(40), ...things(5, 'Other')];
    const broker = await startStubBroker(t, { entities, ...oddities });
    const clock = createTestClock();
    const capabilities = new BrokerCapabilities(clock);
    const limits = { pageSize: 1000 };

    const first = await purged(broker, 'type=Thing', { capabilities, clock, limits });
    assert.equal(first.deleted, 40);
    assert.equal(broker.entities.size, 5);
    const before = broker.requests.length;

    await purged(broker, 'type=Other', { capabilities, clock, limits });
    assert.equal(broker.entities.size, 0);
    // Without counts, empty pages are requested twice.
    const fewest = capabilities.get('no-count') === true ? 8 : 5;
    assert.ok(broker.requests.length - before <= fewest, 'the second purge asks right at once');
    assert.ok(before <= 40 + most, `${before} requests`);
  });
}

for (const query of ['type=Thing', 'type=Thing&drop=n'])
  it(`a deeply nested value, which the broker shows although it is not asked for, stops no purge: ${query}`, async (t) => {
    const [first, ...others] = things(3);
    const value: unknown = JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`);
    const deep = { ...first, id: 'urn:ngsi-ld:Thing:deep', type: 'Thing', n: { type: 'Property', value } };
    const broker = await startStubBroker(t, {
      entities: [deep, ...others],
      pick: 'ignored',
      keyValues: '400',
    });
    const { failed, deleted } = await purged(broker, query);
    assert.deepEqual([failed, deleted], [0, 3]);
  });

it('a purge requests only ids, and never combines pick with attrs', async (t) => {
  const broker = await startStubBroker(t, { entities: things(5) });
  await purged(broker, 'type=Thing&attrs=n');
  assert.ok(broker.of('query').every(({ query }) => !query.has('pick') && !query.has('options')));
  const other = await startStubBroker(t, { entities: things(5) });
  await purged(other, 'type=Thing');
  assert.ok(other.of('query').every(({ query }) => query.get('pick') === 'id'));
});
