import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TooManyMatchesError } from '../../sidecar/purge/index.js';
import { purge, purged, requestCounts, things } from '../support/purge-harness.js';
import { startStubBroker, type StubBrokerOptions } from '../support/stub-broker.js';

/** 600 things; those for which `isExtra` returns true have the attribute `extra`. */
const mixed = (isExtra: (n: number) => boolean) =>
  things(600).map((thing, n) => ({
    ...thing,
    ...(isExtra(n) ? { extra: { type: 'Property', value: 1 } } : {}),
  }));

const SPREADS: Readonly<Record<string, (n: number) => boolean>> = {
  'every sixth': (n) => n % 6 === 0,
  'the last hundred': (n) => n >= 500,
  'the first hundred': (n) => n < 100,
};

const BROKERS: Readonly<Record<string, Partial<StubBrokerOptions>>> = {
  'in pages of the requested length': {},
  'in pages of 20 whatever the limit': { pageMax: 20 },
};

for (const [spread, isExtra] of Object.entries(SPREADS)) {
  for (const [pages, oddities] of Object.entries(BROKERS)) {
    const start = (t: Parameters<typeof startStubBroker>[0]) =>
      startStubBroker(t, { entities: mixed(isExtra), filtersLate: ['attrs'], ...oddities });

    it(`a purge at a broker that filters after paging deletes exactly the matches: ${spread}, ${pages}`, async (t) => {
      const broker = await start(t);
      const report = await purged(broker, 'type=Thing&attrs=extra');
      assert.deepEqual([report.matched, report.deleted, report.failed, report.arrived], [100, 100, 0, 0]);
      assert.equal(broker.entities.size, 500);
      assert.ok([...broker.entities.values()].every((entity) => !('extra' in entity)));
    });

    it(`a dry run at a broker that filters after paging reports the matches, not the broker's count: ${spread}, ${pages}`, async (t) => {
      const report = await purged(await start(t), 'type=Thing&attrs=extra&dryRun=true');
      assert.equal(report.matched, 100);
      assert.equal(report.sample.length, 100);
    });

    it(`maxAffected at a broker that filters after paging applies to the matches, not to the broker's count: ${spread}, ${pages}`, async (t) => {
      const broker = await start(t);
      const { error, progress } = await purge(broker, 'type=Thing&attrs=extra&maxAffected=99');
      assert.ok(error instanceof TooManyMatchesError);
      assert.deepEqual([progress.hasBegun, broker.entities.size], [false, 600]);
      assert.equal((await purged(broker, 'type=Thing&attrs=extra&maxAffected=100')).deleted, 100);
    });

    it(`a purge with drop at a broker that filters after paging removes the attribute of exactly the matches: ${spread}, ${pages}`, async (t) => {
      const broker = await start(t);
      const report = await purged(broker, 'type=Thing&attrs=extra&drop=extra');
      assert.deepEqual([report.deleted, report.failed], [100, 0]);
      assert.ok([...broker.entities.values()].every((entity) => !('extra' in entity) && 'n' in entity));
    });
  }
}

it('a purge at a broker that filters after paging reads all pages once per listing, not once per match', async (t) => {
  const broker = await startStubBroker(t, { entities: mixed((n) => n % 6 === 0), filtersLate: ['attrs'] });
  await purged(broker, 'type=Thing&attrs=extra', { limits: { pageSize: 100 } });
  assert.ok(broker.of('query').length <= 20, JSON.stringify(requestCounts(broker)));
});

it('a purge at a broker that filters after paging works with attrs alone if the page length is unknown', async (t) => {
  const broker = await startStubBroker(t, {
    entities: mixed((n) => n >= 500),
    filtersLate: ['attrs'],
    pageMax: 20,
  });
  assert.equal((await purged(broker, 'attrs=extra')).deleted, 100);
  assert.equal(broker.entities.size, 500);
});

it('a purge at a broker that filters after paging accepts a keep whose attributes only occur beyond the first page', async (t) => {
  const broker = await startStubBroker(t, { entities: mixed((n) => n >= 500), filtersLate: ['attrs'] });
  const report = await purged(broker, 'type=Thing&keep=extra');
  assert.deepEqual([report.deleted, report.failed], [600, 0]);
  assert.equal([...broker.entities.values()].filter((entity) => 'extra' in entity).length, 100);
});

it('a purge at a broker that filters after paging does not wait for counted matches that do not exist', async (t) => {
  const broker = await startStubBroker(t, { entities: mixed(() => false), filtersLate: ['attrs'] });
  const report = await purged(broker, 'type=Thing&attrs=extra');
  assert.deepEqual([report.matched, report.deleted], [0, 0]);
  assert.equal(broker.entities.size, 600);
});

for (const [where, idPattern, matches] of [
  ['on the first page', ':\\d$', 10],
  ['beyond the first page', ':5\\d\\d$', 100],
] as const)
  it(`a purge by idPattern at a broker that filters after paging deletes exactly the matches: ${where}`, async (t) => {
    const entities = things(600);
    const broker = await startStubBroker(t, { entities, filtersLate: ['idPattern'] });
    const query = `type=Thing&idPattern=${encodeURIComponent(idPattern)}`;
    const report = await purged(broker, query, { limits: { pageSize: 100 } });
    assert.deepEqual([report.matched, report.deleted], [matches, matches]);
    assert.ok([...broker.entities.keys()].every((id) => !new RegExp(idPattern).test(id)));
    assert.equal(broker.entities.size, 600 - matches);
  });
