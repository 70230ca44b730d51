import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Failure } from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError } from '../../../../sidecar/purge/errors.js';
import { Availability, Breaker } from '../../../../sidecar/purge/requests/availability.js';
import type { OutageEvent, PurgeRequest } from '../../../../sidecar/purge/requests/index.js';
import { createTestClock } from '../../../support/purge-harness.js';

const POLICY = { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000 };
const QUERY: PurgeRequest = { method: 'GET', path: '/entities', operation: 'do it' };
const RESET: Failure = { kind: 'unreachable' };
const REFUSED: Failure = { kind: 'unreachable', wasNeverSent: true };

/** The availability of a broker whose probes end as told, the last way for ever. */
function watchOf(...ends: readonly (Failure | undefined)[]) {
  const clock = createTestClock();
  const probedAt: number[] = [];
  const events: OutageEvent[] = [];
  const hooks: { onProbe?: () => void } = {};
  const startMs = clock.now();
  const watch = new Availability({
    ...{ retry: POLICY, clock },
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
  watch.hasAnswered = true;
  const stop = new AbortController();
  const suspect = async (failure: Failure) =>
    watch.failed({ request: QUERY, failure, attempt: 1, pausesBefore: 0 }, stop.signal);
  return { watch, suspect, probedAt, events, stop, hooks, isOn: () => isAway(watch) };
}

/** Whether the broker is waited for; a purge that has failed waits for nothing. */
function isAway(watch: Availability): boolean {
  try {
    return watch.outage !== undefined;
  } catch (error) {
    assert.ok(error instanceof BrokerFailedError);
    return false;
  }
}

it('a watch for outages ends silently when the broker answers the first probe', async () => {
  const { suspect, probedAt, events, isOn } = watchOf(undefined);
  assert.equal(isOn(), false);
  const suspected = suspect(RESET);
  assert.equal(isOn(), true);
  assert.equal(await suspected, false);
  assert.deepEqual([isOn(), probedAt, events], [false, [200], []]);
});

it('a watch for outages waits for the broker on behalf of all requests, with one series of probes', async () => {
  const { watch, suspect, probedAt, events, isOn } = watchOf(RESET, { kind: 'timeout' }, RESET, undefined);
  const all = await Promise.all([suspect(RESET), suspect(REFUSED), suspect(RESET), watch.outage]);
  assert.deepEqual(all, [true, true, true, true]);
  assert.deepEqual(probedAt, [200, 400, 600, 800]);
  assert.deepEqual(events, [{ type: 'broker-away' }, { type: 'broker-back', afterMs: 800 }]);
  assert.equal(isOn(), false);
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
  const { watch, suspect, probedAt, isOn } = watchOf(RESET);
  const suspected = suspect(RESET);
  watch.succeeded(QUERY);
  assert.equal(isOn(), false);
  assert.equal(await suspected, false);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(probedAt, []);
});

it('a watch for outages continues when a broker that refuses new connections answers requests in flight', async () => {
  for (const failures of [
    [RESET, REFUSED],
    [REFUSED, RESET],
  ]) {
    const { watch, suspect, isOn } = watchOf(REFUSED, undefined);
    const suspected = failures.map(suspect);
    watch.succeeded(QUERY);
    assert.equal(isOn(), true);
    assert.deepEqual(await Promise.all(suspected), [true, true]);
  }
});

it('a watch for outages throws the latest failure to all that wait when the time is up', async () => {
  const gone: Failure = { kind: 'broker-error', status: 502 };
  const { watch, suspect, probedAt, events, isOn } = watchOf(RESET, gone);
  const ends = await Promise.allSettled([suspect(RESET), watch.outage]);
  for (const end of ends) {
    assert.ok(end.status === 'rejected' && end.reason instanceof BrokerFailedError);
    assert.deepEqual([end.reason.reason, end.reason.failure], ['away-too-long', gone]);
  }
  assert.equal(probedAt.at(-1), 30_000);
  assert.deepEqual(events, [{ type: 'broker-away' }]);
  assert.equal(isOn(), false);
});

it('a watch for outages that another answer has ended says nothing of a probe that fails afterwards', async () => {
  const { watch, suspect, probedAt, events, hooks, isOn } = watchOf(RESET);
  hooks.onProbe = () => watch.succeeded(QUERY);
  assert.equal(await suspect(RESET), false);
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([isOn(), events, probedAt], [false, [], [200]]);
});

it('a watch for outages holds its probes back for as long as the broker asks', async () => {
  const { watch, suspect, probedAt } = watchOf(undefined);
  const suspected = suspect(RESET);
  watch.holdBack({ kind: 'throttled', status: 429, retryAfter: '5' }, 'do it');
  await suspected;
  assert.deepEqual(probedAt, [5000]);
});

it('a watch for outages ends when the purge is stopped, without another probe', async () => {
  const { suspect, probedAt, stop, isOn } = watchOf(RESET);
  const suspected = suspect(RESET);
  stop.abort();
  await assert.rejects(suspected);
  assert.deepEqual([isOn(), probedAt], [false, []]);
});

it('a watch for outages leaves no listener on the signal of its purge, however it ends', async (t) => {
  for (const { suspect, stop, isOn } of [watchOf(undefined), watchOf(RESET), watchOf(RESET, undefined)]) {
    const { signal } = stop;
    const add = t.mock.method(signal, 'addEventListener');
    const remove = t.mock.method(signal, 'removeEventListener');
    await suspect(RESET).catch(() => {});
    assert.equal(isOn(), false);
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

const times = (count: number, action: (index: number) => void) => {
  for (let index = 0; index < count; index++) action(index);
};

it('breaker opens at the twentieth failure in a row, and not before', () => {
  const breaker = new Breaker();
  times(19, () => breaker.failed());
  assert.equal(breaker.isOpen, false);
  breaker.failed();
  assert.equal(breaker.isOpen, true);
});

it('breaker starts counting anew after any success', () => {
  const breaker = new Breaker();
  times(19, () => breaker.failed());
  breaker.succeeded();
  times(19, () => breaker.failed());
  assert.equal(breaker.isOpen, false);
  breaker.failed();
  assert.equal(breaker.isOpen, true);
  breaker.succeeded();
  assert.equal(breaker.isOpen, false);
});

it('breaker forgets after a success what failed before it, requests and items alike', () => {
  for (const before of [
    (breaker: Breaker) => times(19, () => breaker.failed()),
    (breaker: Breaker) => times(19, (index) => breaker.failed(`urn:x:${index}`)),
  ]) {
    const breaker = new Breaker();
    before(breaker);
    breaker.succeeded();
    times(100, () => breaker.failed('urn:x:0'));
    assert.equal(breaker.isOpen, false, 'all failures since belong to one item');
  }
});

it('breaker stays closed while all failures belong to a few items', () => {
  const breaker = new Breaker();
  times(400, (index) => breaker.failed(`urn:ngsi-ld:T:${index % 4}`));
  assert.equal(breaker.isOpen, false);
});

it('breaker opens when the failures belong to many items', () => {
  const breaker = new Breaker();
  times(20, (index) => breaker.failed(`urn:ngsi-ld:T:${index % 5}`));
  assert.equal(breaker.isOpen, true);
});

it('breaker counts failed queries and batches beside those of items', () => {
  const breaker = new Breaker();
  times(30, () => breaker.failed('urn:ngsi-ld:T:1'));
  times(3, () => breaker.failed());
  assert.equal(breaker.isOpen, false);
  breaker.failed();
  assert.equal(breaker.isOpen, true);
});

it('breaker forgets hopeless items with the success that follows them', () => {
  const breaker = new Breaker();
  times(10, (index) => breaker.failed(`urn:ngsi-ld:T:${index}`));
  breaker.succeeded();
  times(40, () => breaker.failed('urn:ngsi-ld:T:1'));
  assert.equal(breaker.isOpen, false);
});

it('breaker counts each item once after one was deleted singly, since the broker can delete', () => {
  const breaker = new Breaker();
  breaker.succeeded('urn:ngsi-ld:T:0');
  // An answered query does not change that.
  breaker.succeeded();
  times(400, (index) => breaker.failed(`urn:ngsi-ld:T:${index % 19}`));
  assert.equal(breaker.isOpen, false);
  breaker.failed('urn:ngsi-ld:T:19');
  assert.equal(breaker.isOpen, true);
});

it('breaker keeps items apart, even if one is a name of Object.prototype', () => {
  const breaker = new Breaker();
  times(40, (index) => breaker.failed(['constructor', '__proto__', 'toString'][index % 3]));
  assert.equal(breaker.isOpen, false);
});

it('a pause lasts until the latest moment that was asked for: a shorter one never cuts it', () => {
  const steps = fc.array(
    fc.record({ passesMs: fc.nat({ max: 5000 }), asksSeconds: fc.integer({ min: 1, max: 10 }) }),
  );
  fc.assert(
    fc.property(steps, fc.nat({ max: 20_000 }), (asked, laterMs) => {
      let nowMs = 1000;
      const clock = { now: () => nowMs, sleep: async () => {} };
      const probe = async () => undefined;
      const pause = new Availability({ retry: POLICY, clock, random: () => 0, probe });
      assert.equal(pause.pauseLeftMs, 0);
      let untilMs = 0;
      for (const { passesMs, asksSeconds } of asked) {
        nowMs += passesMs;
        pause.holdBack({ kind: 'throttled', status: 429, retryAfter: String(asksSeconds) }, 'list');
        untilMs = Math.max(untilMs, nowMs + asksSeconds * 1000);
        assert.equal(pause.pauseLeftMs, untilMs - nowMs);
      }
      nowMs += laterMs;
      assert.equal(pause.pauseLeftMs, Math.max(0, untilMs - nowMs));
      assert.equal(pause.pauses, asked.length);
    }),
  );
});
