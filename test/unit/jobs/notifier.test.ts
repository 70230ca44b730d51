import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Notifier } from '../../../sidecar/jobs/job-service.js';
import { HandClock } from '../../support/hand-clock.js';

/** A notifier on a clock that only the test moves. */
function notifierOf() {
  const clock = new HandClock();
  const notifier = new Notifier(clock);
  /** A watcher of a purge, and the results of its waiting. */
  const watch = (id: string, signal = new AbortController().signal) => {
    const watcher = { isWoken: false };
    void notifier.changed(id, signal).then(() => (watcher.isWoken = true));
    return watcher;
  };
  return { notifier, clock, watch };
}

it('a watcher reads again as soon as its purge has changed, but not within a quarter of a second', async () => {
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
