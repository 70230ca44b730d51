import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Failure } from '../../../../sidecar/purge/broker/index.js';
import { BrokerFailedError } from '../../../../sidecar/purge/errors.js';
import { CircuitBreaker, RequestGate } from '../../../../sidecar/purge/requests/request-gate.js';
import type { OutageEvent, PurgeRequest } from '../../../../sidecar/purge/requests/index.js';
import { createTestClock } from '../../../support/purge-harness.js';

const POLICY = { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000 };
const QUERY: PurgeRequest = { method: 'GET', path: '/entities', operation: 'do it' };
const RESET: Failure = { kind: 'unreachable' };
const REFUSED: Failure = { kind: 'unreachable', wasNeverSent: true };

/** The gate of a broker whose probes end as given; the last outcome repeats for ever. */
function watchOf(...ends: readonly (Failure | undefined)[]) {
  const clock = createTestClock();
  const probedAt: number[] = [];
  const events: OutageEvent[] = [];
  const hooks: { onProbe?: () => void } = {};
  const startMs = clock.now();
  const watch = new RequestGate({
    retry: POLICY,
    clock,
    random: () => 0,
    probe: async (signal) => {
      signal.throwIfAborted();
      probedAt.push(clock.now() - startMs);
      hooks.onProbe?.();
      await new Promise((resolve) => setImmediate(resolve));
      return ends[Math.min(probedAt.length, ends.length) - 1];
    },
    onEvent: (event) => events.push(event),
  });
  watch.hasAnswered = true;
  const stop = new AbortController();
  const suspect = async (failure: Failure) =>
    watch.failed({ request: QUERY, failure, attempt: 1, pausesBefore: 0 }, stop.signal);
  return { watch, suspect, probedAt, events, stop, hooks, isOn: () => isAway(watch) };
}

/** Whether the broker is waited for; a purge that has failed waits for nothing. */
function isAway(watch: RequestGate): boolean {
  try {
    return watch.outage !== undefined;
  } catch (error) {
    assert.ok(error instanceof BrokerFailedError);
    return false;
  }
}

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

it('a watch for outages throws the latest failure to all waiting requests when the time is up', async () => {
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

it('a watch for outages that another answer has ended does not report a probe that fails afterwards', async () => {
  const { watch, suspect, probedAt, events, hooks, isOn } = watchOf(RESET);
  hooks.onProbe = () => watch.succeeded(QUERY);
  assert.equal(await suspect(RESET), false);
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([isOn(), events, probedAt], [false, [], [200]]);
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

/** The events of a breaker: failures of requests or batches, failures of single items, and successes. */
type Step =
  | number
  | { readonly items: readonly string[]; readonly times?: number }
  | 'success'
  | 'item deleted';

const items = (count: number) => Array.from({ length: count }, (_, index) => `urn:x:${index}`);

for (const [what, steps, isOpen] of [
  ['is closed after nineteen failures in a row', [19], false],
  ['opens at the twentieth failure in a row', [20], true],
  ['counts anew after a success', [19, 'success', 19], false],
  ['opens after a success as before', [19, 'success', 20], true],
  ['closes with a success', [20, 'success'], false],
  ['forgets requests that failed before a success', [19, 'success', { items: items(1), times: 100 }], false],
  [
    'forgets items that failed before a success',
    [{ items: items(19) }, 'success', { items: items(1), times: 100 }],
    false,
  ],
  ['stays closed while all failures belong to four items', [{ items: items(4), times: 100 }], false],
  ['opens when the failures belong to five items', [{ items: items(5), times: 4 }], true],
  ['counts three failed requests beside those of an item', [{ items: items(1), times: 30 }, 3], false],
  ['counts four failed requests beside those of an item', [{ items: items(1), times: 30 }, 4], true],
  [
    'counts each item once after one was deleted singly, although queries succeed',
    ['item deleted', 'success', { items: items(19), times: 20 }],
    false,
  ],
  [
    'opens at the twentieth item after one was deleted singly',
    ['item deleted', 'success', { items: items(19), times: 20 }, { items: ['urn:x:19'] }],
    true,
  ],
  [
    'keeps items apart that are names of Object.prototype',
    [{ items: ['constructor', '__proto__', 'toString'], times: 20 }],
    false,
  ],
] as const satisfies readonly (readonly [string, readonly Step[], boolean])[])
  it(`the breaker of a purge ${what}`, () => {
    const breaker = new CircuitBreaker();
    for (const step of steps as readonly Step[]) {
      if (step === 'success') breaker.succeeded();
      else if (step === 'item deleted') breaker.succeeded('urn:x:deleted');
      else if (typeof step === 'number') for (let failures = 0; failures < step; failures++) breaker.failed();
      else
        for (let round = 0; round < (step.times ?? 1); round++)
          for (const item of step.items) breaker.failed(item);
    }
    assert.equal(breaker.isOpen, isOpen);
  });

it('a pause lasts until the latest requested moment, and a shorter pause never shortens it', () => {
  const steps = fc.array(
    fc.record({ passesMs: fc.nat({ max: 5000 }), asksSeconds: fc.integer({ min: 1, max: 10 }) }),
  );
  fc.assert(
    fc.property(steps, fc.nat({ max: 20_000 }), (asked, laterMs) => {
      let nowMs = 1000;
      const clock = { now: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} };
      const probe = async () => undefined;
      const pause = new RequestGate({ retry: POLICY, clock, random: () => 0, probe });
      assert.equal(pause.pauseLeftMs, 0);
      let untilMs = 0;
      for (const { passesMs, asksSeconds } of asked) {
        nowMs += passesMs;
        pause.applyRetryAfter({ kind: 'throttled', status: 429, retryAfter: String(asksSeconds) }, 'list');
        untilMs = Math.max(untilMs, nowMs + asksSeconds * 1000);
        assert.equal(pause.pauseLeftMs, untilMs - nowMs);
      }
      nowMs += laterMs;
      assert.equal(pause.pauseLeftMs, Math.max(0, untilMs - nowMs));
      assert.equal(pause.pauses, asked.length);
    }),
  );
});
