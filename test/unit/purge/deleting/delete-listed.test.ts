import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { deleteListed, Dispatcher } from '../../../../sidecar/purge/deleting/index.js';
import { idsOf } from '../hand-made-lister.js';

/**
 * A store of ids in a row that takes `costOf` milliseconds for a delete at a position of the row.
 *
 * @returns what was deleted, in order, and how long it took
 */
async function deletedFrom(ids: readonly string[], costOf: (position: number, left: number) => number) {
  let nowMs = 0;
  const row = [...ids];
  const order: string[] = [];
  const dispatcher = new Dispatcher<string>({
    concurrency: () => 1,
    chunkSize: () => 50,
    run: async (chunk) => {
      for (const id of chunk) {
        const position = row.indexOf(id);
        nowMs += costOf(position, row.length);
        row.splice(position, 1);
        order.push(id);
      }
      return [];
    },
  });
  await deleteListed({ clock: { now: () => nowMs } }, dispatcher, ids);
  return { order, ms: nowMs };
}

describe('deleteListed', () => {
  const ids = idsOf(2000);

  it('deleteListed begins with the oldest where all deletes take the same time', async () => {
    const { order } = await deletedFrom(ids, () => 1);
    assert.deepEqual(order.slice(64, 66), ['urn:t:32', 'urn:t:33']);
  });

  it('deleteListed deletes the oldest first where a delete takes longer the more entities are before it', async () => {
    const { ms } = await deletedFrom(ids, (position) => position);
    assert.ok(ms < 100_000, `${ms} ms; the other way round it takes two million`);
  });

  it('deleteListed deletes the newest first where a delete takes longer the more entities are behind it', async () => {
    const { ms } = await deletedFrom(ids, (position, left) => left - 1 - position);
    assert.ok(ms < 100_000, `${ms} ms; the other way round it takes two million`);
  });

  it('deleteListed begins with the newest only if that takes less than two thirds of the time', async () => {
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

  it('deleteListed measures no order with few ids', async () => {
    const few = idsOf(999);
    const { order } = await deletedFrom(few, (position, left) => left - position);
    assert.deepEqual(order, few);
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
});
