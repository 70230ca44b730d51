import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { BrokerReplyError } from '../../sidecar/purge/errors.js';
import { QueryRefusedError } from '../../sidecar/purge/index.js';
import { createTestClock, isProbe, purge, purged, requestCounts } from '../support/purge-harness.js';
import { startStubBroker, type StubBroker, type StubBrokerOptions } from '../support/stub-broker.js';
import type { StubEntity } from '../support/stub-broker-filter.js';
import { seededRandom, type StubRequest } from '../support/stub-broker-state.js';
import { column } from '../support/columns.js';

const property = (value: number) => ({ type: 'Property', value });

/** Entities with attributes n and m, and every second one with x. */
function rich(count: number, type = 'Thing'): StubEntity[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `urn:ngsi-ld:${type}:${index}`,
    type,
    n: property(index),
    m: [property(1), { ...property(2), datasetId: 'urn:d:1' }],
    ...(index % 2 === 0 ? { x: property(1) } : {}),
  }));
}

function withAttribute(broker: StubBroker, name: string): readonly string[] {
  return [...broker.entities.values()].filter((entity) => name in entity).map(({ id }) => id);
}

const unknown = () => undefined;
const ODDITIES: Readonly<Record<string, Partial<StubBrokerOptions>>> = {
  'an exemplary broker': {},
  'no counts': { count: unknown },
  'pages of 7': { pageMax: 7, overPageMax: '403' },
  'pages of 7 whatever the limit': { pageMax: 7 },
  'pages of 7 whatever the limit, no counts': { pageMax: 7, count: unknown },
  'short pages': { shortPages: true },
  'no paging': { paging: 'whole-result' },
  'the last entity repeated beyond the end': { paging: 'last-again', count: unknown },
  'no order': { order: 'shuffled' },
  'counts too low': { count: (total) => Math.floor(total / 2) },
  'counts the page': { count: (_total, page) => page },
};

for (const [name, oddities] of Object.entries(ODDITIES)) {
  it(`a purge that drops attributes removes the attributes from every match and changes nothing else: ${name}`, async (t) => {
    const broker = await startStubBroker(t, { entities: [...rich(90), ...rich(9, 'Other')], ...oddities });
    const report = await purged(broker, 'type=Thing&drop=n,x,nowhere', { limits: { pageSize: 20 } });
    assert.deepEqual([report.matched, report.deleted, report.failed], [135, 135, 0]);
    assert.equal(broker.entities.size, 99);
    assert.ok(withAttribute(broker, 'n').every((id) => id.includes('Other')));
    assert.equal(withAttribute(broker, 'm').length, 99);
    assert.equal(broker.of('attribute').length, 135);
    assert.ok(broker.of('attribute').every(({ query }) => query.get('deleteAll') === 'true'));
    assert.equal(broker.of('batch').length + broker.of('single').length, 0);
  });

  // A count below the truth looks like a count that was correct before more entities arrived.
  if (name === 'counts too low') continue;
  it(`a purge that drops attributes removes attributes even if the entity then stops matching: ${name}`, async (t) => {
    for (const query of ['q=n>-1', 'attrs=n', 'q=n>-1;m']) {
      const broker = await startStubBroker(t, { entities: rich(90), ...oddities });
      const report = await purged(broker, `type=Thing&${query}&drop=n`, { limits: { pageSize: 20 } });
      assert.deepEqual(withAttribute(broker, 'n'), [], query);
      assert.equal(report.deleted, 90);
      assert.ok(broker.requests.length <= 90 + 130, JSON.stringify(requestCounts(broker)));
    }
  });
}

it('a purge with keep keeps the named attributes and removes all others', async (t) => {
  const broker = await startStubBroker(t, {
    entities: rich(30).map((entity) => ({ ...entity, scope: '/a' })),
  });
  const report = await purged(broker, 'type=Thing&keep=m');
  assert.equal(report.deleted, 45);
  for (const entity of broker.entities.values()) {
    assert.deepEqual(Object.keys(entity).sort(), ['id', 'm', 'scope', 'type']);
  }
});

it('a purge that drops attributes removes every attribute although a quarter of the requests fail', async (t) => {
  for (const seed of [1, 2, 3, 4]) {
    const random = seededRandom(seed);
    const faults = [{ status: 503 }, { status: 429 }, 'reset-before', 'reset-after'] as const;
    const broker = await startStubBroker(t, {
      entities: rich(60),
      fault: () => (random() < 0.25 ? faults[Math.floor(random() * 4)] : undefined),
    });
    const report = await purged(broker, 'type=Thing&drop=n', { seed, limits: { pageSize: 20 } });
    assert.deepEqual([report.deleted, report.failed], [60, 0]);
    assert.deepEqual(withAttribute(broker, 'n'), []);
  }
});

it('a purge that drops attributes reports exactly the attributes that stayed, with their entities', async (t) => {
  for (const oddities of [
    { locked: (key: string) => (key.endsWith('3 n') ? 423 : undefined) },
    { ghosts: (key: string) => key.endsWith('3 n') },
  ]) {
    const broker = await startStubBroker(t, { entities: rich(50), ...oddities });
    const report = await purged(broker, 'type=Thing&drop=n,x');
    assert.deepEqual([report.matched, report.deleted, report.failed], [75, 70, 5]);
    assert.deepEqual(
      report.errors.map(({ entityId }) => entityId).sort(),
      [...withAttribute(broker, 'n')].sort(),
    );
    assert.ok(
      report.errors.every(({ attribute, error }) => attribute === 'n' && [409, 423].includes(error.status)),
    );
    const failed = new Set(report.errors.map(({ entityId }) => entityId));
    assert.ok(report.success.every((id) => !failed.has(id)));
  }
});

it('a purge that drops attributes counts attributes removed by another client as already gone', async (t) => {
  const broker = await startStubBroker(t, {
    entities: rich(20),
    fault: ({ kind, id = '' }, { entities }) => {
      if (kind === 'attribute') entities.set(id, { id, type: 'Thing' });
      return undefined;
    },
  });
  const report = await purged(broker, 'type=Thing&drop=n');
  assert.deepEqual([report.deleted, report.alreadyGone, report.failed], [0, 20, 0]);
});

it('a purge that drops attributes waits if queries lag behind its deletes', async (t) => {
  const old = rich(20);
  let stale = 0;
  const broker = await startStubBroker(t, {
    entities: old,
    fault: (request, self) => {
      const isLagging = request.kind === 'query' && self.of('attribute').length >= 20 && ++stale <= 6;
      return isLagging ? { status: 200, headers: { 'ngsild-results-count': '20' }, body: old } : undefined;
    },
  });
  const report = await purged(broker, 'type=Thing&drop=n');
  assert.deepEqual([report.deleted, report.failed], [20, 0]);
  assert.ok(stale > 6, 'the purge looked until the query had caught up');
  const whole = broker.of('attribute').filter(({ query }) => query.get('deleteAll') === 'true');
  assert.equal(whole.length, 40, 'each was removed twice at most');
});

it('a purge that drops attributes does not report success if the broker counts matches that it does not list', async (t) => {
  const broker = await startStubBroker(t, { entities: rich(90), paging: 'shallow-40' });
  const { error, progress } = await purge(broker, 'type=Thing&drop=n', { limits: { pageSize: 20 } });
  assert.ok(error instanceof BrokerReplyError);
  assert.match(error.message, /50 more matches/);
  assert.equal(progress.deleted, 40);
});

it('a purge that drops attributes does not end after a single empty answer', async (t) => {
  for (const count of [unknown, (total: number) => total]) {
    for (let struck = 1; struck <= 9; struck++) {
      let queries = 0;
      const broker = await startStubBroker(t, {
        entities: rich(60),
        count,
        fault: (request) =>
          request.kind === 'query' && !isProbe(request) && ++queries === struck
            ? { status: 200, body: [] }
            : undefined,
      });
      await purged(broker, 'type=Thing&drop=n', { limits: { pageSize: 20 } });
      assert.deepEqual(withAttribute(broker, 'n'), [], `query ${struck}`);
    }
  }
});

const IRI = 'https://example.org/ontology#speed';

it('attributes in drop and keep are reported without a request if a server could read their path as another one', async (t) => {
  const entities = [
    { id: 'urn:x:1', type: 'Thing', [IRI]: property(1), n: property(2) },
    { id: 'urn:x?2', type: 'Thing', n: property(2) },
  ];
  const broker = await startStubBroker(t, { entities });
  const report = await purged(broker, `type=Thing&drop=${encodeURIComponent(IRI)},n`);
  assert.deepEqual([report.deleted, report.failed], [1, 2]);
  assert.deepEqual(
    report.errors.map(({ entityId, attribute, error }) => [entityId, attribute, error.type]),
    [
      ['urn:x:1', IRI, 'urn:ngsi-ld-gateway:problem:no-safe-path'],
      ['urn:x?2', 'n', 'urn:ngsi-ld-gateway:problem:no-safe-path'],
    ],
  );
  assert.deepEqual(
    broker.of('attribute').map(({ target }) => target),
    ['/ngsi-ld/v1/entities/urn%3Ax%3A1/attrs/n?deleteAll=true'],
  );
});

it('drop and keep must use the names that the broker shows, since keep by another name would remove the attribute', async (t) => {
  for (const kind of ['keep', 'drop']) {
    const broker = await startStubBroker(t, {
      entities: [{ id: 'urn:x:1', type: 'Thing', speed: property(1) }],
      aliases: new Map([[IRI, 'speed']]),
    });
    for (const more of ['', ',n', '&dryRun=true']) {
      const { error } = await purge(broker, `type=Thing&${kind}=${encodeURIComponent(IRI)}${more}`);
      assert.ok(error instanceof QueryRefusedError);
      assert.deepEqual([error.kind, error.parameter], ['badRequestData', kind]);
      assert.match(error.message, /shows the attribute .* as speed/);
    }
    assert.equal(broker.of('attribute').length, 0);
  }
});

it('attributes in drop and keep may have names of Object.prototype, and are reported if no path can contain their names', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'a..b', '..', 'é', 'x:speed', 'a@b'];
  const members = Object.fromEntries(names.map((name) => [name, property(1)]));
  // An object literal would set the prototype; JSON does not.
  const entity = JSON.parse(
    JSON.stringify(members).replace('{', '{"id":"urn:x:1","type":"Thing","__proto__":1,'),
  ) as StubEntity;
  const other = { id: 'urn:x:2', type: 'Thing', other: property(1) };
  const broker = await startStubBroker(t, { entities: [entity, other] });
  const report = await purged(broker, 'type=Thing&keep=other');
  assert.deepEqual(column(report.errors, 'attribute'), ['..']);
  assert.deepEqual(Object.keys(broker.entities.get('urn:x:1') ?? {}).sort(), ['..', 'id', 'type']);
  assert.equal(broker.of('other').length + broker.of('single').length + broker.of('collection').length, 0);
});

const limits = { pageSize: 20 };
const isWhole = ({ query }: StubRequest) => query.get('deleteAll') === 'true';

it('at a broker whose deleteAll=true only finds datasets, all instances of each attribute are removed, soon with one request each', async (t) => {
  const broker = await startStubBroker(t, { entities: rich(90), deleteAll: 'with-datasets' });
  const report = await purged(broker, 'type=Thing&drop=n,m,x', { limits });
  assert.deepEqual([report.deleted, report.failed], [225, 0]);
  for (const entity of broker.entities.values()) assert.deepEqual(Object.keys(entity).sort(), ['id', 'type']);
  assert.ok(broker.of('attribute').length <= 225 + 4, `${broker.of('attribute').length} deletes`);
  const ofDatasets = broker.of('attribute').filter(({ attribute }) => attribute === 'm');
  assert.ok(ofDatasets.length === 90 && ofDatasets.every(isWhole), 'datasets go with their attribute');
});

it('a broker whose deleteAll=true only finds datasets is remembered for an hour', async (t) => {
  const clock = createTestClock();
  const capabilities = new BrokerCapabilities(clock);
  for (const [passedMs, wholeDeletes] of [
    [0, 4],
    [3_599_000, 0],
    [2_000, 4],
  ] as const) {
    await clock.sleep(passedMs);
    const broker = await startStubBroker(t, { entities: rich(30), deleteAll: 'with-datasets' });
    const report = await purged(broker, 'type=Thing&drop=n', { limits, capabilities, clock });
    assert.equal(report.deleted, 30);
    assert.equal(broker.of('attribute').filter(isWhole).length, wholeDeletes);
  }
});

it('a missing attribute does not count as evidence that deleteAll=true only finds datasets', async (t) => {
  const capabilities = new BrokerCapabilities(createTestClock());
  const broker = await startStubBroker(t, {
    entities: rich(20),
    fault: ({ kind, id = '' }, { entities }) => {
      if (kind === 'attribute') entities.set(id, { id, type: 'Thing' });
      return undefined;
    },
  });
  await purged(broker, 'type=Thing&drop=n', { capabilities });
  assert.equal(capabilities.get('needs-datasets'), undefined);
});

it('at a broker whose deleteAll=true only finds datasets, datasets added after the listing are removed as well', async (t) => {
  const broker = await startStubBroker(t, {
    entities: rich(30),
    deleteAll: 'with-datasets',
    fault: ({ kind, id = '' }, { entities, requests }) => {
      const entity = entities.get(id);
      const isFirst = requests.filter((request) => request.id === id).length === 1;
      if (kind === 'attribute' && isFirst && entity !== undefined && id.endsWith('7'))
        entities.set(id, { ...entity, n: [property(1), { ...property(2), datasetId: 'urn:d:new' }] });
      return undefined;
    },
  });
  const report = await purged(broker, 'type=Thing&drop=n', { limits });
  assert.deepEqual([report.deleted, report.failed], [30, 0]);
  assert.deepEqual(withAttribute(broker, 'n'), []);
});

it('at a broker without deleteAll=true, attributes are removed dataset by dataset', async (t) => {
  const broker = await startStubBroker(t, { entities: rich(30), deleteAll: 'none' });
  const report = await purged(broker, 'type=Thing&drop=m');
  assert.deepEqual([report.deleted, report.failed], [30, 0]);
  assert.deepEqual(withAttribute(broker, 'm'), []);
});

it('at a broker without deleteAll=true, an attribute with an ambiguous datasetId is reported, and nothing is sent', async (t) => {
  const m = [property(1), { ...property(2), datasetId: 'urn:d:1&deleteAll=true' }];
  const broker = await startStubBroker(t, {
    entities: [{ id: 'urn:x:1', type: 'Thing', m }],
    deleteAll: 'none',
  });
  const report = await purged(broker, 'type=Thing&drop=m');
  assert.deepEqual([report.deleted, report.failed], [0, 1]);
  assert.equal(report.errors[0]?.error.type, 'urn:ngsi-ld-gateway:problem:no-safe-path');
  assert.ok(broker.of('attribute').every(({ target }) => !target.includes('datasetId')));
});
