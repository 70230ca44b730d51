import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerReplyError } from '../../sidecar/purge/errors.js';
import { isProbe, purge, purged, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';
import { isThorough } from '../support/thoroughness.js';

type Count = NonNullable<StubBrokerOptions['count']>;

/** Counts that do not claim more than there is; purges must succeed with them. */
const COUNTS: Readonly<Record<string, Count>> = {
  missing: () => undefined,
  'minus two': () => -2,
  zero: () => 0,
  'not a number': () => 'many',
  empty: () => '',
  'too low by 10': (total) => Math.max(0, total - 10),
  'half of the right number': (total) => Math.floor(total / 2),
  'of the page': (_total, page) => page,
  'of the page minus one': (_total, page) => Math.max(0, page - 1),
};

const PAGES: Readonly<Record<string, Partial<StubBrokerOptions>>> = {
  'full pages': {},
  'short pages': { shortPages: true },
  'pages of 20 whatever the limit': { pageMax: 20 },
  'pages without an order': { order: 'shuffled' },
};

for (const [countName, count] of Object.entries(COUNTS)) {
  for (const [pagesName, pages] of Object.entries(PAGES)) {
    it(`a purge at a broker whose counts are wrong deletes every match: count ${countName}, ${pagesName}`, async (t) => {
      for (const seed of isThorough ? [1, 2, 3, 4] : [1, 2]) {
        const entities = [...things(200), ...things(20, 'Other')];
        const broker = await startStubBroker(t, { entities, count, ...pages, seed });
        const report = await purged(broker, 'type=Thing', { seed });
        assert.equal(broker.entities.size, 20, `seed ${seed}`);
        assert.equal(report.deleted, 200);
        assert.equal(report.arrived, 0);
        assert.ok(broker.of('query').length <= 50, `${broker.of('query').length} queries`);
      }
    });
  }
}

for (const [name, count, isRefuted] of [
  ['too high by 5', (total: number) => total + 5, true],
  ['always 10000', () => 10_000, true],
  // Lower than the number of matches until half of them are gone.
  ['always 100', () => 100, false],
] as const) {
  const end = isRefuted ? 'and fails because matches are counted but not listed' : 'and succeeds';
  it(`a purge at a broker whose counts are too high deletes every match, ${end}: ${name}`, async (t) => {
    const broker = await startStubBroker(t, { entities: things(200), count });
    const { error, progress } = await purge(broker, 'type=Thing');
    assert.equal(broker.entities.size, 0);
    assert.equal(error instanceof BrokerReplyError, isRefuted, String(error));
    if (isRefuted) assert.match(String(error), /counts \d+ more matches than it lists/);
    assert.equal(progress.deleted, 200);
    assert.ok(broker.of('query').length <= 50);
  });
}

it('a purge at a broker whose counts are wrong queries again, after a pause, if the first page is empty but the count is not 0', async (t) => {
  let isFirst = true;
  const broker = await startStubBroker(t, {
    entities: things(30),
    fault: ({ kind }) => {
      if (kind !== 'query' || !isFirst) return undefined;
      isFirst = false;
      return { status: 200, headers: { 'ngsild-results-count': '30' }, body: [] };
    },
  });
  assert.equal((await purged(broker, 'type=Thing')).deleted, 30);
  assert.equal(broker.entities.size, 0);
});

it('a purge at a broker whose counts are wrong never reports success if matches are counted but none is listed', async (t) => {
  const answer = { status: 200, headers: { 'ngsild-results-count': '30' }, body: [] };
  const broker = await startStubBroker(t, { fault: () => answer });
  const { error } = await purge(broker, 'type=Thing');
  assert.ok(error instanceof BrokerReplyError);
  assert.ok(broker.requests.length <= 25);
});

for (const name of ['with the count', 'without a count', 'with a count of 0'] as const) {
  it(`a purge at a broker whose counts are wrong is not misled by one empty answer in the middle: an error shown as [] ${name}`, async (t) => {
    // If the very first answer is empty with a count of 0, it cannot be distinguished from the
    // truth.
    for (let struck = name === 'with a count of 0' ? 2 : 1; struck <= 9; struck++) {
      let queries = 0;
      const broker = await startStubBroker(t, {
        entities: things(300),
        ...(name === 'without a count' ? { count: () => undefined } : {}),
        fault: (request, { entities }) => {
          if (request.kind !== 'query' || isProbe(request) || ++queries !== struck) return undefined;
          const count =
            name === 'with the count' ? entities.size : name === 'with a count of 0' ? 0 : undefined;
          const headers = count === undefined ? {} : { 'ngsild-results-count': String(count) };
          return { status: 200, headers, body: [] };
        },
      });
      const report = await purged(broker, 'type=Thing');
      assert.equal(broker.entities.size, 0, `query ${struck}`);
      assert.equal(report.deleted, 300);
    }
  });
}

it('a purge whose first page is empty with a count of 0 ends after a single request', async (t) => {
  const broker = await startStubBroker(t, { entities: things(5, 'Other') });
  const report = await purged(broker, 'type=Thing');
  assert.deepEqual([report.matched, report.deleted], [0, 0]);
  assert.equal(broker.requests.length, 1);
});
