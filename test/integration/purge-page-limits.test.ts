import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerMemory } from '../../sidecar/purge/broker/index.js';
import { BrokerRefusedError } from '../../sidecar/purge/index.js';
import { createTestClock, isProbe, purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';

/** What a broker refuses in a query, and how many refusals a purge may run into before it knows. */
const REFUSALS: Readonly<Record<string, readonly [Partial<StubBrokerOptions>, number]>> = {
  'TooManyResults above 7': [{ pageMax: 7, overPageMax: '403' }, 8],
  'a 400 above 7 that names the limit': [{ pageMax: 7, overPageMax: '400' }, 8],
  'a mute 400 above 7': [{ pageMax: 7, overPageMax: '400-mute' }, 26],
  'a 400 to pick that names it': [{ pick: '400' }, 1],
  'a mute 400 to pick': [{ pick: '400-mute' }, 1],
  'mute 400s to pick and key-values': [{ pick: '400-mute', keyValues: '400-mute' }, 2],
  'a 400 to count that names it': [{ countParameter: '400' }, 1],
  'a mute 400 to count': [{ countParameter: '400-mute' }, 4],
  'mute 400s to pick and count': [{ pick: '400-mute', countParameter: '400-mute' }, 6],
  'mute 400s to pick, key-values, count and above 7': [
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
    const capabilities = new BrokerMemory(clock);
    const limits = { pageSize: 1000 };

    const first = await purged(broker, 'type=Thing', { capabilities, clock, limits });
    assert.equal(first.deleted, 40);
    assert.equal(broker.entities.size, 5);
    const before = broker.requests.length;

    await purged(broker, 'type=Other', { capabilities, clock, limits });
    assert.equal(broker.entities.size, 0);
    // Without counts, empty pages are asked for twice.
    const fewest = capabilities.get('no-count') === true ? 8 : 5;
    assert.ok(broker.requests.length - before <= fewest, 'the second purge asks right at once');
    assert.ok(before <= 40 + most, `${before} requests`);
  });
}

it('a purge steps the page size down through the documented sizes, no further than needed', async (t) => {
  const broker = await startStubBroker(t, { entities: things(30), pageMax: 20, overPageMax: '403' });
  await purged(broker, 'type=Thing', { limits: { pageSize: 1000 } });
  const limits = broker.of('query').map(({ query }) => query.get('limit'));
  assert.deepEqual(limits.slice(0, 6), ['1000', '500', '200', '100', '50', '20']);
  assert.ok(
    broker
      .of('query')
      .slice(6)
      .every((request) => isProbe(request) || request.query.get('limit') === '20'),
  );
});

it('a purge passes on a 400 about the query itself, and learns nothing from it', async (t) => {
  let isRefusing = true;
  const refusal = { status: 400, body: { title: 'no such thing' } };
  const broker = await startStubBroker(t, {
    entities: things(5),
    fault: () => (isRefusing ? refusal : undefined),
  });
  const capabilities = new BrokerMemory(createTestClock());
  const { error, progress } = await purge(broker, 'type=Thing', { capabilities });
  assert.ok(error instanceof BrokerRefusedError);
  assert.equal(error.problem.status, 400);
  assert.equal(error.problem.title, 'no such thing');
  assert.equal(progress.hasBegun, false);

  isRefusing = false;
  await purged(broker, 'type=Thing', { capabilities });
  const next = broker.of('query').at(-1)?.query;
  assert.equal(next?.get('pick'), 'id');
  assert.equal(next.get('limit'), '100');
});

it('a purge asks for ids only, and never mixes pick with attrs', async (t) => {
  const broker = await startStubBroker(t, { entities: things(5) });
  await purged(broker, 'type=Thing&attrs=n');
  assert.ok(broker.of('query').every(({ query }) => !query.has('pick') && !query.has('options')));
  const other = await startStubBroker(t, { entities: things(5) });
  await purged(other, 'type=Thing');
  assert.ok(other.of('query').every(({ query }) => query.get('pick') === 'id'));
});

it('a purge takes 201 and 203 for answers to a query, as the standard allows', async (t) => {
  for (const status of [201, 203]) {
    let isAsked = false;
    const broker = await startStubBroker(t, {
      entities: things(3),
      fault: (request, { entities }) => {
        if (request.kind !== 'query' || isAsked) return undefined;
        isAsked = true;
        return { status, headers: { 'ngsild-results-count': '3' }, body: [...entities.values()] };
      },
    });
    assert.equal((await purged(broker, 'type=Thing')).deleted, 3);
  }
});
