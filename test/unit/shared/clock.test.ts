import assert from 'node:assert/strict';
import { it } from 'node:test';
import { processorTimeMs, systemClock, systemThread } from '../../../sidecar/shared/clock.js';

it('the clock gives milliseconds since the epoch', () => {
  const before = Date.now();
  const now = systemClock.now();
  assert.ok(before <= now && now <= Date.now());
});

it('a sleep ends by itself', async () => {
  await systemClock.sleep(1);
  await systemClock.sleep(1, new AbortController().signal);
});

it('a sleep is cut short by its signal, also by one that has aborted before', async () => {
  const controller = new AbortController();
  const cutShort = assert.rejects(systemClock.sleep(3_600_000, controller.signal), { name: 'AbortError' });
  controller.abort();
  await cutShort;
  await assert.rejects(systemClock.sleep(3_600_000, controller.signal), { name: 'AbortError' });
});

it('the processor time of a thread grows as it works, where the system says it', () => {
  const thread = systemThread();
  const before = processorTimeMs(thread);
  if (before === undefined) return;
  assert.match(thread ?? '', /^\d+$/);
  for (let turns = 0; (processorTimeMs(thread) ?? 0) < before + 2; turns += 1) assert.ok(turns < 1_000_000);
});

it('the processor time of a thread is not known where there is no such thread', () => {
  assert.equal(processorTimeMs(undefined), undefined);
  assert.equal(processorTimeMs('none'), undefined);
});
