import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  createMonotonicClock,
  processorTimeMs,
  systemClock,
  systemThreadId,
} from '../../../sidecar/shared/clock.js';

it('the clock gives milliseconds since the epoch', () => {
  const before = Date.now();
  const now = systemClock.now();
  assert.ok(before <= now && now <= Date.now());
});

it('the monotonic clock is not set back, and continues while the machine sleeps', () => {
  const time = { steadyMs: 0, dayMs: 1_700_000_000_000 };
  const monotonicMs = createMonotonicClock(
    () => time.steadyMs,
    () => time.dayMs,
  );
  const after = (steadyMs: number, dayMs: number) => {
    time.steadyMs += steadyMs;
    time.dayMs += dayMs;
    return monotonicMs();
  };
  assert.equal(after(100, 100), 100);
  assert.equal(after(100, -3_600_000), 200, 'set back');
  assert.equal(after(100, 100), 300);
  assert.equal(after(100, 60_100), 60_400, 'a minute of sleep');
  for (let beats = 0; beats < 1000; beats += 1) after(0.5, beats % 2);
  assert.equal(after(0, 0), 60_900, 'the time of day is in whole milliseconds');
});

it('a sleep ends by itself, and not at once', async () => {
  for (const signal of [undefined, new AbortController().signal]) {
    let hasTimeBegun = false;
    const sleep = systemClock.sleep(50, signal);
    setTimeout(() => (hasTimeBegun = true), 0);
    await sleep;
    assert.ok(hasTimeBegun);
  }
});

it('a sleep is cut short by its signal, even if the signal has already aborted', async () => {
  const controller = new AbortController();
  const cutShort = assert.rejects(systemClock.sleep(3_600_000, controller.signal), { name: 'AbortError' });
  controller.abort();
  await cutShort;
  await assert.rejects(systemClock.sleep(3_600_000, controller.signal), { name: 'AbortError' });
});

it('the processor time of a thread grows as the thread works, if the system reports it', (t) => {
  const thread = systemThreadId();
  const before = processorTimeMs(thread);
  if (before === undefined) {
    t.skip('this system does not report the processor time of threads; Linux does');
    return;
  }
  assert.match(thread ?? '', /^\d+$/);
  for (let turns = 0; (processorTimeMs(thread) ?? 0) < before + 2; turns += 1) assert.ok(turns < 1_000_000);
});

it('the processor time of a thread that does not exist is unknown', () => {
  assert.equal(processorTimeMs(undefined), undefined);
  assert.equal(processorTimeMs('none'), undefined);
});
