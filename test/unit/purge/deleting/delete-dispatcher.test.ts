import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeleteResult } from '../../../../sidecar/purge/broker/batch-reply.js';
import {
  createDeleteDispatcher,
  type DeleteTry,
} from '../../../../sidecar/purge/deleting/delete-dispatcher.js';
import type { Deleter } from '../../../../sidecar/purge/deleting/deleter.js';
import { IdState } from '../../../../sidecar/purge/ledger/id-states.js';
import { entities } from '../../../../sidecar/purge/listing/listed-resource.js';
import { contextOf } from '../hand-made-context.js';
import { idsOf } from '../hand-made-lister.js';

const GONE: DeleteResult = { kind: 'deleted' };
const BUSY: DeleteResult = { kind: 'retryable', problem: { status: 503 } };
const FIRST: DeleteTry = { listed: { atMs: Infinity, tookMs: 0 }, isFinalTry: false, singly: false };

interface HandMadeDeleter {
  readonly verdictOf?: (id: string) => DeleteResult;
  readonly takesBatches?: boolean;
  /** Takes no batches any more after the first. */
  readonly stopsBatches?: boolean;
  readonly how?: Partial<DeleteTry>;
}

/** A dispatcher of deletes whose deleter is by hand. */
function dispatcherOf({ verdictOf = () => GONE, takesBatches = true, stopsBatches, how }: HandMadeDeleter) {
  const sent: (readonly string[])[] = [];
  let [underWay, mostUnderWay, reports] = [0, 0, 0];
  let usesBatches = takesBatches;
  const send = async (ids: readonly string[]) => {
    sent.push(ids);
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
  };
  const deleter: Deleter = {
    async deleteBatch(ids, settle) {
      await send(ids);
      if (stopsBatches === true) {
        usesBatches = false;
        return ids;
      }
      for (const id of ids) settle(id, verdictOf(id));
      return [];
    },
    async deleteOne(id) {
      await send([id]);
      return verdictOf(id);
    },
    get usesBatches() {
      return usesBatches;
    },
    batchSize: 500,
  };
  const opened = contextOf({
    brokerQuery: { resource: entities('ids'), selection: [] },
    limits: { concurrency: 3 },
  });
  const context = { ...opened, deleter, reportProgress: () => void (reports += 1) };
  const dispatcher = createDeleteDispatcher(context, { ...FIRST, ...how });
  return {
    ledger: context.ledger,
    sent,
    giveUpBatches: () => {
      usesBatches = false;
    },
    counts: () => ({ mostUnderWay, reports }),
    run: async (ids: readonly string[]) => {
      context.ledger.addNew(ids);
      dispatcher.add(ids);
      await dispatcher.settled();
    },
  };
}

describe('the dispatch of deletes', () => {
  it('the dispatch of deletes fills batches, no more of them in flight than allowed, and reports after each', async () => {
    const { run, sent, counts, ledger } = dispatcherOf({});
    await run(idsOf(2200));
    assert.deepEqual(
      sent.map(({ length }) => length),
      [500, 500, 500, 500, 200],
    );
    assert.deepEqual([counts(), ledger.counts.deleted], [{ mostUnderWay: 3, reports: 5 }, 2200]);
  });

  it('the dispatch of deletes makes no batch whose body is larger than 900 kB, in bytes of JSON', async () => {
    for (const sign of ['x', 'é', '"', '\\', '€', '😀']) {
      const ids = Array.from({ length: 200 }, (_, index) => `urn:${sign.repeat(6000)}:${index}`);
      const { run, sent } = dispatcherOf({});
      await run(ids);
      assert.equal(sent.flat().length, 200);
      const sizes = sent.map((batch) => Buffer.byteLength(JSON.stringify(batch)));
      assert.ok(Math.max(...sizes) <= 900_001, String(sizes));
      const largest = Buffer.byteLength(JSON.stringify(ids[0])) + 3;
      assert.ok(
        sizes.slice(0, -3).every((size) => size > 900_000 - largest),
        String(sizes),
      );
    }
  });

  it('the dispatch of deletes fills a batch up to 900 kB to the byte', async () => {
    const { run, sent } = dispatcherOf({});
    // With its quotes and comma, each takes 1800 bytes.
    await run(Array.from({ length: 600 }, (_, index) => `urn:${index}:`.padEnd(1797, 'x')));
    assert.deepEqual(
      sent.map(({ length }) => length),
      [500, 100],
    );
  });

  it('the dispatch of deletes deletes one by one on request, or without batch delete', async () => {
    for (const given of [{ how: { singly: true } }, { takesBatches: false }]) {
      const { run, sent, counts, ledger } = dispatcherOf(given);
      await run(idsOf(7));
      assert.deepEqual([sent, ledger.counts.deleted], [idsOf(7).map((id) => [id]), 7]);
      assert.deepEqual(counts(), { mostUnderWay: 3, reports: 7 });
    }
  });

  it('the dispatch of deletes deletes one by one what was queued before batches were given up', async () => {
    const { run, sent, ledger, giveUpBatches } = dispatcherOf({ stopsBatches: true });
    const ended = run(idsOf(5));
    giveUpBatches();
    await ended;
    assert.deepEqual(
      sent,
      idsOf(5).map((id) => [id]),
    );
    assert.equal(ledger.counts.deleted, 5);
  });

  it('the dispatch of deletes continues one by one with the ids that a batch hands back', async () => {
    const { run, sent, ledger } = dispatcherOf({ stopsBatches: true });
    await run(idsOf(5));
    assert.deepEqual([sent.length, ledger.counts.deleted], [6, 5]);
  });

  it('the dispatch of deletes records failures as first or final tries', async () => {
    for (const [isFinalTry, takesBatches, state] of [
      [false, true, IdState.retryDue],
      [true, true, IdState.failed],
      [false, false, IdState.retryDue],
      [true, false, IdState.failed],
    ] as const) {
      const { run, ledger } = dispatcherOf({ verdictOf: () => BUSY, takesBatches, how: { isFinalTry } });
      await run(idsOf(2));
      assert.equal(ledger.states.count(state), 2);
    }
  });

  it('the dispatch of deletes hands out only retryable failures instead of recording them', async () => {
    const verdicts: readonly DeleteResult[] = [
      BUSY,
      GONE,
      { kind: 'absent' },
      { kind: 'refused', problem: { status: 409 } },
      { kind: 'unclear', problem: { status: 500 } },
    ];
    const retried: string[] = [];
    const { run, ledger } = dispatcherOf({
      verdictOf: (id) => verdicts[Number(id.split(':')[2])] ?? GONE,
      how: { isFinalTry: true, retrySingly: (id) => retried.push(id) },
    });
    await run(idsOf(5));
    assert.deepEqual(retried, ['urn:t:0']);
    assert.equal(ledger.states.get('urn:t:0'), IdState.pending);
    assert.deepEqual([ledger.states.count(IdState.failed), ledger.errors.length], [2, 2]);
  });
});
