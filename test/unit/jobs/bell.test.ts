import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Bell } from '../../../sidecar/jobs/bell.js';

/** A bell on a clock that only the test moves, and what waits on that clock. */
function bellOf() {
  let nowMs = 0;
  const sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  const bell = new Bell({
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
  /** A follower of a purge, and whether it is to look again. */
  const follow = (id: string, signal = new AbortController().signal) => {
    const follower = { isWoken: false };
    void bell.changed(id, signal).then(() => (follower.isWoken = true));
    return follower;
  };
  return { bell, sleepers, pass, settle, follow };
}

describe('the followers of a purge that another process runs', () => {
  it('a follower looks again as soon as its purge has changed, but not within a quarter of a second', async () => {
    const { bell, pass, follow } = bellOf();
    const follower = follow('a');
    bell.ring('a');
    await pass(249);
    assert.equal(follower.isWoken, false);
    await pass(1);
    assert.equal(follower.isWoken, true);
    const late = follow('a');
    await pass(250);
    assert.equal(late.isWoken, false);
    bell.ring('a');
    await pass(0);
    assert.equal(late.isWoken, true);
  });

  it('a follower of which nothing is heard looks again after a second', async () => {
    const { pass, follow } = bellOf();
    const follower = follow('a');
    await pass(250);
    await pass(749);
    assert.equal(follower.isWoken, false);
    await pass(1);
    assert.equal(follower.isWoken, true);
  });

  it('a change wakes all followers of its purge, and those of no other', async () => {
    const { bell, pass, follow } = bellOf();
    const [one, two, other] = [follow('a'), follow('a'), follow('b')];
    await pass(250);
    bell.ring('a');
    await pass(0);
    assert.deepEqual([one.isWoken, two.isWoken, other.isWoken], [true, true, false]);
    bell.ringAll();
    await pass(0);
    assert.equal(other.isWoken, true);
  });

  it('a change after one follower has gone still wakes the others', async () => {
    const { bell, pass, settle, follow } = bellOf();
    const gone = new AbortController();
    const [leaving, staying] = [follow('a', gone.signal), follow('a')];
    await pass(250);
    gone.abort();
    await settle();
    assert.deepEqual([leaving.isWoken, staying.isWoken], [true, false]);
    bell.ring('a');
    await settle();
    assert.equal(staying.isWoken, true);
  });

  it('a follower that goes away is released at once, at whatever time, and leaves no timer behind', async () => {
    for (const waitedMs of [0, 250]) {
      const { sleepers, pass, settle, follow } = bellOf();
      const gone = new AbortController();
      const follower = follow('a', gone.signal);
      await pass(waitedMs);
      gone.abort();
      await settle();
      assert.deepEqual([follower.isWoken, sleepers.size], [true, 0]);
    }
    const { bell, sleepers, pass, follow } = bellOf();
    follow('a');
    await pass(250);
    bell.ring('a');
    await pass(0);
    assert.equal(sleepers.size, 0, 'nor does one that was woken');
  });
});
