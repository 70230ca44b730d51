import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PurgeStoppedError, TooManyPurgesError } from '../../../../sidecar/purge/errors.js';
import { createRunningPurges } from '../../../../sidecar/purge/run/index.js';

const NEVER = new AbortController().signal;

/** A purge that runs until its signal aborts. */
const untilStopped = async (signal: AbortSignal): Promise<unknown> => {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  return signal.reason;
};

describe('running purges', () => {
  it('running purges pass on what a purge answers or throws, and count it while it runs', async () => {
    const running = createRunningPurges(16);
    const answer = running.run('purge', NEVER, async () => {
      assert.equal(running.count, 1);
      return 42;
    });
    assert.equal(await answer, 42);
    const broken = running.run('purge', NEVER, async () => Promise.reject(new Error('broken')));
    await assert.rejects(broken, { message: 'broken' });
    assert.equal(running.count, 0);
  });

  it('a client that disconnects stops only its own purge', async () => {
    const running = createRunningPurges(16);
    const caller = new AbortController();
    const other = running.run('purge', NEVER, untilStopped);
    const stopped = running.run('purge', caller.signal, untilStopped);
    caller.abort('gone');
    assert.equal(await stopped, 'gone');
    assert.equal(running.count, 1);
    running.stop();
    await other;
  });

  it('a purge whose caller is already gone is stopped at once', async () => {
    const running = createRunningPurges(16);
    assert.equal(await running.run('purge', AbortSignal.abort('early'), untilStopped), 'early');
  });

  it('stop() stops all running purges, and refuses new ones before they begin', async () => {
    const running = createRunningPurges(16);
    const purges = [running.run('purge', NEVER, untilStopped), running.run('purge', NEVER, untilStopped)];
    running.stop();
    await Promise.all(purges);
    let began = false;
    const late = running.run('purge', NEVER, async () => {
      began = true;
    });
    await assert.rejects(late, PurgeStoppedError);
    assert.deepEqual([began, running.count], [false, 0]);
  });

  it('running purges are idle only when the last one has ended, however it ended', async () => {
    const running = createRunningPurges(16);
    await running.idle();
    const callers = [new AbortController(), new AbortController()] as const;
    const first = running.run('purge', callers[0].signal, untilStopped);
    const second = running.run('purge', callers[1].signal, async (signal) => {
      await untilStopped(signal);
      throw new Error('broken');
    });
    second.catch(() => {});
    let idle = 0;
    const waiting = [running.idle(), running.idle()].map((promise) => promise.then(() => (idle += 1)));
    callers[0].abort();
    await first;
    await turn();
    assert.equal(idle, 0);
    callers[1].abort();
    await Promise.all(waiting);
    assert.equal(idle, 2);
  });

  it('running purges leave no listener on the signal of their caller, however they end', async (t) => {
    const running = createRunningPurges(16);
    for (const end of [async () => 42, async () => Promise.reject(new Error('broken'))]) {
      const { signal } = new AbortController();
      const add = t.mock.method(signal, 'addEventListener');
      const remove = t.mock.method(signal, 'removeEventListener');
      await running.run('purge', signal, end).catch(() => {});
      assert.deepEqual([add.mock.callCount(), remove.mock.callCount()], [1, 1]);
      assert.deepEqual(remove.mock.calls[0]?.arguments.slice(0, 2), add.mock.calls[0]?.arguments.slice(0, 2));
    }
  });

  it('dry runs and purges at work take places of their own kind', async () => {
    const running = createRunningPurges(1);
    for (const [kind, other] of [
      ['purge', 'dry run'],
      ['dry run', 'purge'],
    ] as const) {
      const caller = new AbortController();
      const first = running.run(kind, caller.signal, untilStopped);
      assert.deepEqual([running.isFree(kind), running.isFree(other)], [false, true]);
      await assert.rejects(running.run(kind, NEVER, untilStopped), TooManyPurgesError);
      assert.equal(await running.run(other, NEVER, async () => other), other);
      caller.abort('gone');
      await first;
      assert.equal(running.isFree(kind), true);
    }
  });

  it('callers that wait for the last purge are woken once, and not before it has ended', async () => {
    const running = createRunningPurges(16);
    for (let round = 0; round < 2; round += 1) {
      const caller = new AbortController();
      const purge = running.run('purge', caller.signal, untilStopped);
      let isIdle = false;
      const idle = running.idle().then(() => (isIdle = true));
      await turn();
      assert.equal(isIdle, false);
      caller.abort();
      await Promise.all([purge, idle]);
    }
  });

  it('running purges pass on their place when they are over, however they end', async () => {
    const running = createRunningPurges(1);
    for (const end of [async () => 42, async () => Promise.reject(new Error('broken'))]) {
      const caller = new AbortController();
      const first = running.run('purge', caller.signal, untilStopped);
      await assert.rejects(running.run('purge', NEVER, end), TooManyPurgesError);
      assert.equal(running.count, 1);
      caller.abort('gone');
      assert.equal(await first, 'gone');
      await running.run('purge', NEVER, end).catch(() => {});
      assert.equal(running.count, 0);
    }
  });
});
