import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { Dispatcher } from '../../../../sidecar/purge/deleting/index.js';
import type { DispatcherOptions } from '../../../../sidecar/purge/deleting/dispatcher.js';

interface Chunk {
  readonly items: readonly number[];
  readonly finish: (again?: readonly number[]) => void;
  readonly fail: (error: Error) => void;
}

type Options = Partial<Omit<DispatcherOptions<number>, 'run'>>;

/** A dispatcher whose chunks run until the test ends them. */
function heldDispatcher(options: Options = {}) {
  const started: Chunk[] = [];
  const dispatcher = new Dispatcher<number>({
    concurrency: () => 2,
    endOfChunk: (_queue, from) => from + 3,
    ...options,
    run: (items) =>
      new Promise((resolve, reject) => {
        started.push({ items, finish: (again = []) => resolve(again), fail: reject });
      }),
  });
  const chunks = () => started.map(({ items }) => items);
  const chunk = (index: number): Chunk => started[index] ?? assert.fail(`chunk ${index} has not started`);
  return { dispatcher, chunks, chunk };
}

/** Whether a promise is settled after everything that can run has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  await turn();
  await turn();
  return settled;
}

it('the dispatcher starts queued items at once, in order, and items without a place wait', async () => {
  const { dispatcher, chunks } = heldDispatcher();
  dispatcher.add([1, 2]);
  await turn();
  assert.deepEqual(chunks(), [[1, 2]]);
  dispatcher.add([3, 4, 5, 6]);
  await turn();
  assert.deepEqual(chunks(), [
    [1, 2],
    [3, 4, 5],
  ]);
  assert.equal(dispatcher.pending, 6);
});

it('the dispatcher makes a chunk of each item by default, and also of an item that is too large for any chunk', async () => {
  const { dispatcher, chunks } = heldDispatcher({ concurrency: () => 9, endOfChunk: undefined });
  dispatcher.add([1, 2]);
  assert.deepEqual(chunks(), [[1], [2]]);
  const none = heldDispatcher({ concurrency: () => 9, endOfChunk: (_queue, from) => from });
  none.dispatcher.add([1, 2]);
  assert.deepEqual(none.chunks(), [[1], [2]]);
});

it('the dispatcher follows a chunk size that changes while items wait', async () => {
  let size = 2;
  const { dispatcher, chunks, chunk } = heldDispatcher({
    concurrency: () => 1,
    endOfChunk: (_queue, from) => from + size,
  });
  dispatcher.add([1, 2, 3]);
  await turn();
  size = 1;
  chunk(0).finish();
  await turn();
  assert.deepEqual(chunks(), [[1, 2], [3]]);
});

it('the dispatcher queues items again that a chunk hands back', async () => {
  const { dispatcher, chunks, chunk } = heldDispatcher();
  dispatcher.add([1, 2, 3]);
  const settled = dispatcher.settled();
  await turn();
  chunk(0).finish([2, 3]);
  await turn();
  assert.deepEqual(chunks(), [
    [1, 2, 3],
    [2, 3],
  ]);
  assert.equal(dispatcher.pending, 2);
  assert.equal(await isSettled(settled), false);
  chunk(1).finish();
  await settled;
  assert.equal(dispatcher.pending, 0);
});

it('the dispatcher follows a concurrency that changes while items wait', async () => {
  let concurrency = 1;
  const { dispatcher, chunks, chunk } = heldDispatcher({
    concurrency: () => concurrency,
    endOfChunk: undefined,
  });
  dispatcher.add([1, 2, 3, 4, 5, 6, 7]);
  await turn();
  assert.equal(chunks().length, 1);
  concurrency = 3;
  chunk(0).finish();
  await turn();
  assert.equal(chunks().length, 4);
  concurrency = 1;
  chunk(1).finish();
  chunk(2).finish();
  await turn();
  assert.equal(chunks().length, 4);
  chunk(3).finish();
  await turn();
  assert.equal(chunks().length, 5);
});

it('the dispatcher never runs more chunks at once than the concurrency, and runs every item once', async () => {
  const sizes = fc.integer({ min: 1, max: 5 });
  await fc.assert(
    fc.asyncProperty(sizes, sizes, fc.array(fc.nat({ max: 30 })), async (concurrency, size, batches) => {
      let running = 0;
      let most = 0;
      const done: number[] = [];
      const dispatcher = new Dispatcher<number>({
        concurrency: () => concurrency,
        endOfChunk: (_queue, from) => from + size,
        run: async (items) => {
          most = Math.max(most, ++running);
          assert.ok(items.length >= 1 && items.length <= size);
          await Promise.resolve();
          running -= 1;
          done.push(...items);
          return [];
        },
      });
      let next = 0;
      for (const count of batches) {
        dispatcher.add(Array.from({ length: count }, () => next++));
        await dispatcher.settled(10);
        assert.ok(dispatcher.pending < 10);
      }
      await dispatcher.settled();
      assert.ok(most <= concurrency, `${most} at once`);
      assert.deepEqual(
        [...done].sort((a, b) => a - b),
        Array.from({ length: next }, (_, index) => index),
      );
    }),
    { numRuns: 50 },
  );
});

it('the dispatcher throws the first error of a chunk in every wait, and starts nothing more', async () => {
  const { dispatcher, chunks, chunk } = heldDispatcher();
  dispatcher.add([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await turn();
  assert.equal(chunks().length, 2);
  const first = new Error('first');
  chunk(1).fail(first);
  await turn();
  chunk(0).fail(new Error('second'));
  await assert.rejects(dispatcher.settled(100), first);
  await assert.rejects(dispatcher.settled(), first);
  dispatcher.add([10, 11, 12]);
  await turn();
  assert.equal(chunks().length, 2);
});

it('dispatcher.settled throws at once, while other chunks are in flight', async () => {
  const { dispatcher, chunk } = heldDispatcher();
  dispatcher.add([1, 2, 3, 4, 5, 6]);
  const settled = dispatcher.settled();
  await turn();
  chunk(0).fail(new Error('broken'));
  await assert.rejects(settled, { message: 'broken' });
  const abandoned = dispatcher.abandon();
  assert.equal(await isSettled(abandoned), false);
  chunk(1).finish();
  await abandoned;
});

it('dispatcher.abandon drops queued items, waits for those in flight, and never throws', async () => {
  const { dispatcher, chunks, chunk } = heldDispatcher();
  dispatcher.add([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await turn();
  const abandoned = dispatcher.abandon();
  chunk(0).fail(new Error('broken'));
  assert.equal(await isSettled(abandoned), false);
  chunk(1).finish([4, 5]);
  await abandoned;
  assert.equal(chunks().length, 2);
  assert.equal(dispatcher.pending, 0);
});

it('dispatcher.abandon ends the dispatcher, so that items added later never run', async () => {
  const { dispatcher, chunks } = heldDispatcher();
  await dispatcher.abandon();
  dispatcher.add([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await turn();
  assert.deepEqual([chunks(), dispatcher.pending], [[], 0]);
  await assert.rejects(dispatcher.settled(), /abandoned/);
});
