import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Notifier } from '../../../sidecar/jobs/job-service.js';
import { HandClock } from '../../support/hand-clock.js';

/** A notifier on a clock that only the test moves. */
function notifierOf() {
  const clock = new HandClock();
  const notifier = new Notifier(clock);
  /** A watcher of a job of another process, and the results of its waiting. */
  const watch = (id: string, signal = new AbortController().signal) => {
    const watcher = { isWoken: false };
    void notifier.changedElsewhere(id, signal).then(() => (watcher.isWoken = true));
    return watcher;
  };
  return { notifier, clock, watch };
}

it('a change of a job wakes each of its watchers once, and an aborted signal wakes its own watcher', async () => {
  const { notifier } = notifierOf();
  const { signal } = new AbortController();
  const stop = new AbortController();
  let woken = 0;
  const watch = (id: string, until: AbortSignal) => notifier.changed(id, until).then(() => (woken += 1));
  const [one, other] = [watch('a', signal), watch('a', signal)];
  void watch('b', signal);
  const stopped = watch('a', stop.signal);
  await turn();
  assert.equal(woken, 0);
  stop.abort();
  await stopped;
  assert.equal(woken, 1);
  notifier.notify('a');
  await Promise.all([one, other]);
  await notifier.changed('a', AbortSignal.abort());
  notifier.notify('a');
  assert.equal(woken, 3);
});

it('waiting for a change of a job leaves no listener on the signal of the watcher', async (t) => {
  const { notifier } = notifierOf();
  const { signal } = new AbortController();
  const add = t.mock.method(signal, 'addEventListener');
  const remove = t.mock.method(signal, 'removeEventListener');
  const change = notifier.changed('a', signal);
  notifier.notify('a');
  await change;
  assert.deepEqual(
    remove.mock.calls.map(({ arguments: [type, listener] }) => [type, listener]),
    add.mock.calls.map(({ arguments: [type, listener] }) => [type, listener]),
  );
  assert.equal(add.mock.callCount(), 1);
});

it('a watcher of a job of another process reads again as soon as it has changed, but not within a quarter of a second', async () => {
  const { notifier, clock, watch } = notifierOf();
  const watcher = watch('a');
  notifier.notify('a');
  await clock.pass(249);
  assert.equal(watcher.isWoken, false);
  await clock.pass(1);
  assert.equal(watcher.isWoken, true);
  const [late, second, other] = [watch('a'), watch('a'), watch('b')];
  await clock.pass(250);
  assert.equal(late.isWoken, false);
  notifier.notify('a');
  await clock.pass(0);
  assert.deepEqual([late.isWoken, second.isWoken, other.isWoken], [true, true, false]);
});

it('a watcher without a notice reads again after a second', async () => {
  const { clock, watch } = notifierOf();
  const watcher = watch('a');
  await clock.pass(250);
  await clock.pass(749);
  assert.equal(watcher.isWoken, false);
  await clock.pass(1);
  assert.equal(watcher.isWoken, true);
});

it('a watcher that leaves is released at once, leaves no timer behind, and does not prevent others from being woken', async () => {
  for (const waitedMs of [0, 250]) {
    const { notifier, clock, watch } = notifierOf();
    const gone = new AbortController();
    const [leaving, staying] = [watch('a', gone.signal), watch('a')];
    await clock.pass(waitedMs);
    gone.abort();
    await clock.pass(0);
    assert.deepEqual([leaving.isWoken, staying.isWoken, clock.sleepers], [true, false, 1]);
    await clock.pass(250 - waitedMs);
    notifier.notify('a');
    await clock.pass(0);
    assert.deepEqual([staying.isWoken, clock.sleepers], [true, 0]);
  }
});
