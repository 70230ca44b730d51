import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BrokerFailedError, BrokerRefusedError, BrokerReplyError } from '../../../../sidecar/purge/errors.js';
import { firstPage, trustedTotal } from '../../../../sidecar/purge/run/index.js';
import { purgeByIds } from '../../../../sidecar/purge/entities/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import { replyOf } from '../../../support/replies.js';
import { contextOf, PROVEN } from '../hand-made-context.js';
import { idsOf, pageOf } from '../hand-made-lister.js';

const page = (ids: readonly string[], count?: number): BrokerReply =>
  replyOf(
    200,
    ids.map((id) => ({ id })),
    count === undefined ? {} : { 'ngsild-results-count': String(count) },
  );

/** A purge of things whose broker answers paged queries in turn, and the bare query always alike. */
function purgeOf(pages: readonly BrokerReply[], bare = page([]), impossible = page([])) {
  const asked: string[] = [];
  let paged = 0;
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [{ name: 'type', value: 'Thing' }] },
    broker: ({ path }) => {
      const isBare = !path.includes('limit=');
      const isImpossible = path.includes('NoSuchType');
      asked.push(isBare ? 'bare' : isImpossible ? 'paged NoSuchType' : 'paged');
      if (isImpossible) return impossible;
      if (isBare) return bare;
      paged += 1;
      return pages[Math.min(paged, pages.length) - 1] ?? page([]);
    },
  });
  return { context, asked };
}

it('the first page is accepted if it lists something, or the broker counts 0', async () => {
  for (const reply of [page(idsOf(1)), page(idsOf(1), 5), page(idsOf(3), 0), page([], 0)]) {
    const { context, asked } = purgeOf([reply]);
    await firstPage(context);
    assert.deepEqual(asked, ['paged']);
  }
});

it('an empty first page without a count is confirmed by the bare query', async () => {
  const { context, asked } = purgeOf([page([])]);
  assert.deepEqual((await firstPage(context)).ids, []);
  assert.deepEqual(asked, ['paged', 'bare', 'paged NoSuchType']);
});

it('an empty first page without a count fails if the broker counts a query that surely matches nothing', async () => {
  const { context, asked } = purgeOf([page([])], page([]), page([], 0));
  await assert.rejects(firstPage(context), BrokerReplyError);
  assert.deepEqual(asked.filter((each) => each === 'paged').length, 3);
  const late = purgeOf([page([]), page([], 0)], page([]), page([], 0));
  assert.deepEqual((await firstPage(late.context)).count, 0);
});

it('an empty first page with an impossible count is requested again, and finally fails as an error of the broker', async () => {
  for (const count of ['-738266224', 'NaN', '1.5', '1e3', '-1', '', '99999999999999999999']) {
    const failed = replyOf(200, [], { 'ngsild-results-count': count });
    const { context, asked } = purgeOf([failed]);
    await assert.rejects(
      firstPage(context),
      (error: unknown) =>
        error instanceof BrokerFailedError && error.message.includes(`the impossible count ${count}`),
      count,
    );
    assert.deepEqual(asked, ['paged', 'paged', 'paged'], 'as often as any request that fails');
    const passing = purgeOf([failed, page(idsOf(2), 2)]);
    assert.deepEqual((await firstPage(passing.context)).ids, idsOf(2));
  }
});

it('an impossible count beside matches is ignored, and does not make a later empty page fail', async () => {
  const uncountable = (ids: readonly string[]) =>
    replyOf(
      200,
      ids.map((id) => ({ id })),
      { 'ngsild-results-count': '-2' },
    );
  const { context } = purgeOf([uncountable(idsOf(2)), uncountable([])]);
  assert.equal((await firstPage(context)).count, undefined);
  assert.deepEqual((await context.lister.page({ selection: context.selection, offset: 2 })).ids, []);
});

it('the first page is requested again if only the bare query lists something, because an empty page may be a temporary fault', async () => {
  const { context, asked } = purgeOf([page([]), page(idsOf(2))], page(idsOf(2)));
  assert.deepEqual((await firstPage(context)).ids, idsOf(2));
  assert.deepEqual(asked, ['paged', 'bare', 'paged']);
});

it('the first page fails if only the bare query lists something, twice', async () => {
  const { context, asked } = purgeOf([page([])], page(idsOf(2)));
  await assert.rejects(firstPage(context), BrokerReplyError);
  assert.deepEqual(asked, ['paged', 'bare', 'paged', 'bare']);
});

it('the first page is requested three times if the broker counts matches that it does not list', async () => {
  const { context, asked } = purgeOf([page([], 4)]);
  assert.deepEqual((await firstPage(context)).count, 4);
  assert.deepEqual(asked, ['paged', 'paged', 'paged']);
  const late = purgeOf([page([], 4), page([], 4), page(idsOf(4), 4)]);
  assert.equal((await firstPage(late.context)).ids.length, 4);
});

it('the first page emits each count, and is as large as requested', async () => {
  const { context, asked } = purgeOf([page(idsOf(2), 7)]);
  const events: unknown[] = [];
  const listening = { ...context, emit: (event: unknown) => events.push(event) };
  assert.equal((await firstPage(listening, { limit: 2 })).limit, 2);
  assert.deepEqual([events, asked], [[{ type: 'counted', matches: 7 }], ['paged']]);
});

it('the first page emits no count that is lower than the number of matches it lists', async () => {
  for (const [count, emitted] of [
    [0, []],
    [2, []],
    [3, [{ type: 'counted', matches: 3 }]],
  ] as const) {
    const events: unknown[] = [];
    const { context } = purgeOf([page(idsOf(3), count)]);
    await firstPage({ ...context, emit: (event: unknown) => events.push(event) });
    assert.deepEqual(events, emitted, String(count));
  }
});

const total = (shown: number, count: number | undefined, more: object = {}) =>
  trustedTotal(
    { ...purgeOf([]).context, paging: { contradicted: false, longestPage: 0, ...more } },
    pageOf(idsOf(shown), { count }),
  );

it('the trusted total of a first page is its count, unless it may count only the page or counts were wrong before', () => {
  for (const [shown, count, trusted, more] of [
    [10, 11, true],
    [10, 5000, true],
    [3, 3, true],
    [0, 0, true],
    [3, 4, true],
    [10, undefined, false],
    [10, 9, false],
    [3, 2, false],
    [10, 10, false],
    [12, 12, false],
    [10, 50, false, { contradicted: true }],
    [10, 50, false, { stride: 10 }],
  ] as const)
    assert.equal(total(shown, count, more), trusted ? count : undefined, `${shown} of ${count ?? 'unknown'}`);
});

it('the purge of listed entities queries again if nothing is listed and the count is missing or above zero', async () => {
  for (const count of [undefined, 2]) {
    const { context, asked } = purgeOf([page([], 0)]);
    await purgeByIds(context, pageOf([], { count }), undefined);
    assert.ok(asked.length > 0, `count ${count}`);
  }
});

it('a purge that has listed its checked total looks for no more matches, whatever the broker counts', async () => {
  const { context, asked } = purgeOf([page([], 0)]);
  const first = pageOf(idsOf(3), { count: 9 });
  await purgeByIds({ ...context, proof: PROVEN }, first, 3);
  assert.equal(asked.length, 2, 'nothing is missing: it is not looked for any longer');
  assert.equal(context.ledger.counts.deleted, 3);
});

it('a purge that ends early sends nothing more, waits for requests in flight, and resolves unclear items', async () => {
  let [noteFailure, release] = [() => {}, () => {}];
  const failed = new Promise<void>((resolve) => (noteFailure = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const batches: string[] = [];
  const looks: string[] = [];
  const all = idsOf(30);
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    limits: { pageSize: 30, concurrency: 3 },
    broker: async ({ method, path, jsonBody = '[]' }) => {
      const query = new URLSearchParams(path.split('?')[1]);
      if (method === 'GET' && query.has('id')) {
        looks.push(query.get('id') ?? '');
        return page(['urn:t:11'], 1);
      }
      if (method === 'GET') return page(all.slice(Number(query.get('offset') ?? 0)), 30);
      const [first = ''] = JSON.parse(jsonBody) as string[];
      batches.push(first);
      if (first === 'urn:t:0') {
        await failed;
        return replyOf(401);
      }
      if (first === 'urn:t:10') {
        noteFailure();
        return replyOf(500);
      }
      await released;
      return replyOf(204);
    },
  });
  const ended = assert.rejects(purgeByIds(context, await firstPage(context), undefined), BrokerRefusedError);
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(looks, [], 'a delete is under way');
  release();
  await ended;
  assert.deepEqual(batches, ['urn:t:0', 'urn:t:10', 'urn:t:20']);
  assert.deepEqual([...new Set(looks)], [all.slice(10, 20).join(',')]);
  const { matched, deleted, unknown } = context.ledger.counts;
  assert.deepEqual([matched, deleted, unknown], [30, 19, 0]);
});

it('a purge that ran to its end resolves unclear items even if its query shows only some of the matches', async () => {
  const there = new Set(idsOf(3));
  const looks: string[] = [];
  const context = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [], isPartial: true },
    broker: ({ method, path }) => {
      const ids = new URLSearchParams(path.split('?')[1]).get('id');
      if (ids !== null) looks.push(ids);
      if (method === 'GET') return page(ids === null ? [...there] : [], ids === null ? there.size : 0);
      // All are deleted, without an answer.
      there.clear();
      return replyOf(500);
    },
  });
  await purgeByIds(context, await firstPage(context), undefined);
  assert.deepEqual([...new Set(looks)], [idsOf(3).join(',')]);
  const { deleted, failed, unknown } = context.ledger.counts;
  assert.deepEqual([deleted, failed, unknown], [3, 0, 0]);
});
