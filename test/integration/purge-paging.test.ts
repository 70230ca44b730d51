import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerReplyError } from '../../sidecar/purge/errors.js';
import { isProbe, purge, purged, requestCounts, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';
import { isThorough } from '../support/thoroughness.js';

const unknown = () => undefined;

/** Ways of paging, and how many queries are allowed for 300 entities in pages of 50. */
const PAGINGS: Readonly<Record<string, readonly [Partial<StubBrokerOptions>, number]>> = {
  'ignores limit and offset': [{ paging: 'whole-result' }, 3],
  'ignores limit and offset, and counts nothing': [{ paging: 'whole-result', count: unknown }, 6],
  'ignores the offset': [{ paging: 'no-offset' }, 30],
  'ignores the offset, and counts nothing': [{ paging: 'no-offset', count: unknown }, 40],
  'repeats the last entity beyond the end': [{ paging: 'last-again' }, 16],
  'repeats the last entity beyond the end, and counts nothing': [
    { paging: 'last-again', count: unknown },
    16,
  ],
  'shows nothing after the first 60': [{ paging: 'shallow-60' }, 40],
  'sends short pages': [{ shortPages: true }, 40],
  'sends short pages, and counts nothing': [{ shortPages: true, count: unknown }, 40],
  'sends pages of 7 whatever the limit': [{ pageMax: 7 }, 80],
  'sends pages of 7 whatever the limit, and counts nothing': [{ pageMax: 7, count: unknown }, 80],
  'has no fixed order': [{ order: 'shuffled' }, 40],
  'has no fixed order, and counts nothing': [{ order: 'shuffled', count: unknown }, 50],
  'has no fixed order and short pages, and counts nothing': [
    { order: 'shuffled', shortPages: true, count: unknown },
    90,
  ],
  'never links the next page': [{ next: 'never' }, 14],
  'never links the next page, and counts nothing': [{ next: 'never', count: unknown }, 14],
  'always links a next page': [{ next: 'always' }, 14],
  'always links a next page, and counts nothing': [{ next: 'always', count: unknown }, 20],
};

for (const [name, [oddities, most]] of Object.entries(PAGINGS)) {
  it(`a purge deletes every match and nothing else at a broker that ${name}`, async (t) => {
    for (const seed of isThorough ? [1, 2, 3] : [1]) {
      const entities = [...things(300), ...things(30, 'Other')];
      const broker = await startStubBroker(t, { entities, ...oddities, seed });
      const report = await purged(broker, 'type=Thing', { limits: { pageSize: 50 }, seed });
      assert.equal(report.deleted, 300);
      assert.equal(report.failed, 0);
      assert.equal(broker.entities.size, 30);
      assert.ok(broker.of('query').length <= most, JSON.stringify(requestCounts(broker)));
    }
  });

  // If pages are unordered, short and without a count, entities that were never listed remain
  // unknown.
  if (oddities.order === 'shuffled' && oddities.shortPages === true) continue;
  it(`a purge reports exactly the entities that stay at a broker that ${name}`, async (t) => {
    const locked = (id: string) => (id.endsWith('7') ? 409 : undefined);
    const broker = await startStubBroker(t, { entities: things(300), ...oddities, locked });
    const { report, error } = await purge(broker, 'type=Thing', { limits: { pageSize: 100 } });
    // If the broker ignores the offset, matches listed after undeletable entities cannot be
    // reached.
    if (report === undefined) assert.ok(error instanceof BrokerReplyError && /shows|offset/.test(name), name);
    else {
      const errors = report.errors.map(({ entityId }) => entityId).sort();
      assert.deepEqual(errors, [...broker.entities.keys()].sort());
      assert.equal(report.deleted, 300 - errors.length);
    }
    const left = [...broker.entities.keys()].filter((id) => locked(id) === undefined);
    assert.deepEqual(left, []);
  });
}

it('a purge continues after an empty page that a next link or the count contradicts', async (t) => {
  for (const count of [unknown, undefined]) {
    let queries = 0;
    const broker = await startStubBroker(t, {
      entities: things(300),
      ...(count === undefined ? {} : { count }),
      fault: (request) => {
        if (request.kind !== 'query' || isProbe(request)) return undefined;
        queries += 1;
        const headers = { link: '</ngsi-ld/v1/entities?offset=1>; rel="next"' };
        return queries % 3 === 2 ? { status: 200, headers, body: [] } : undefined;
      },
    });
    const report = await purged(broker, 'type=Thing', { limits: { pageSize: 50 } });
    assert.equal(report.deleted, 300);
    assert.equal(broker.entities.size, 0);
  }
});

it('a purge requests a smaller page if an answer exceeds the reply limit', async (t) => {
  const { createBrokerClient } = await import('../../sidecar/purge/broker/client.js');
  const broker = await startStubBroker(t, { entities: things(300) });
  const client = createBrokerClient({ brokerUrl: broker.url, timeoutMs: 5000, replyMaxBytes: 1000 });
  const report = await purged(broker, 'type=Thing', { client, limits: { pageSize: 500 } });
  assert.equal(report.deleted, 300);
  assert.equal(broker.entities.size, 0);
});

it('a purge quickly detects a broker that always sends everything, even if the answer exceeds 4 MiB', async (t) => {
  const limits: number[] = [];
  const large = { type: 'Property', value: 'x'.repeat(100_000) };
  const broker = await startStubBroker(t, {
    entities: things(60).map((thing) => ({ ...thing, speed: large })),
    fault: (request) => {
      if (request.kind !== 'query' || isProbe(request)) return undefined;
      limits.push(Number(request.query.get('limit')));
      return { status: 200, body: [...broker.entities.values()] };
    },
  });
  const report = await purged(broker, 'type=Thing');
  assert.equal(report.deleted, 60);
  assert.equal(broker.entities.size, 0);
  assert.deepEqual(limits.slice(0, 3), [100, 50, 1]);
  assert.ok(limits.slice(3).every((limit) => limit === 1));
});

it('a purge requests a smaller page if a page has more than 4 MiB or masses of small values', async (t) => {
  const large = { type: 'Property', value: 'x'.repeat(100_000) };
  const rich = { type: 'JsonProperty', json: Array.from({ length: 20_000 }, () => []) };
  for (const speed of [large, rich]) {
    const limits: number[] = [];
    const broker = await startStubBroker(t, {
      entities: things(100).map((thing) => ({ ...thing, speed })),
      fault: ({ kind, query }) => {
        if (kind === 'query') limits.push(Number(query.get('limit')));
        return undefined;
      },
    });
    // With `drop`, pages contain attributes and not only ids.
    const report = await purged(broker, 'type=Thing&drop=speed', { limits: { pageSize: 100 } });
    assert.equal(report.deleted, 100);
    assert.ok(limits.includes(100) && limits.includes(20), limits.join());
  }
});
