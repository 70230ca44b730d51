import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Failure } from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError } from '../../../../sidecar/purge/errors.js';
import type { OutageEvent } from '../../../../sidecar/purge/requests/index.js';
import { createOutageWatch, createSharedPause } from '../../../../sidecar/purge/requests/availability.js';
import { createTestClock } from '../../../support/purge-harness.js';

const RESET: Failure = { kind: 'unreachable' };
const REFUSED: Failure = { kind: 'unreachable', wasNeverSent: true };

/** A watch whose probes end as told, the last way for ever. */
function watchOf(...ends: readonly (Failure | undefined)[]) {
  const clock = createTestClock();
  const pause = createSharedPause(clock);
  const probedAt: number[] = [];
  const events: OutageEvent[] = [];
  const hooks: { onProbe?: () => void } = {};
  const startMs = clock.now();
  const watch = createOutageWatch({
    retry: { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000 },
    ...{ clock, pause },
    random: () => 0,
    probe: async (signal) => {
      signal.throwIfAborted();
      probedAt.push(clock.now() - startMs);
      hooks.onProbe?.();
      await new Promise((resolve) => setImmediate(resolve));
      return ends[Math.min(probedAt.length, ends.length) - 1];
    },
    onOutage: (event) => events.push(event),
  });
  const stop = new AbortController();
  const suspect = async (failure: Failure) => watch.suspect(failure, 'do it', stop.signal);
  return { watch, suspect, pause, probedAt, events, stop, hooks };
}

describe('a watch for outages', () => {
  it('a watch for outages ends silently when the broker answers the first probe', async () => {
    const { watch, suspect, probedAt, events } = watchOf(undefined);
    assert.equal(watch.isOn, false);
    const suspected = suspect(RESET);
    assert.equal(watch.isOn, true);
    assert.equal(await suspected, false);
    assert.deepEqual([watch.isOn, probedAt, events], [false, [200], []]);
  });

  it('a watch for outages waits for the broker on behalf of all requests, with one series of probes', async () => {
    const { watch, suspect, probedAt, events } = watchOf(RESET, { kind: 'timeout' }, RESET, undefined);
    const all = await Promise.all([suspect(RESET), suspect(REFUSED), suspect(RESET), watch.over()]);
    assert.deepEqual(all, [true, true, true, true]);
    assert.deepEqual(probedAt, [200, 400, 600, 800]);
    assert.deepEqual(events, [{ type: 'broker-away' }, { type: 'broker-back', afterMs: 800 }]);
    assert.equal(watch.isOn, false);
  });

  it('a watch for outages treats any other failure of a probe as a sign of life', async () => {
    for (const failure of [
      { kind: 'broker-error', status: 500 },
      { kind: 'throttled', status: 429 },
      { kind: 'context-unavailable', status: 504 },
    ] as const)
      assert.equal(await watchOf(failure).suspect(RESET), false);
  });

  it('a watch for outages ends at once when another request is answered', async () => {
    const { watch, suspect, probedAt } = watchOf(RESET);
    const suspected = suspect(RESET);
    watch.answered();
    assert.equal(watch.isOn, false);
    assert.equal(await suspected, false);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(probedAt, []);
  });

  it('a watch for outages continues when a broker that refuses new connections answers requests in flight', async () => {
    for (const failures of [
      [RESET, REFUSED],
      [REFUSED, RESET],
    ]) {
      const { watch, suspect } = watchOf(REFUSED, undefined);
      const suspected = failures.map(suspect);
      watch.answered();
      assert.equal(watch.isOn, true);
      assert.deepEqual(await Promise.all(suspected), [true, true]);
    }
  });

  it('a watch for outages throws the latest failure to all that wait when the time is up', async () => {
    const gone: Failure = { kind: 'broker-error', status: 502 };
    const { watch, suspect, probedAt, events } = watchOf(RESET, gone);
    const ends = await Promise.allSettled([suspect(RESET), watch.over()]);
    for (const end of ends) {
      assert.ok(end.status === 'rejected' && end.reason instanceof BrokerFailedError);
      assert.deepEqual([end.reason.reason, end.reason.failure], ['away-too-long', gone]);
    }
    assert.equal(probedAt.at(-1), 30_000);
    assert.deepEqual(events, [{ type: 'broker-away' }]);
    assert.equal(watch.isOn, false);
  });

  it('a watch for outages throws that the broker asks for too long a pause', async () => {
    const busy: Failure = { kind: 'broker-error', status: 503, retryAfter: '3600' };
    const { watch, suspect, probedAt } = watchOf(busy);
    await assert.rejects(suspect(RESET), { reason: 'retry-after-too-long', failure: busy });
    assert.deepEqual([watch.isOn, probedAt], [false, [200]]);
  });

  it('a watch for outages that another answer has ended says nothing of a probe that fails afterwards', async () => {
    const { watch, suspect, probedAt, events, hooks } = watchOf(RESET);
    hooks.onProbe = () => watch.answered();
    assert.equal(await suspect(RESET), false);
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([watch.isOn, events, probedAt], [false, [], [200]]);
  });

  it('a watch for outages holds its probes back for as long as the broker asks', async () => {
    const { suspect, pause, probedAt } = watchOf(undefined);
    const suspected = suspect(RESET);
    pause.begin(5000);
    await suspected;
    assert.deepEqual(probedAt, [5000]);
  });

  it('a watch for outages ends when the purge is stopped, without another probe', async () => {
    const { watch, suspect, probedAt, stop } = watchOf(RESET);
    const suspected = suspect(RESET);
    stop.abort();
    await assert.rejects(suspected);
    assert.deepEqual([watch.isOn, probedAt], [false, []]);
  });

  it('a watch for outages leaves no listener on the signal of its purge, however it ends', async (t) => {
    for (const { watch, suspect, stop } of [watchOf(undefined), watchOf(RESET), watchOf(RESET, undefined)]) {
      const { signal } = stop;
      const add = t.mock.method(signal, 'addEventListener');
      const remove = t.mock.method(signal, 'removeEventListener');
      await suspect(RESET).catch(() => {});
      assert.equal(watch.isOn, false);
      assert.ok(add.mock.callCount() > 0);
      assert.deepEqual(
        remove.mock.calls.map((call) => call.arguments.slice(0, 2)),
        add.mock.calls.map((call) => call.arguments.slice(0, 2)),
      );
    }
  });

  it('a watch for outages begins anew with the next failure', async () => {
    const { suspect, probedAt } = watchOf(undefined);
    await suspect(RESET);
    await suspect(RESET);
    assert.deepEqual(probedAt, [200, 400]);
  });
});
