import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { BrokerReply } from '../../../../sidecar/purge/broker/index.js';
import {
  checkBound,
  previewEntities,
  firstPage,
  type PurgeContext,
  type PurgeLimits,
} from '../../../../sidecar/purge/run/index.js';
import { purgeByIds } from '../../../../sidecar/purge/entities/index.js';
import { BrokerReplyError } from '../../../../sidecar/purge/errors.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { contextOf, COUNTED_LOOKS, looksOf } from '../hand-made-context.js';
import { idsOf } from '../hand-made-lister.js';

interface World {
  readonly ids: readonly string[];
  /** Refused, singly and in batches. */
  readonly locked?: (id: string) => boolean;
  /** Answered as deleted, but not removed. */
  readonly ghosts?: (id: string) => boolean;
  /** The broker's count for this many matches, of which it shows this many on a page. */
  readonly count?: (total: number, shown: number) => number | undefined;
  readonly pageMax?: number;
  readonly ignoresOffset?: boolean;
  /** Ids that are added with each delete. */
  readonly arrivals?: (nth: number) => readonly string[];
  /** The number of queries for which a deleted entity is still shown. */
  readonly staleFor?: number;
  /** Changes the entities before a query, by its number. */
  readonly onQuery?: (nth: number, there: Set<string>) => void;
  /** Counted, and not shown from this query on. */
  readonly hides?: (id: string, nth: number) => boolean;
  readonly isPartial?: boolean;
  readonly limits?: Partial<PurgeLimits>;
}

/** A purge at a broker in memory. */
function purgeOf({ ids, count = (total) => total, pageMax = Infinity, limits, ...world }: World) {
  const there = new Set(ids);
  const stale = new Map<string, number>();
  const tried = new Map<string, number>();
  let queries = 0;
  let deletes = 0;
  const refused = (entityId: string) => ({ entityId, error: { status: 409, title: 'Locked' } });
  const remove = (id: string): boolean => {
    tried.set(id, (tried.get(id) ?? 0) + 1);
    if (world.locked?.(id) === true) return false;
    if (world.ghosts?.(id) === true) return true;
    if (there.delete(id) && world.staleFor !== undefined) stale.set(id, queries + world.staleFor);
    return true;
  };
  const query = (search: string): BrokerReply => {
    const given = new URLSearchParams(search);
    queries += 1;
    world.onQuery?.(queries, there);
    assert.ok(queries < 500, 'the purge goes on for ever');
    if (search.includes('PurgeProbe'))
      return replyOf(200, [], count(0, 0) === undefined ? {} : { 'ngsild-results-count': '0' });
    const lingering = [...stale].filter(([, until]) => until >= queries).map(([id]) => id);
    const ids = given.get('id')?.split(',');
    const all = [...new Set([...lingering, ...there])].filter((id) => ids?.includes(id) ?? true);
    const offset = world.ignoresOffset === true ? 0 : Number(given.get('offset') ?? 0);
    const visible = all.filter((id) => world.hides?.(id, queries) !== true);
    const shown = visible.slice(offset, offset + Math.min(pageMax, Number(given.get('limit') ?? Infinity)));
    const counted = given.has('count') ? count(all.length, shown.length) : undefined;
    const headers = counted === undefined ? {} : { 'ngsild-results-count': String(counted) };
    return replyOf(
      200,
      shown.map((id) => (search.includes('sysAttrs') ? { id, createdAt: '2020-01-01T00:00:00Z' } : { id })),
      headers,
    );
  };
  const clock = createTestClock();
  const opened = contextOf({
    clock,
    ...COUNTED_LOOKS,
    brokerQuery: {
      resource: entities('ids'),
      selection: [{ name: 'type', value: 'T' }],
      isPartial: world.isPartial === true,
    },
    broker: ({ method, path, jsonBody = '[]' }) => {
      const [, one] = /^\/entities\/([^?]+)/.exec(path) ?? [];
      if (method === 'GET' && one !== undefined) {
        const id = decodeURIComponent(one);
        return there.has(id) ? replyOf(200, { id, createdAt: '2020-01-01T00:00:00Z' }) : replyOf(404);
      }
      if (method === 'GET') return query(path.split('?')[1] ?? '');
      deletes += 1;
      for (const id of world.arrivals?.(deletes) ?? []) there.add(id);
      if (method === 'DELETE') {
        const id = decodeURIComponent(path.split('/').at(-1) ?? '');
        const isThere = there.has(id);
        return replyOf(remove(id) ? (isThere ? 204 : 404) : 409);
      }
      const batch = JSON.parse(jsonBody) as string[];
      const errors = batch.flatMap((id) => (remove(id) ? [] : [refused(id)]));
      return errors.length === 0 ? replyOf(204) : replyOf(207, { errors });
    },
    limits: { pageSize: 10, batchSize: 5, ...limits },
  });
  /** The number of deletes sent when the purge reported that all matches had been tried. */
  const drainedAfter: number[] = [];
  const context: PurgeContext = {
    ...opened,
    emit: ({ type }) => {
      if (type === 'drained') drainedAfter.push(deletes);
    },
  };
  const run = async () => purgeByIds(context, await firstPage(context), undefined);
  return {
    context,
    ledger: context.ledger,
    there,
    tried,
    drainedAfter,
    waits: () => looksOf(clock),
    run,
    bound: async () => checkBound(context, await firstPage(context)),
    preview: async () => previewEntities(context, await firstPage(context)),
    queries: () => queries,
    deletes: () => deletes,
  };
}

const some = (every: number, rest: number) => (id: string) => Number(id.split(':')[2]) % every === rest;

it('the drain of a query deletes every match that can be deleted, tries the others at most three times, and reports them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 3, max: 9 }),
      fc.integer({ min: 2, max: 12 }),
      fc.constantFrom('right', 'page', 'none'),
      fc.boolean(),
      async (n, every, pageMax, counting, batches) => {
        const purge = purgeOf({
          ids: idsOf(n),
          locked: some(every, 1),
          ghosts: some(every, 2),
          pageMax,
          count: (total, shown) => ({ right: total, page: shown, none: undefined })[counting],
          limits: { strategy: batches ? 'auto' : 'single' },
        });
        assert.equal(await purge.run(), 0);
        const stay = idsOf(n).filter((id) => some(every, 1)(id) || some(every, 2)(id));
        assert.deepEqual([...purge.there], stay);
        const { matched, deleted, alreadyGone, failed, unknown } = purge.ledger.counts;
        assert.deepEqual(
          [matched, deleted, alreadyGone, failed, unknown],
          [n, n - stay.length, 0, stay.length, 0],
        );
        assert.deepEqual(purge.ledger.errors.map(({ entityId }) => entityId).sort(), [...stay].sort());
        for (const [id, tries] of purge.tried) {
          // One of these is tried in a batch of its own, to find out whether batches have an effect.
          assert.ok(tries <= (some(every, 2)(id) ? 3 : 1), `${id} was tried ${tries} times`);
        }
      },
    ),
    { numRuns: 80 },
  );
});

it('the drain of a query requests each page once, and once more at the end', async () => {
  const purge = purgeOf({ ids: idsOf(100), limits: { concurrency: 1 } });
  await purge.run();
  // The first page, the probe of the filter, nine more pages, and the last query.
  assert.deepEqual([purge.queries(), purge.deletes()], [12, 20]);
  assert.deepEqual(purge.drainedAfter, [20], 'it is drained when all was tried');
});

it('the drain of a query does not query again for items that an earlier query left unclear', async () => {
  const ended = async (isUnclear: boolean) => {
    const purge = purgeOf({ ids: idsOf(5), count: () => undefined, isPartial: true });
    purge.ledger.add({ entityId: 'urn:earlier' });
    if (isUnclear) purge.ledger.markUnclear({ entityId: 'urn:earlier' });
    await purge.run();
    const { deleted, unknown } = purge.ledger.counts;
    return [deleted, unknown, purge.queries()];
  };
  const [deleted, , queries] = await ended(false);
  assert.deepEqual(await ended(true), [deleted, 1, queries]);
});

it('the drain of a query whose list never changes repeats no delete, and reports this', async () => {
  const purge = purgeOf({
    ids: idsOf(300),
    staleFor: Infinity,
    limits: { pageSize: 300, batchSize: 300, concurrency: 1 },
  });
  await purge.run();
  const { deleted, failed } = purge.ledger.counts;
  assert.deepEqual([deleted, failed], [300, 0]);
  assert.ok([...purge.tried.values()].every((tries) => tries === 1));
  assert.deepEqual(purge.waits(), [1, 2, 3]);
  assert.match([...purge.context.warnings].join(), /still lists entities/);
});

it('the drain of a query does not list refused matches again before it has taken the others', async () => {
  const purge = purgeOf({
    ids: idsOf(33_000),
    locked: (id) => Number(id.split(':')[2]) < 2000,
    limits: { pageSize: 1000, pageSizeMax: 1000, batchSize: 1000, concurrency: 1 },
  });
  await purge.run();
  assert.deepEqual([purge.ledger.counts.failed, purge.there.size], [2000, 2000]);
  // One listing of all, and a final one of the rest; the refused ones are not listed in between.
  assert.equal(purge.queries(), 37);
});

it('the drain of a query takes no more than were counted, even if more have arrived', async () => {
  const purge = purgeOf({
    ids: idsOf(40),
    onQuery: (nth, there) => {
      if (nth === 3) for (const id of idsOf(5)) there.add(`${id}:late`);
    },
    limits: { pageSize: 15, maxAffected: 40, concurrency: 1 },
  });
  assert.equal(await purge.run(), 5);
  assert.deepEqual([purge.ledger.matched, purge.ledger.counts.deleted, purge.there.size], [40, 40, 5]);
});

it('the drain of a query counts refused entities as gone only if the query shows every match', async () => {
  for (const isPartial of [false, true]) {
    const purge = purgeOf({
      ids: idsOf(4),
      locked: () => true,
      isPartial,
      // Another client is faster.
      onQuery: (nth, there) => {
        if (nth > 2) there.clear();
      },
    });
    await purge.run();
    const { alreadyGone, failed } = purge.ledger.counts;
    assert.deepEqual([alreadyGone, failed], isPartial ? [0, 4] : [4, 0]);
  }
});

it('the drain of a query reports refused matches as failed, even if there were fewer than counted', async () => {
  const purge = purgeOf({
    ids: idsOf(60),
    locked: (id) => Number(id.split(':')[2]) < 10,
    count: (total) => (total > 10 ? total + 5 : total),
    limits: { pageSize: 10, concurrency: 1 },
  });
  await purge.run();
  const { deleted, alreadyGone, failed } = purge.ledger.counts;
  assert.deepEqual([deleted, alreadyGone, failed, purge.there.size], [50, 0, 10, 10]);
});

it('the drain of a query reports remaining matches even if pages skip some of them, whether others arrived or not', async () => {
  for (const arrivals of [0, 1]) {
    const purge = purgeOf({
      ids: idsOf(12),
      locked: () => true,
      hides: (id, nth) => nth > 2 && some(6, 0)(id),
      onQuery: (nth, there) => void (arrivals > 0 && nth > 2 && there.add('urn:new:1')),
      limits: { pageSize: 20, maxAffected: 12 },
    });
    assert.equal(await purge.run(), arrivals);
    const { matched, failed, alreadyGone } = purge.ledger.counts;
    assert.deepEqual([matched, failed, alreadyGone], [12, 12, 0]);
  }
});

it('the drain of a query takes arrivals at most once more, and counts the others', async () => {
  let next = 0;
  const purge = purgeOf({
    ids: idsOf(40),
    arrivals: () => [`urn:new:${(next += 1)}`],
    limits: { pageSize: 100 },
  });
  const left = await purge.run();
  // Eight batches for the counted entities, then one sweep for the eight that arrived in the meantime.
  assert.deepEqual([purge.ledger.matched, purge.ledger.counts.deleted, left], [48, 48, 2]);
  assert.equal(purge.there.size, 2);
});

it('the drain of a query never reports success while the broker counts matches that it does not list', async () => {
  for (const locked of [some(31, 30), some(3, 0)]) {
    const purge = purgeOf({ ids: idsOf(30), count: (total) => total + 4, locked });
    await assert.rejects(
      purge.run(),
      (error: unknown) => error instanceof BrokerReplyError && error.message.includes('counts 4 more'),
    );
    assert.equal(purge.ledger.counts.deleted, idsOf(30).filter((id) => !locked(id)).length);
  }
  const counted = purgeOf({ ids: idsOf(30), locked: some(3, 0) });
  await counted.run();
  assert.equal(counted.ledger.counts.failed, 10, 'those that stay are counted as well');
});

it('the drain of a query never reports success while remaining matches fill the only page that the broker shows', async () => {
  const purge = purgeOf({
    ids: idsOf(30),
    locked: (id) => Number(id.split(':')[2]) < 10,
    count: () => undefined,
    ignoresOffset: true,
  });
  await assert.rejects(
    purge.run(),
    (error: unknown) => error instanceof BrokerReplyError && error.message.includes('same page'),
  );
  // A count of no more matches proves nothing either, if the broker has once listed more than it counted.
  let looks = 0;
  const contradicted = purgeOf({
    ids: idsOf(30),
    locked: (id) => Number(id.split(':')[2]) < 10,
    count: () => ((looks += 1) === 1 ? 1 : 10),
    ignoresOffset: true,
  });
  await assert.rejects(contradicted.run(), BrokerReplyError);
});

it('the check of the maximum trusts neither a count that ignores a filter nor an incomplete listing', async () => {
  const late = purgeOf({ ids: idsOf(5), count: () => 500, limits: { maxAffected: 10 } });
  late.context.paging.stride = 500;
  assert.equal(await late.bound(), 5);
  const hidden = purgeOf({ ids: idsOf(5), count: () => 8, limits: { maxAffected: 10 } });
  assert.equal(await hidden.bound(), undefined);
});

it('the preview of a purge states the listed matches, and warns if the broker counts another number', async () => {
  for (const [n, counted, isLowerBound] of [
    [2, 3, true],
    [50, 51, true],
    [3, 2, undefined],
  ] as const) {
    const purge = purgeOf({ ids: idsOf(n), count: () => counted });
    const preview = await purge.preview();
    assert.deepEqual([preview.matched, preview.isLowerBound], [n, isLowerBound]);
    assert.deepEqual([...purge.context.warnings], [`The broker counts ${counted} matches and lists ${n}.`]);
  }
  const right = purgeOf({ ids: idsOf(7) });
  await right.preview();
  assert.equal(right.context.warnings.size, 0);
});

it('the preview of a purge fails if the broker counts matches and lists none', async () => {
  for (const counted of [1, 243_228_753])
    await assert.rejects(purgeOf({ ids: [], count: () => counted }).preview(), BrokerReplyError);
});

it('an empty page without a count does not end a list if more matches were counted', async () => {
  const purge = purgeOf({
    ids: idsOf(30),
    hides: (id) => Number(id.split(':')[2]) >= 10,
    count: (total, shown) => (shown === 0 ? undefined : total),
    limits: { maxAffected: 40 },
  });
  assert.equal(await purge.bound(), undefined, 'ten are not all');
  assert.equal((await purge.preview()).isLowerBound, true);
});

it('the bound of a purge is not checked by a count beside an empty list', async () => {
  const purge = purgeOf({ ids: [], count: () => 243_228_753, limits: { maxAffected: 5 } });
  assert.equal(await purge.bound(), undefined);
});

it('the preview of a purge uses memory for listed matches only, whatever the broker counts', async () => {
  const purge = purgeOf({ ids: idsOf(150), count: () => 10 ** 14 });
  const before = process.memoryUsage().arrayBuffers;
  await purge.preview();
  await assert.rejects(purge.run(), BrokerReplyError);
  const bytes = process.memoryUsage().arrayBuffers - before;
  assert.ok(bytes < 1_000_000, `${bytes} bytes`);
});

it('the preview of a purge states the number of a complete list, not an earlier count', async () => {
  const purge = purgeOf({
    ids: idsOf(20),
    onQuery: (nth, there) => void (nth === 3 && there.delete('urn:t:19')),
    count: (total) => (total === 20 ? 50 : total),
    limits: { concurrency: 1 },
  });
  assert.equal((await purge.preview()).matched, 19);
});

it('the preview of a purge does not trust the counts of a broker that has listed more than it counted', async () => {
  let looks = 0;
  const count = () => ((looks += 1) === 1 ? 5 : 9999);
  const purge = purgeOf({ ids: idsOf(250), count, limits: { concurrency: 1 } });
  assert.equal((await purge.preview()).matched, 250);
});

it('the preview of a purge says if there are more matches than could be counted', async () => {
  const previewOf = async (world: World) => (await purgeOf(world).preview()).isLowerBound;
  const ids = idsOf(250);
  assert.equal(await previewOf({ ids, count: () => undefined, ignoresOffset: true }), true);
  assert.equal(await previewOf({ ids, count: () => undefined }), undefined);
  assert.equal(await previewOf({ ids, limits: { concurrency: 1 } }), undefined);
});
