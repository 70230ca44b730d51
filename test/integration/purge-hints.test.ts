import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { stopAll } from '../support/gateway-harness.js';
import { purged, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';
import { startTemporal } from '../support/temporal-harness.js';

after(stopAll);

/** Returns the hints of a dry run, and the number of its queries. */
async function hintsOf(
  t: Parameters<typeof startStubBroker>[0],
  query: string,
  options: Partial<StubBrokerOptions> = {},
): Promise<{ readonly hints: readonly string[] | undefined; readonly queries: number }> {
  const broker = await startStubBroker(t, { entities: [...things(30), ...things(3, 'Other')], ...options });
  const report = await purged(broker, `${query}&dryRun=true`);
  assert.equal(report.requests, broker.requests.length);
  const lists = broker.requests.filter(({ target }) => /^\/ngsi-ld\/v1\/(?:types|attributes)$/.test(target));
  assert.equal(broker.of('query').length + lists.length, broker.requests.length);
  return { hints: report.hints, queries: broker.requests.length };
}

it('a dry run without matches reports the types that have no entities', async (t) => {
  assert.deepEqual((await hintsOf(t, 'type=Thingg')).hints, ['No entity of type Thingg is listed.']);
  assert.deepEqual((await hintsOf(t, 'type=Thing,Thingg&q=n%3E99')).hints, [
    'No entity of type Thingg is listed.',
  ]);
  assert.deepEqual((await hintsOf(t, 'type=Thingg&q=m&attrs=x')).hints, [
    'No entity of type Thingg is listed.',
  ]);
  const many = await hintsOf(t, `type=${Array.from({ length: 50 }, (_, n) => `T${n}`).join(',')}`);
  assert.equal(many.hints?.length, 5);
  assert.ok(many.queries <= 8);
});

it('a dry run without matches reports attributes that no entity of an existing type has', async (t) => {
  const { hints, queries } = await hintsOf(t, 'type=Thing&q=n%3E99%3Bspeeed%3C5');
  assert.deepEqual(hints, ['No entity of type Thing has the attribute speeed.']);
  assert.ok(queries <= 7);
  assert.deepEqual((await hintsOf(t, 'type=Thing&q=n%3E99&keep=nn')).hints, [], 'it may well be missing');
  assert.deepEqual((await hintsOf(t, 'attrs=nn')).hints, ['No entity has the attribute nn.']);
  assert.deepEqual((await hintsOf(t, 'type=Thing&drop=nn')).hints, [
    'No entity of type Thing has the attribute nn.',
  ]);
});

it('a dry run without matches warns of times in quotes', async (t) => {
  const { hints } = await hintsOf(t, 'type=Thing&q=n.observedAt%3C%222026-01-01T00:00:00Z%22');
  assert.equal(hints?.length, 1);
  assert.match(hints[0] ?? '', /^q compares n\.observedAt with "2026-01-01T00:00:00Z" in quotes/);
});

it('a dry run without matches gives no hint if the query is just too narrow', async (t) => {
  assert.deepEqual((await hintsOf(t, 'type=Thing&q=n%3E99')).hints, []);
  assert.deepEqual((await hintsOf(t, 'type=Thing&id=urn:a:1')).hints, []);
});

it("a dry run without matches gives no hint if the broker's answer is unreliable", async (t) => {
  const empty = (headers: Readonly<Record<string, string>>) => ({ status: 200, headers, body: [] });
  for (const answer of [
    { status: 400, body: { title: 'no' } },
    { status: 403, body: { title: 'no' } },
    { status: 200, body: 'gibberish' },
    { status: 503 },
    empty({ 'ngsild-results-count': '7' }),
    empty({ link: '</x>; rel="next"' }),
    empty({ 'ngsild-results-count': '0', 'ngsild-warning': '110 x "stale"' }),
  ]) {
    const { hints } = await hintsOf(t, 'type=Thingg&id=urn:a:1', {
      fault: ({ query }) => (query.has('id') ? undefined : answer),
    });
    assert.deepEqual(hints, [], JSON.stringify(answer));
  }
});

it('a dry run with matches sends no extra query for hints, and neither does a purge', async (t) => {
  const asked: (string | null)[] = [];
  const { hints } = await hintsOf(t, 'type=Thing,Thingg', {
    after: ({ query }) => asked.push(query.get('type')),
  });
  assert.equal(hints, undefined);
  assert.ok(!asked.includes('Thingg'));
  const broker = await startStubBroker(t, { entities: things(3) });
  const report = await purged(broker, 'type=Thingg');
  assert.equal(report.hints, undefined);
  assert.ok(broker.requests.every(({ query }) => query.get('type') === 'Thingg'));
});

it('a temporal dry run without matches has the same hints in its answer', async () => {
  const { gateway, broker, purge } = await startTemporal();
  const bodyOf = async (query: string) =>
    (await purge(`${query}&dryRun=true`)).json() as { readonly matched: number; readonly hints?: unknown };
  const MEANT = 'No entity of type Sensorr is listed.';
  const TIME = 'timerel=before&timeAt=2026-01-01T00:00:00Z';
  for (const query of ['type=Sensorr', `type=Sensorr&${TIME}`, `type=Sensorr&attrs=x&${TIME}`]) {
    const { matched, hints } = await bodyOf(query);
    assert.deepEqual([matched, hints], [0, [MEANT]], query);
  }
  assert.deepEqual((await bodyOf(`type=Sensor&attrs=speeed&${TIME}`)).hints, [
    'No entity of type Sensor has the attribute speeed.',
  ]);
  broker.requests.clear();
  const narrow = await bodyOf(`type=Sensor&timerel=before&timeAt=2001-01-01T00:00:00Z`);
  assert.deepEqual([narrow.matched, narrow.hints], [0, undefined]);
  assert.ok(broker.requests.total <= 8, String(broker.requests.total));
  const current = await gateway.purge('type=Sensorr&dryRun=true');
  assert.deepEqual(current.json(), { matched: 0, sample: [], hints: [MEANT] });
});
