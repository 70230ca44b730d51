import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../sidecar/shared/clock.js';

describe('the clock of the system', () => {
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
});
