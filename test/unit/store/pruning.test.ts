import assert from 'node:assert/strict';
import { it } from 'node:test';
import { yieldToEventLoop } from '../../../sidecar/shared/event-loop.js';
import { SqliteStore } from '../../../sidecar/store/sqlite-store.js';
import { purgeRecord } from '../../support/store-contract-purges.js';
import { handClock } from '../../support/store-samples.js';

it('while many old records are removed, the event loop and other statements get their turns', async () => {
  const clock = handClock();
  const store = await SqliteStore.open(':memory:', clock);
  const { jobs } = store;
  try {
    const isOld = { endedAt: new Date(clock.time - 1).toISOString() };
    for (let number = 0; number < 600; number += 1)
      await jobs.put(purgeRecord(`old-${number}`, number % 2 === 0 ? 'succeeded' : 'refused', isOld));
    await jobs.put(purgeRecord('running', 'running'));
    for (const [until, left] of [
      [0, 301],
      [clock.time, 1],
    ] as const) {
      const totals = new Set<number>();
      const over = new AbortController();
      const pruned = jobs.prune(until, 0).finally(() => over.abort());
      while (!over.signal.aborted) {
        totals.add((await jobs.list({ limit: 1, offset: 0 })).total);
        await yieldToEventLoop();
      }
      assert.equal(await pruned, 300);
      assert.equal((await jobs.list({ limit: 1, offset: 0 })).total, left);
      assert.ok([...totals].some((total) => total > left && total < left + 300));
    }
  } finally {
    await store.close();
  }
});
