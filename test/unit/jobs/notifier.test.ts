import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Notifier } from '../../../sidecar/jobs/notifier.js';

/** A notifier on a clock that only the test moves, and what waits on that clock. */
function notifierOf() {
  let nowMs = 0;
  const sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  const notifier = new Notifier({
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { untilMs: nowMs + ms, wake: resolve };
        const stop = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason as Error);
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', stop, { once: true });
        if (signal?.aborted === true) stop();
      }),
  });
  const settle = async () => {
    for (let index = 0; index < 8; index += 1) await turn();
  };
  const pass = async (ms: number) => {
    await settle();
    nowMs += ms;
    for (const sleeper of [...sleepers].filter(({ untilMs }) => untilMs <= nowMs)) {
      sleepers.delete(sleeper);
      sleeper.wake();
    }
    await settle();
  };
  /** A watcher of a purge, and whether it is to look again. */
  const watch = (id: string, signal = new AbortController().signal) => {
    const watcher = { isWoken: false };
    void notifier.changed(id, signal).then(() => (watcher.isWoken = true));
    return watcher;
  };
  return { notifier, sleepers, pass, watch };
}

describe('the watchers of a purge that another process runs', () => {
  it('a watcher looks again as soon as its purge has changed, but not within a quarter of a second', async () => {
    const { notifier, pass, watch } = notifierOf();
    const watcher = watch('a');
    notifier.notify('a');
    await pass(249);
    assert.equal(watcher.isWoken, false);
    await pass(1);
    assert.equal(watcher.isWoken, true);
    const [late, second, other] = [watch('a'), watch('a'), watch('b')];
    await pass(250);
    assert.equal(late.isWoken, false);
    notifier.notify('a');
    await pass(0);
    assert.deepEqual([late.isWoken, second.isWoken, other.isWoken], [true, true, false]);
  });

  it('a watcher that hears nothing looks again after a second', async () => {
    const { pass, watch } = notifierOf();
    const watcher = watch('a');
    await pass(250);
    await pass(749);
    assert.equal(watcher.isWoken, false);
    await pass(1);
    assert.equal(watcher.isWoken, true);
  });

  it('a watcher that goes away is released at once, leaves no timer behind, and keeps no other from being woken', async () => {
    for (const waitedMs of [0, 250]) {
      const { notifier, sleepers, pass, watch } = notifierOf();
      const gone = new AbortController();
      const [leaving, staying] = [watch('a', gone.signal), watch('a')];
      await pass(waitedMs);
      gone.abort();
      await pass(0);
      assert.deepEqual([leaving.isWoken, staying.isWoken, sleepers.size], [true, false, 1]);
      await pass(250 - waitedMs);
      notifier.notify('a');
      await pass(0);
      assert.deepEqual([staying.isWoken, sleepers.size], [true, 0]);
    }
  });
});
