import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { BrokerCapabilities, type ProbedParameter } from '../../../../sidecar/purge/broker/index.js';
import { BrokerRefusedError } from '../../../../sidecar/purge/errors.js';
import type { ListedPage, PageQuery, PagingEvidence } from '../../../../sidecar/purge/listing/index.js';
import { learnCounting, learnStride } from '../../../../sidecar/purge/proof/index.js';
import type { Parameter } from '../../../../sidecar/purge/query/index.js';
import { idsOf, isProbe, listerOf, pageOf, selectionOf } from '../hand-made-lister.js';

const BY_ATTRS = selectionOf({ type: 'Thing', attrs: 'extra' });

/** A query that a broker answers by a function, with the filters that the broker is known to apply late. */
function queryOf(
  selection: readonly Parameter[],
  answer: (query: PageQuery) => ListedPage,
  late: readonly ProbedParameter[] = [],
  countsUnshown = false,
) {
  const capabilities = new BrokerCapabilities({ now: () => 0, monotonicMs: () => 0 });
  for (const filter of late) capabilities.learn(`counts-before ${filter}`, true);
  const paging: PagingEvidence = { contradicted: false, longestPage: 0 };
  const { lister, asked } = listerOf(answer);
  return { selection, lister, capabilities, paging, countsUnshown, asked };
}

/** The parameters of a request besides its type. */
const askedFor = ({ asked }: { readonly asked: readonly PageQuery[] }) =>
  asked.map(({ selection }) => selection.map(({ name, value }) => `${name}=${value}`).join('&'));

const refused = (status: number) => (): never => {
  throw new BrokerRefusedError('list the matching entities', { status });
};

it('the stride of a broker that filters late is the length of its pages, unless one page shows everything', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 300 }),
      async (limit, pageMax, total) => {
        const shown = Math.min(limit, pageMax, total);
        const query = queryOf(BY_ATTRS, () => pageOf(idsOf(shown), { count: total, limit }), ['attrs']);
        await learnStride(query);
        assert.equal(query.paging.stride, shown < total ? shown : limit);
        assert.deepEqual(askedFor(query), ['type=Thing']);
        assert.equal(query.asked[0]?.count, true);
        await learnStride(query);
        assert.equal(query.asked.length, 1, 'learnt once');
      },
    ),
    { numRuns: 100 },
  );
});

it('the stride without a count is the number of entities shown, and never more than requested', async () => {
  for (const [shown, stride] of [
    [7, 7],
    [10, 10],
    [25, 10],
  ] as const) {
    const query = queryOf(BY_ATTRS, () => pageOf(idsOf(shown), { limit: 10 }), ['attrs']);
    await learnStride(query);
    assert.equal(query.paging.stride, stride);
  }
});

it('the stride is unknown, and nothing is requested, if no filter of the query is applied late', async () => {
  for (const [selection, late, countsUnshown] of [
    [BY_ATTRS, [], false],
    [BY_ATTRS, ['q'], false],
    [selectionOf({ type: 'Thing' }), ['type'], false],
    [BY_ATTRS, ['attrs'], true],
  ] as const) {
    const query = queryOf(selection, () => pageOf(idsOf(3)), late, countsUnshown);
    await learnStride(query);
    assert.deepEqual([query.paging.stride, query.asked.length], [undefined, 0]);
  }
});

it('the stride is unknown if nothing is shown even without the filter, because the count is wrong for another reason', async () => {
  const query = queryOf(BY_ATTRS, () => pageOf([], { count: 9 }), ['attrs']);
  await learnStride(query);
  assert.equal(query.paging.stride, undefined);
});

it('the stride is found by a query without the late filters and their parameters, and with all others', async () => {
  const geo = { georel: 'within', geometry: 'Point', coordinates: '[1,2]', geoproperty: 'place' };
  for (const [given, late, asked] of [
    [{ type: 'T', q: 'n>1', attrs: 'a' }, ['attrs'], 'type=T&q=n>1'],
    [{ type: 'T', q: 'n>1', attrs: 'a' }, ['attrs', 'q'], 'type=T'],
    [{ type: 'T', ...geo, geometryProperty: 'x' }, ['georel'], 'type=T'],
    [
      { type: 'T', attrs: 'a', ...geo },
      ['attrs'],
      'type=T&georel=within&geometry=Point&coordinates=[1,2]&geoproperty=place',
    ],
    [{ attrs: 'a' }, ['attrs'], 'local=true'],
  ] as const) {
    const query = queryOf(selectionOf(given), () => pageOf(idsOf(3)), late);
    await learnStride(query);
    assert.deepEqual(askedFor(query), [asked]);
  }
});

it('the stride is one entity if the broker refuses the query without the filter', async () => {
  for (const status of [400, 404, 422]) {
    const query = queryOf(BY_ATTRS, refused(status), ['attrs']);
    await learnStride(query);
    assert.equal(query.paging.stride, 1, String(status));
  }
  for (const status of [401, 403, 501]) {
    await assert.rejects(learnStride(queryOf(BY_ATTRS, refused(status), ['attrs'])), BrokerRefusedError);
  }
});

it('a count is taken before a filter if an impossible filter is counted as well', async () => {
  const query = queryOf(BY_ATTRS, (asked) =>
    isProbe(asked) ? pageOf([], { count: 9 }) : pageOf(idsOf(9), { count: 9, limit: 100 }),
  );
  assert.equal(await learnCounting(query), true);
  assert.deepEqual(
    [query.capabilities.get('counts-before attrs') === true, query.paging.stride],
    [true, 100],
  );
  assert.deepEqual([query.asked[0]?.limit, query.asked[0]?.count], [1, true]);
  assert.deepEqual(askedFor(query), ['type=Thing&attrs=extraNoSuchPurgeProbe', 'type=Thing']);
});

it('a count is not taken before a filter if an impossible filter counts nothing, shows something, or is refused', async () => {
  for (const probed of [
    () => pageOf([], { count: 0 }),
    () => pageOf([]),
    () => pageOf(idsOf(1), { count: 9 }),
    refused(400),
  ]) {
    const query = queryOf(BY_ATTRS, (asked) => (isProbe(asked) ? probed() : pageOf(idsOf(9))));
    assert.equal(await learnCounting(query), false);
    assert.equal(query.capabilities.get('counts-before attrs'), undefined);
  }
});
