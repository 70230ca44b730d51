import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Failure } from '../../../../sidecar/purge/broker/index.js';
import {
  askedDelayMs,
  backoffMs,
  probeDelayMs,
  retryDelayMs,
  seemsAway,
} from '../../../../sidecar/purge/requests/retry-policy.js';
import type { RetryPolicy } from '../../../../sidecar/purge/requests/index.js';

const POLICY: RetryPolicy = { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000 };
const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 7);

const delays = (kind: Failure['kind'], maxAttempts = 6) =>
  [1, 2, 3, 4, 5, 6].map((attempt) => retryDelayMs(attempt, { kind }, { ...POLICY, maxAttempts }, 1));

it('retryDelayMs allows exactly maxAttempts tries of a request, and at least one', () => {
  for (const kind of ['throttled', 'broker-error', 'timeout', 'unreachable'] as const) {
    assert.deepEqual(delays(kind), [400, 800, 1600, 3200, 6400, undefined]);
    assert.equal(delays(kind, 1)[0], undefined);
  }
});

it('retryDelayMs allows at most two tries of a request whose @context is not available', () => {
  assert.deepEqual(delays('context-unavailable').slice(0, 2), [400, undefined]);
  assert.equal(delays('context-unavailable', 1)[0], undefined);
});

it('askedDelayMs is the pause that the broker requests, and too long beyond six maximum delays', () => {
  const asked = (retryAfter?: string) =>
    askedDelayMs({ kind: 'throttled', ...(retryAfter === undefined ? {} : { retryAfter }) }, POLICY, NOW_MS);
  assert.deepEqual([asked(), asked('0'), asked('soon'), asked('3'), asked('60')], [0, 0, 0, 3000, 60_000]);
  assert.equal(asked(new Date(NOW_MS - 60_000).toUTCString()), 0);
  assert.equal(asked(new Date(NOW_MS + 20_000).toUTCString()), 20_000);
  for (const long of ['61', '9'.repeat(400), new Date(NOW_MS + 86_400_000).toUTCString()])
    assert.equal(asked(long), 'too-long');
});

const chance = () => fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

it('backoffMs spreads the wait between the minimum delay and a ceiling that doubles up to the maximum delay', () => {
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 50, 5000].map((attempt) => backoffMs(attempt, POLICY, 1));
  assert.deepEqual(ceilings, [400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000, 10_000]);
  for (const attempt of [1, 3, 9]) assert.equal(backoffMs(attempt, POLICY, 0), 200);
  assert.equal(backoffMs(1, { ...POLICY, minDelayMs: 0 }, 0.9), 0);
});

it('backoffMs is a whole number of milliseconds between the minimum and the maximum delay, whatever the jitter', () => {
  const pairs = fc.tuple(fc.nat({ max: 60_000 }), fc.nat({ max: 60_000 }));
  fc.assert(
    fc.property(pairs, fc.integer({ min: 1, max: 200 }), chance(), ([a, b], attempt, random) => {
      const policy = { maxAttempts: 6, minDelayMs: Math.min(a, b), maxDelayMs: Math.max(a, b), awayMs: 0 };
      const ms = backoffMs(attempt, policy, random);
      assert.ok(Number.isInteger(ms) && ms >= policy.minDelayMs && ms <= policy.maxDelayMs, String(ms));
    }),
  );
});

it('backoffMs grows with the random number, so that clients that failed together retry at different times', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), chance(), chance(), (attempt, a, b) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)];
      assert.ok(backoffMs(attempt, POLICY, less) <= backoffMs(attempt, POLICY, more));
    }),
  );
});

it('a broker seems to be unavailable after a broken or refused connection and 502 to 504, and after nothing else', () => {
  assert.equal(seemsAway({ kind: 'unreachable' }), true);
  for (const status of [502, 503, 504]) assert.equal(seemsAway({ kind: 'broker-error', status }), true);
  for (const failure of [
    { kind: 'broker-error', status: 500 },
    { kind: 'throttled', status: 429 },
    { kind: 'context-unavailable', status: 503 },
    { kind: 'timeout' },
  ] as const)
    assert.equal(seemsAway(failure), false);
});

it('probeDelayMs is longer with each probe, and ends exactly when the broker was unavailable for too long', () => {
  const pauses = [0, 1, 2, 3, 4, 5, 9].map((probes) => probeDelayMs(probes, 0, POLICY, 1));
  assert.deepEqual(pauses, [400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  assert.equal(probeDelayMs(9, 29_900, POLICY, 0.5), 100);
  assert.equal(probeDelayMs(9, 30_000, POLICY, 0.5), undefined);
  assert.equal(probeDelayMs(0, 0, { ...POLICY, awayMs: 0 }, 0.5), undefined);
});

it('probeDelayMs finally gives up, also under a policy without any delay', () => {
  const policies = fc
    .tuple(fc.nat({ max: 5000 }), fc.nat({ max: 60_000 }), fc.nat({ max: 60_000 }))
    .map(([min, more, awayMs]) => ({ maxAttempts: 6, minDelayMs: min, maxDelayMs: min + more, awayMs }));
  fc.assert(
    fc.property(policies, chance(), (policy, random) => {
      let forMs = 0;
      let probes = 0;
      for (;;) {
        const delayMs = probeDelayMs(probes, forMs, policy, random);
        if (delayMs === undefined) break;
        assert.ok(delayMs >= 100 || forMs + delayMs === policy.awayMs, `${delayMs} ms`);
        forMs += delayMs;
        probes += 1;
      }
      assert.ok(forMs <= policy.awayMs && probes <= 601);
    }),
  );
});
