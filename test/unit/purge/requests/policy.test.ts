import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Failure } from '../../../../sidecar/purge/broker/index.js';
import type { FailureKind } from '../../../../sidecar/purge/broker/reply.js';
import { askedDelayMs, backoffMs, decideRetry } from '../../../../sidecar/purge/requests/retry-policy.js';
import type { RetryPolicy } from '../../../../sidecar/purge/requests/index.js';

const POLICY: RetryPolicy = { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000 };
const NOW_MS = Date.UTC(2026, 0, 1, 12);
const KINDS: readonly FailureKind[] = ['throttled', 'broker-error', 'timeout', 'unreachable'];

const decide = (attempt: number, failure: Failure, random = 0.5, policy = POLICY) =>
  decideRetry(attempt, failure, policy, { nowMs: NOW_MS, random });

const throttled = (retryAfter: string): Failure => ({ kind: 'throttled', status: 429, retryAfter });

for (const kind of KINDS) {
  it(`decideRetry tries a request that failed as ${kind} exactly maxAttempts times`, () => {
    for (let attempt = 1; attempt < 6; attempt++) assert.equal(decide(attempt, { kind }).action, 'wait');
    assert.deepEqual(decide(6, { kind }), { action: 'stop', reason: 'attempts-used-up' });
  });
}

it('decideRetry tries a request whose @context is not available twice at most', () => {
  const failure: Failure = { kind: 'context-unavailable', status: 504 };
  assert.equal(decide(1, failure).action, 'wait');
  assert.deepEqual(decide(2, failure), { action: 'stop', reason: 'attempts-used-up' });
  const once = { ...POLICY, maxAttempts: 1 };
  assert.equal(decide(1, failure, 0.5, once).action, 'stop');
});

it('decideRetry never tries again when one attempt is all there is', () => {
  const once = { ...POLICY, maxAttempts: 1 };
  for (const kind of KINDS) assert.equal(decide(1, { kind }, 0.5, once).action, 'stop', kind);
});

it('decideRetry waits at least the seconds of a Retry-After, and longer where the backoff is longer', () => {
  assert.deepEqual(decide(1, throttled('30'), 0), { action: 'wait', ms: 30_000 });
  assert.deepEqual(decide(6, throttled('1'), 0.999, { ...POLICY, maxAttempts: 9 }), {
    action: 'wait',
    ms: 9990,
  });
});

it('decideRetry does not wait at all where the least delay is 0 and nothing asks for more', () => {
  const eager = { ...POLICY, minDelayMs: 0 };
  assert.deepEqual(decide(1, { kind: 'timeout' }, 0, eager), { action: 'wait', ms: 0 });
  assert.deepEqual(decide(1, throttled('0'), 0, eager), { action: 'wait', ms: 0 });
  const soon = new Date(NOW_MS + 1000).toUTCString();
  const clock = { nowMs: NOW_MS + 999, random: 0 };
  assert.deepEqual(decideRetry(1, throttled(soon), eager, clock), { action: 'wait', ms: 1 });
});

it('decideRetry waits until the HTTP date of a Retry-After', () => {
  const date = new Date(NOW_MS + 20_000).toUTCString();
  assert.deepEqual(decide(1, throttled(date), 0), { action: 'wait', ms: 20_000 });
});

it('decideRetry honours the Retry-After of a 503 as that of a 429', () => {
  const failure: Failure = { kind: 'broker-error', status: 503, retryAfter: '7' };
  assert.deepEqual(decide(1, failure, 0), { action: 'wait', ms: 7000 });
});

it('decideRetry waits for a Retry-After of up to six maximum delays, and passes a longer one on', () => {
  assert.equal(decide(1, throttled('60')).action, 'wait');
  const tooLong = { action: 'stop', reason: 'retry-after-too-long' } as const;
  assert.deepEqual(decide(1, throttled('61')), tooLong);
  assert.deepEqual(decide(1, throttled(new Date(NOW_MS + 86_400_000).toUTCString())), tooLong);
  assert.deepEqual(decide(1, throttled('9'.repeat(400))), tooLong);
});

it('decideRetry names a too long Retry-After as the reason even after the last attempt', () => {
  assert.deepEqual(decide(6, throttled('3600')), { action: 'stop', reason: 'retry-after-too-long' });
});

const asked = (failure: Failure) => askedDelayMs(failure, POLICY, NOW_MS);

it('askedDelayMs is the pause that the broker asks for, and 0 where it asks for none', () => {
  assert.equal(asked(throttled('3')), 3000);
  assert.equal(asked({ kind: 'broker-error', status: 503, retryAfter: '7' }), 7000);
  assert.equal(asked({ kind: 'throttled' }), 0);
  assert.equal(asked(throttled('0')), 0);
  assert.equal(asked(throttled(new Date(NOW_MS - 60_000).toUTCString())), 0);
  assert.equal(asked(throttled('soon')), 0);
});

it('askedDelayMs is too long beyond six maximum delays', () => {
  assert.equal(asked(throttled('60')), 60_000);
  assert.equal(asked(throttled('61')), 'too-long');
});

it('backoffMs spreads the wait between the least delay and a ceiling that doubles up to the largest delay', () => {
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 50, 5000].map((attempt) => backoffMs(attempt, POLICY, 1));
  assert.deepEqual(ceilings, [400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000, 10_000]);
  for (const attempt of [1, 3, 9]) assert.equal(backoffMs(attempt, POLICY, 0), 200);
});

it('backoffMs is a whole number of milliseconds between the least and the largest delay, whatever the jitter', () => {
  const delays = fc.tuple(fc.nat({ max: 60_000 }), fc.nat({ max: 60_000 }));
  fc.assert(
    fc.property(delays, fc.integer({ min: 1, max: 200 }), chance(), ([a, b], attempt, random) => {
      const policy = { maxAttempts: 6, minDelayMs: Math.min(a, b), maxDelayMs: Math.max(a, b), awayMs: 0 };
      const ms = backoffMs(attempt, policy, random);
      assert.ok(Number.isInteger(ms) && ms >= policy.minDelayMs && ms <= policy.maxDelayMs, String(ms));
    }),
  );
});

it('backoffMs grows with the random number, so clients that failed together retry at different times', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), chance(), chance(), (attempt, a, b) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)];
      assert.ok(backoffMs(attempt, POLICY, less) <= backoffMs(attempt, POLICY, more));
    }),
  );
});

function chance() {
  return fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
}
