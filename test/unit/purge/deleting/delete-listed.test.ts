import assert from 'node:assert/strict';
import fc from 'fast-check';
import { it } from 'node:test';
import {
  CutTries,
  deleteListed,
  deleteIds,
  isStaleSince,
  ListAhead,
} from '../../../../sidecar/purge/deleting/index.js';
import { idsOf } from '../hand-made-lister.js';
import { type DeleteTry, freshMsOf } from '../../../../sidecar/purge/deleting/delete-listed.js';
import type { HistoryArchive } from '../../../../sidecar/purge/run/index.js';
import { IdState } from '../../../../sidecar/purge/ledger/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../broker/replies.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { deletingContextOf } from '../hand-made-context.js';

/**
 * A store of consecutive ids, in which a delete at a position takes `costOf` milliseconds.
 *
 * @returns the deleted ids, in order, and the time they took
 */
async function deletedFrom(
  ids: readonly string[],
  costOf: (position: number, left: number) => number,
  archiveMs = 0,
) {
  let nowMs = 0;
  let isArchived = false;
  const archiving = {
    async seal() {
      if (!isArchived) nowMs += archiveMs;
      isArchived = true;
      return Promise.resolve();
    },
  };
  const row = [...ids];
  const order: string[] = [];
  await deleteListed({ clock: { monotonicMs: () => nowMs }, archiving }, ids, async (some) => {
    await archiving.seal();
    for (const id of some) {
      const position = row.indexOf(id);
      nowMs += costOf(position, row.length);
      row.splice(position, 1);
      order.push(id);
    }
  });
  return { order, ms: nowMs };
}

const ids = idsOf(2000);

it('deleteListed starts with the oldest ids if all deletes take the same time', async () => {
  const { order } = await deletedFrom(ids, () => 1);
  assert.deepEqual(order.slice(64, 66), ['urn:t:32', 'urn:t:33']);
});

it('deleteListed deletes the oldest first if a delete takes longer the more entities come before it', async () => {
  const { ms } = await deletedFrom(ids, (position) => position);
  assert.ok(ms < 100_000, `${ms} ms; the other way round it takes two million`);
});

it('deleteListed deletes the newest first if a delete takes longer the more entities come after it', async () => {
  const { ms } = await deletedFrom(ids, (position, left) => left - 1 - position);
  assert.ok(ms < 100_000, `${ms} ms; the other way round it takes two million`);
});

it('deleteListed does not count the time of an archive as that of a delete', async () => {
  const { order } = await deletedFrom(ids, () => 1, 10_000);
  assert.deepEqual(order.slice(64, 66), ['urn:t:32', 'urn:t:33']);
});

it('deleteListed starts with the newest only if that takes less than two thirds of the time', async () => {
  // The 32 deletes at either end are timed one after the other.
  for (const [newest, isNewestFirst] of [
    [66, true],
    [67, false],
    [68, false],
  ] as const) {
    let nth = 0;
    const { order } = await deletedFrom(ids, () => ((nth += 1) <= 32 ? 100 : newest));
    assert.equal(order[64], isNewestFirst ? 'urn:t:1967' : 'urn:t:32', String(newest));
  }
});

it('deleteListed measures no order for few ids', async () => {
  const few = idsOf(999);
  const { order } = await deletedFrom(few, (position, left) => left - position);
  assert.deepEqual(order, few);
});

it('deleteListed does not compare the ends again if the comparison took the whole time in which a list is fresh', async () => {
  const times = async (perRequestMs: number, backMs = perRequestMs) => {
    let nowMs = 0;
    const sizes: number[] = [];
    const firsts: string[] = [];
    const deleteSome = async (some: readonly string[]) => {
      sizes.push(some.length);
      firsts.push(some[0] ?? '');
      nowMs += sizes.length === 2 ? backMs : perRequestMs;
      return Promise.resolve();
    };
    const clock = { monotonicMs: () => nowMs };
    const ends = await deleteListed({ clock }, ids, deleteSome);
    await deleteListed({ clock }, ids, deleteSome, ends);
    return { sizes: sizes.slice(3), first: firsts.at(-1) };
  };
  assert.deepEqual((await times(200)).sizes, [32, 32, 1936]);
  assert.deepEqual(await times(1500), { sizes: [2000], first: ids[0] });
  assert.deepEqual(await times(1500, 500), { sizes: [2000], first: ids.at(-1) }, 'by what was found before');
});

it('deleteListed deletes each id once, however long the deletes take', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 1500 }), fc.infiniteStream(fc.nat(20)), async (n, costs) => {
      const { order } = await deletedFrom(idsOf(n), () => Number(costs.next().value));
      assert.deepEqual([...order].sort(), [...idsOf(n)].sort());
    }),
    { numRuns: 20 },
  );
});

const FIRST: DeleteTry = { listed: { atMs: Infinity, tookMs: 0 } };

interface HandMadeBroker {
  /** The status of the answer to the delete of an entity; undefined for an error without a status. */
  readonly statusOf?: (id: string) => number | undefined;
  readonly takesBatches?: boolean;
  /** Has no batch delete, which the gateway does not know yet. */
  readonly lacksBatches?: boolean;
  readonly how?: Partial<DeleteTry>;
}

/** Deletes at a broker that the test controls. */
function deletesAt({ statusOf = () => 204, takesBatches = true, lacksBatches, how }: HandMadeBroker) {
  const sent: (readonly string[])[] = [];
  let [underWay, mostUnderWay, reports] = [0, 0, 0];
  const opened = deletingContextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    broker: async ({ path, jsonBody }) => {
      const ids =
        jsonBody === undefined
          ? [decodeURIComponent(path.split('/').at(-1) ?? '')]
          : (JSON.parse(jsonBody) as string[]);
      sent.push(ids);
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      if (jsonBody === undefined) return replyOf(statusOf(ids[0] ?? '') ?? 500);
      if (lacksBatches === true) return replyOf(404);
      const errors = ids.flatMap((entityId) => {
        const status = statusOf(entityId);
        return status === 204 ? [] : [{ entityId, error: status === undefined ? {} : { status } }];
      });
      return replyOf(207, { errors });
    },
    limits: { concurrency: 3, batchSize: 500, strategy: takesBatches ? 'auto' : 'single' },
    retry: { maxAttempts: 1 },
  });
  const context = { ...opened, reportProgress: () => void (reports += 1) };
  return {
    context,
    ledger: context.ledger,
    capabilities: context.capabilities,
    sent,
    counts: () => ({ mostUnderWay, reports }),
    run: async (ids: readonly string[]) => {
      context.ledger.addNew(ids);
      await deleteIds(context, ids, { ...FIRST, ...how });
    },
  };
}

it('deleteIds fills batches, has no more of them in flight than allowed, and reports after each', async () => {
  const { run, sent, counts, ledger } = deletesAt({});
  await run(idsOf(2200));
  assert.deepEqual(
    sent.map(({ length }) => length),
    [500, 500, 500, 500, 200],
  );
  assert.deepEqual([counts(), ledger.counts.deleted], [{ mostUnderWay: 3, reports: 5 }, 2200]);
});

it('deleteIds fills a batch up to 900 kB to the byte', async () => {
  const { run, sent } = deletesAt({});
  // With its quotes and comma, each takes 1800 bytes.
  await run(Array.from({ length: 600 }, (_, index) => `urn:${index}:`.padEnd(1797, 'x')));
  assert.deepEqual(
    sent.map(({ length }) => length),
    [500, 100],
  );
});

it('deleteIds deletes one by one on request, or without batch delete', async () => {
  for (const given of [{ how: { singly: true } }, { takesBatches: false }] as const) {
    const { run, sent, counts, ledger } = deletesAt(given);
    await run(idsOf(7));
    assert.deepEqual([sent, ledger.counts.deleted], [idsOf(7).map((id) => [id]), 7]);
    assert.deepEqual(counts(), { mostUnderWay: 3, reports: 7 });
  }
});

it('deleteIds deletes ids singly that were queued before batches were given up', async () => {
  const { run, sent, ledger, capabilities } = deletesAt({});
  const ended = run(idsOf(5));
  capabilities.learn('no-batch', true);
  await ended;
  assert.deepEqual(
    sent,
    idsOf(5).map((id) => [id]),
  );
  assert.equal(ledger.counts.deleted, 5);
});

it('deleteIds continues singly with the ids that a batch hands back', async () => {
  const { run, sent, ledger } = deletesAt({ lacksBatches: true });
  await run(idsOf(5));
  assert.deepEqual([sent.length, ledger.counts.deleted], [6, 5]);
});

it('deleteIds records failures as first or final tries', async () => {
  const final = { finalUnlessCut: new CutTries() };
  for (const [how, takesBatches, state] of [
    [{}, true, IdState.retryDue],
    [final, true, IdState.failed],
    [{}, false, IdState.retryDue],
    [final, false, IdState.failed],
  ] as const) {
    const { run, ledger } = deletesAt({ statusOf: () => 503, takesBatches, how });
    await run(idsOf(2));
    assert.equal(ledger.states.count(state), 2);
  }
});

it('deleteIds hands out only retryable failures instead of recording them', async () => {
  const statuses = [503, 204, 404, 409, undefined];
  const retried: string[] = [];
  const { run, ledger } = deletesAt({
    statusOf: (id) => statuses[Number(id.split(':')[2])],
    how: { finalUnlessCut: new CutTries(), retrySingly: (id) => retried.push(id) },
  });
  await run(idsOf(5));
  assert.deepEqual(retried, ['urn:t:0']);
  assert.equal(ledger.states.get('urn:t:0'), IdState.pending);
  assert.deepEqual([ledger.states.count(IdState.failed), ledger.errors.length], [2, 2]);
});

it('a list is fresh for two seconds, or for as long as it took, but for ten seconds at most', () => {
  const tookMs = [0, 50, 2000, 2001, 7000, 10_001, 600_000];
  assert.deepEqual(
    tookMs.map((ms) => freshMsOf({ tookMs: ms })),
    [2000, 2000, 2000, 2001, 7000, 10_000, 10_000],
  );
  const at = (now: number) => isStaleSince({ monotonicMs: () => now }, { atMs: 100, tookMs: 3000 })();
  assert.deepEqual([at(100), at(3100), at(3101)], [false, false, true]);
});

it('a list gets too old even if the clock is set back in the meantime', async () => {
  const clock = createTestClock();
  const isStale = isStaleSince(clock, { atMs: clock.monotonicMs(), tookMs: 0 });
  clock.set(-3_600_000);
  await clock.sleep(2001);
  assert.equal(isStale(), true);
});

it('a round lists as many ids as can be deleted in three quarters of the time for which its list is fresh', () => {
  const ahead = new ListAhead();
  assert.equal(ahead.next(Infinity), Infinity);
  assert.equal(ahead.next(100), 150);
  ahead.note({ listed: { tookMs: 8000 }, sent: 400, unsent: 9600, ms: 8000 });
  assert.equal(ahead.next(Infinity), 300);
  assert.equal(ahead.next(10), 60);
  ahead.note({ listed: { tookMs: 20 }, sent: 100, unsent: 200, ms: 2000 });
  assert.equal(ahead.next(Infinity), 75);
});

it('a round lists more after a round in which nothing got too old', () => {
  const ahead = new ListAhead();
  ahead.note({ listed: { tookMs: 20 }, sent: 200, unsent: 1, ms: 2000 });
  ahead.note({ listed: { tookMs: 20 }, sent: 150, unsent: 0, ms: 1500 });
  assert.equal(ahead.next(Infinity), 225);
});

it('a purge that archives histories deletes only ids that are shown when the histories are read, and while these are fresh', async () => {
  for (const [readMs, deleted] of [
    [0, ['urn:t:1']],
    [-3000, []],
  ] as const) {
    const asked: (readonly string[])[] = [];
    const { context, sent } = deletesAt({ takesBatches: false });
    const histories: HistoryArchive = {
      most: 2,
      atOnce: 9,
      keep: async (items) => {
        asked.push(items.map(({ entityId }) => entityId));
        return { items: items.slice(1), listed: { atMs: context.clock.monotonicMs() + readMs, tookMs: 0 } };
      },
    };
    await deleteIds({ ...context, histories }, idsOf(3), FIRST);
    assert.deepEqual(asked, [['urn:t:0', 'urn:t:1'], ['urn:t:2']]);
    assert.deepEqual(sent.flat(), deleted);
  }
});
