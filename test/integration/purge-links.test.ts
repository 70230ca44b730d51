import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { BrokerCapabilities } from '../../sidecar/purge/broker/index.js';
import { FilterIgnoredError, QueryRefusedError } from '../../sidecar/purge/index.js';
import { createTestClock, purge, purged, things, type PurgeOptions } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';

const UP = 'http://contexts.example/c.jsonld';
const DOWN = 'http://down.example/c.jsonld';
const TERMS = new Map([['TT', 'Bus']]);

const link = (url: string) =>
  `<${url}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;
const withLink = (url: string): PurgeOptions => ({ headers: { link: link(url) }, limits: { pageSize: 4 } });

/** Starts a broker with 10 buses and 5 entities of a type that is named TT without an @context. */
const start = async (t: TestContext, options: StubBrokerOptions = {}) =>
  startStubBroker(t, {
    entities: [...things(10, 'Bus'), ...things(5, 'TT')],
    contextAt: (url) => (url === UP ? TERMS : undefined),
    ...options,
  });

const idsOf = (broker: { readonly entities: ReadonlyMap<string, unknown> }, type: string) =>
  [...broker.entities.keys()].filter((id) => id.startsWith(`urn:ngsi-ld:${type}:`)).length;
const isByLink = (error: unknown) => error instanceof FilterIgnoredError && error.parameter === 'Link';

for (const unfetchable of [400, 500, 503] as const) {
  it(`a purge with an @context deletes by the meaning of its names if the broker refuses contexts it cannot fetch, with ${unfetchable}`, async (t) => {
    const broker = await start(t, { unfetchable });
    const capabilities = new BrokerCapabilities(createTestClock());
    const { deleted } = await purged(broker, 'type=TT', { ...withLink(UP), capabilities });
    assert.deepEqual([deleted, idsOf(broker, 'Bus'), idsOf(broker, 'TT')], [10, 0, 5]);
    const probes = () => broker.requests.filter(({ headers }) => headers['link'] !== link(UP)).length;
    assert.equal(probes(), unfetchable === 500 ? 3 : 1);
    const before = probes();
    for (const bus of things(3, 'Bus')) broker.entities.set(bus.id, bus);
    assert.equal((await purged(broker, 'type=TT', { ...withLink(UP), capabilities })).deleted, 3);
    assert.equal(probes(), before, 'proven for an hour');
  });
}

it('a purge with an @context deletes by the meaning of its names if the broker continues without a context but reports the one it used', async (t) => {
  const broker = await start(t, { unfetchable: 'named' });
  const { deleted } = await purged(broker, 'type=TT', withLink(UP));
  assert.deepEqual([deleted, idsOf(broker, 'TT')], [10, 5]);
});

it('a purge with an @context deletes by the meaning of its names if no entity has the type name without the context', async (t) => {
  const broker = await start(t, { unfetchable: 'silent', entities: things(10, 'Bus') });
  assert.equal((await purged(broker, 'type=TT', withLink(UP))).deleted, 10);
});

for (const unfetchable of ['silent', 'named', 'echoed'] as const) {
  it(`a purge with an @context that the broker cannot fetch deletes nothing if the broker continues without it (${unfetchable})`, async (t) => {
    for (const query of ['type=TT', 'type=TT&dryRun=true', 'type=TT&drop=n', 'type=TT&q=n>1', 'attrs=n']) {
      const broker = await start(t, { unfetchable });
      const { error } = await purge(broker, query, withLink(DOWN));
      assert.ok(isByLink(error), `${query}: ${String(error)}`);
      assert.match(String(error), /Nothing was deleted.*full IRIs/);
      assert.equal(broker.entities.size, 15);
      assert.ok(broker.requests.every(({ method }) => method === 'GET'));
    }
  });
}

it('a purge with an @context that the broker cannot fetch deletes nothing if only a later page lists matches', async (t) => {
  const entities = things(40, 'Bus').map((bus, n) => (n < 30 ? bus : { ...bus, extra: bus.n }));
  const broker = await start(t, { entities, unfetchable: 'silent', filtersLate: ['attrs'] });
  const { error } = await purge(broker, 'type=Bus&attrs=extra', withLink(DOWN));
  assert.ok(isByLink(error), String(error));
  assert.equal(broker.entities.size, 40);
});

it('a purge deletes nothing outside the meaning of its names if its @context becomes unavailable', async (t) => {
  let queries = 0;
  const broker = await start(t, {
    unfetchable: 'named',
    contextAt: (url) => (url === UP && (queries += 1) < 6 ? TERMS : undefined),
    count: () => undefined,
  });
  const { error } = await purge(broker, 'type=TT', withLink(UP));
  assert.ok(isByLink(error), String(error));
  assert.equal(idsOf(broker, 'TT'), 5);
});

it('a purge with an @context needs no proof if none of its names depends on the context', async (t) => {
  const core = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.8.jsonld';
  for (const [query, url] of [
    ['type=https://a.example/T', DOWN],
    ['type=urn:T&q=https://a.example/n>1;createdAt>2020-01-01T00:00:00Z', DOWN],
    ['local=true&maxAffected=100', DOWN],
    ['type=TT', core],
  ] as const) {
    const broker = await start(t, { unfetchable: 'silent', contextAt: () => undefined });
    const { error } = await purge(broker, query, withLink(url));
    assert.equal(error, undefined, query);
    assert.ok(
      broker.requests.every(({ headers }) => headers['link'] === link(url)),
      query,
    );
  }
});

it('a purge with an @context also needs a proof for attributes to drop', async (t) => {
  const broker = await start(t, { unfetchable: 'silent', contextAt: () => undefined });
  const { error } = await purge(broker, 'local=true&drop=n&maxAffected=100', withLink(DOWN));
  assert.ok(isByLink(error), String(error));
  assert.equal(broker.of('attribute').length, 0);
});

for (const [title, value] of [
  ['that has no relation', `<${UP}>`],
  ['of another relation', `<${UP}>; rel="next"`],
  ['with an unclosed relation', `<${UP}>; rel="http://www.w3.org/ns/json-ld#context`],
  ['with a relation in single quotes', `<${UP}>; rel='http://www.w3.org/ns/json-ld#context'`],
  ['with a relation that only starts like that of contexts', link(UP).replace('#context"', '#context-of"')],
  ['without angle brackets', link(UP).replace(/[<>]/g, '')],
  ['that names two', `${link(UP)}, ${link(DOWN)}`],
  ['that is empty', ''],
] as const) {
  it(`a purge with a Link ${title} is refused before anything is sent`, async (t) => {
    const broker = await start(t, { unfetchable: 'silent' });
    const { error } = await purge(broker, 'type=TT', { headers: { link: value } });
    assert.ok(error instanceof QueryRefusedError && error.parameter === 'Link', String(error));
    assert.equal(broker.requests.length, 0);
  });
}

it('the @context is found in a Link with several relations, without quotes, or after a parameter without a value', async (t) => {
  const relation = 'http://www.w3.org/ns/json-ld#context';
  for (const parameters of [`rel="up ${relation}"`, `rel=${relation}`, `crossorigin; rel="${relation}"`]) {
    const broker = await start(t, { unfetchable: 'silent' });
    const { error } = await purge(broker, 'type=TT', { headers: { link: `<${DOWN}>; ${parameters}` } });
    assert.ok(isByLink(error), String(error));
  }
});
