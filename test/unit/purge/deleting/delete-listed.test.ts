import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deleteIds, isStaleSince, ListAhead } from '../../../../sidecar/purge/deleting/index.js';
import { idsOf } from '../hand-made-lister.js';
import { type DeleteTry, freshMsOf } from '../../../../sidecar/purge/deleting/delete-listed.js';
import type { HistoryArchive } from '../../../../sidecar/purge/run/index.js';
import { IdState } from '../../../../sidecar/purge/ledger/index.js';
import { entities } from '../../../../sidecar/purge/listing/index.js';
import { replyOf } from '../../../support/replies.js';
import { createTestClock } from '../../../support/purge-harness.js';
import { deletingContextOf } from '../hand-made-context.js';

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

it('deleteIds deletes in the order of the list', async () => {
  const { run, sent } = deletesAt({});
  await run(idsOf(2200));
  assert.deepEqual(sent.flat(), idsOf(2200));
});

it('deleteIds fills a batch up to 900 kB to the byte, whatever characters the ids have', async () => {
  // With its quotes and comma, each takes 1800 or 3600 bytes, or a byte more.
  for (const [begin, rest, lengths] of [
    [9, 'x'.repeat(1788), [500, 100]],
    [10, 'x'.repeat(1788), [499, 101]],
    [9, 'é'.repeat(1794), [250, 250, 100]],
    [10, 'é'.repeat(1794), [249, 249, 102]],
  ] as const) {
    const { run, sent } = deletesAt({});
    await run(Array.from({ length: 600 }, (_, index) => `urn:${index}:`.padEnd(begin, '-') + rest));
    assert.deepEqual(
      sent.map(({ length }) => length),
      lengths,
    );
  }
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

it('deleteIds records failures as those of tries that may be followed by another one', async () => {
  for (const takesBatches of [true, false]) {
    const { run, ledger } = deletesAt({ statusOf: () => 503, takesBatches });
    await run(idsOf(2));
    assert.equal(ledger.states.count(IdState.retryDue), 2);
  }
});

it('deleteIds hands out each result instead of recording it, and whether it is that of a batch', async () => {
  const statuses = [503, 204, 404, 409, undefined];
  const kinds = ['retryable', 'deleted', 'absent', 'refused'];
  for (const takesBatches of [true, false]) {
    const results: unknown[] = [];
    const { run, ledger } = deletesAt({
      statusOf: (id) => statuses[Number(id.split(':')[2])],
      takesBatches,
      how: { onResult: (id, { kind }, isOfBatch) => results.push([id, kind, isOfBatch]) },
    });
    await run(idsOf(5));
    const last = takesBatches ? 'unclear' : 'retryable';
    assert.deepEqual(
      results.toSorted(),
      [...kinds, last].map((kind, index) => [`urn:t:${index}`, kind, takesBatches]),
    );
    assert.equal(ledger.states.count(IdState.pending), 5);
  }
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
