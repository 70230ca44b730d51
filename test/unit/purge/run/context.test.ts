import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { FilterIgnoredError, TooManyMatchesError } from '../../../../sidecar/purge/errors.js';
import type { PurgeEvent } from '../../../../sidecar/purge/run/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import type { Parameter } from '../../../../sidecar/purge/query/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf, scopeOf, type HandMadePurge } from '../hand-made-context.js';
import { idsOf } from '../hand-made-lister.js';

const BY_TYPE: readonly Parameter[] = [{ name: 'type', value: 'T' }];

const pageReply = (ids: readonly string[], headers: Readonly<Record<string, string>> = {}): BrokerReply =>
  replyOf(
    200,
    ids.map((id) => ({ id })),
    headers,
  );

/** A context whose broker answers queries by a function, and impossible queries with nothing. */
function opened(
  answer: (query: URLSearchParams) => BrokerReply,
  more: Omit<Partial<HandMadePurge>, 'brokerQuery'> & {
    readonly brokerQuery?: Partial<HandMadePurge['brokerQuery']>;
  } = {},
) {
  const asked: URLSearchParams[] = [];
  const context = contextOf({
    ...more,
    brokerQuery: { resource: entities('ids'), selection: BY_TYPE, ...more.brokerQuery },
    broker: ({ path }) => {
      const query = new URLSearchParams(path.split('?')[1]);
      asked.push(query);
      return path.includes('PurgeProbe') ? pageReply([]) : answer(query);
    },
  });
  const page = async () => context.lister.page({ selection: context.selection });
  return { context, page, asked };
}

it('the maximum of a purge applies to whole pages and to single items alike', () => {
  const limits = { maxAffected: 3 };
  const { context } = opened(() => pageReply([]), { limits });
  assert.throws(() => context.ledger.addNew(idsOf(4)), TooManyMatchesError);
  assert.equal(context.ledger.matched, 0, 'none of a page that is too large');
  context.ledger.addNew(idsOf(2));
  context.ledger.add({ entityId: 'urn:t:2', attribute: 'a' });
  assert.throws(() => context.ledger.add({ entityId: 'urn:t:3' }), TooManyMatchesError);
  assert.throws(() => context.ledger.addNew(['urn:t:9']), TooManyMatchesError);
  assert.equal(context.ledger.matched, 3);
  assert.deepEqual(context.ledger.addNew(idsOf(2)), [], 'what was taken before is no more');
});

it('a purge has begun with the first item that it took, not before', () => {
  const events: PurgeEvent[] = [];
  const { context } = opened(() => pageReply([]), { onEvent: (event) => events.push(event) });
  context.reportProgress();
  context.ledger.addNew(['urn:a']);
  context.reportProgress();
  const told = { deleted: 0, alreadyGone: 0, failed: 0, requests: 0, retries: 0 };
  assert.deepEqual(events, [
    { type: 'progress', hasBegun: false, matched: 0, unknown: 0, ...told },
    { type: 'progress', hasBegun: true, matched: 1, unknown: 0, ...told },
  ]);
});

it('a page with a warning is refused only if the broker did not stay local', async () => {
  const answer = () => pageReply(['urn:a'], { 'ngsild-entitymap': 'urn:map' });
  const isRefused = async (...selection: readonly Parameter[]) => {
    const { page } = opened(answer, { brokerQuery: { selection } });
    return page().then(
      () => false,
      (error: unknown) => error instanceof FilterIgnoredError && error.parameter === 'local',
    );
  };
  assert.equal(await isRefused({ name: 'local', value: 'true' }), true);
  assert.equal(await isRefused({ name: 'local', value: 'false' }), false);
  assert.equal(await isRefused({ name: 'q', value: 'true' }), false);
});

it('a purge keeps the warnings of its pages, up to ten different ones', async () => {
  let nth = 0;
  const { context, page } = opened(() => pageReply([], { 'ngsild-warning': `w${(nth += 1)}` }));
  for (let pages = 0; pages < 12; pages++) await page();
  assert.equal(context.warnings.size, 10);
  assert.ok(context.warnings.has('w1'));
});

it('the filters of a purge are proven once, with the additional parameters', async () => {
  const additions = [{ name: 'timerel', value: 'before' }];
  const { context, asked } = opened(() => pageReply(['urn:a']), { brokerQuery: { additions } });
  assert.deepEqual(context.selection, [...BY_TYPE, ...additions]);
  await context.proof.prove();
  await Promise.all([context.proof.prove(), context.proof.prove()]);
  assert.equal(asked.length, 2, 'once, and as a whole page, since no count confirms that nothing is there');
  for (const query of asked)
    assert.deepEqual([query.get('type'), query.get('timerel')], ['TNoSuchPurgeProbe', 'before']);
});

it('the proof of the filters fails each time if a filter is ignored', async () => {
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: BY_TYPE },
    broker: () => pageReply(['urn:a']),
  });
  await assert.rejects(context.proof.prove(), FilterIgnoredError);
  await assert.rejects(context.proof.prove(), FilterIgnoredError);
});

it('the tenant of a purge is tested with the first query that listed something', async () => {
  const headers = { 'ngsild-tenant': 'mine' };
  const asked: string[] = [];
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    headers,
    broker: ({ path, headers: sent = {} }) => {
      const tenant = sent['ngsild-tenant'] ?? '';
      asked.push(`${tenant.slice(0, 12)} ${path.split('?')[1] ?? ''}`);
      return pageReply(tenant === 'mine' && !path.includes('offset=1') ? ['urn:a'] : []);
    },
  });
  const { selection, lister } = context;
  await lister.page({ selection, offset: 1 });
  await lister.page({ selection: [], limit: 4 });
  await lister.page({ selection, limit: 2 });
  await lister.page({ selection, limit: 3 });
  asked.length = 0;
  await context.proof.prove();
  // There is no count, so the page that listed something decides.
  const [small, whole] = [1, 2].map((limit) => `nosuchtenant pick=id&limit=${limit}&count=true`);
  assert.deepEqual(asked, [small, whole]);
});

it('a query view tries no larger pages if the broker is known to refuse them', async () => {
  for (const [known, mayGrow] of [
    [undefined, true],
    [10, false],
  ] as const) {
    const scope = scopeOf({
      brokerQuery: { resource: entities('ids'), selection: BY_TYPE },
      broker: () => pageReply(idsOf(1)),
      limits: { pageSize: 10, pageSizeMax: 100 },
    });
    if (known !== undefined) scope.capabilities.learn('page-max', known);
    const { lister } = scope.open({ resource: entities('ids'), selection: BY_TYPE });
    const page = await lister.page({ selection: BY_TYPE });
    assert.deepEqual([page.limit, page.mayGrow], [10, mayGrow]);
  }
});

it('a partial view of a query does not prove that anything is gone', () => {
  assert.equal(opened(() => pageReply([])).context.showsAll, true);
  for (const isPartial of [true, false]) {
    assert.equal(opened(() => pageReply([]), { brokerQuery: { isPartial } }).context.showsAll, !isPartial);
  }
});
