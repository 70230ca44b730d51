import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Failure } from '../../../../sidecar/purge/broker/index.js';
import { decideProbe, seemsAway } from '../../../../sidecar/purge/requests/retry-policy.js';
import type { RetryPolicy } from '../../../../sidecar/purge/requests/index.js';

const POLICY: RetryPolicy = { maxAttempts: 6, minDelayMs: 200, maxDelayMs: 10_000, awayMs: 30_000 };
const NOW_MS = Date.UTC(2026, 0, 1, 12);
const REFUSED: Failure = { kind: 'unreachable' };

const decide = (forMs: number, probes: number, failure = REFUSED, random = 0.5, policy = POLICY) =>
  decideProbe({ forMs, probes, failure }, policy, { nowMs: NOW_MS, random });

it('looksAway is true for a broken or refused connection, and for 502 to 504', () => {
  assert.equal(seemsAway(REFUSED), true);
  for (const status of [502, 503, 504]) assert.equal(seemsAway({ kind: 'broker-error', status }), true);
});

it('looksAway is false for any other answer, and for a time-out', () => {
  for (const failure of [
    { kind: 'broker-error', status: 500 },
    { kind: 'throttled', status: 429 },
    { kind: 'context-unavailable', status: 503 },
    { kind: 'timeout' },
  ] as const)
    assert.equal(seemsAway(failure), false);
});

it('decideProbe pauses before each probe, longer each time, up to the largest delay', () => {
  const pauses = [0, 1, 2, 3, 4, 5, 9].map((probes) => decide(0, probes, REFUSED, 1));
  assert.deepEqual(
    pauses.map((decision) => (decision.action === 'probe' ? decision.afterMs : decision.reason)),
    [400, 800, 1600, 3200, 6400, 10_000, 10_000],
  );
});

it('decideProbe stops when the broker was away for as long as it is waited for, and probes at that moment', () => {
  assert.deepEqual(decide(29_900, 9), { action: 'probe', afterMs: 100 });
  assert.deepEqual(decide(30_000, 9), { action: 'stop', reason: 'away-too-long' });
  const never = { ...POLICY, awayMs: 0 };
  assert.equal(decide(0, 0, REFUSED, 0.5, never).action, 'stop');
});

it('decideProbe never shortens the pause of a Retry-After, and passes on one that is too long', () => {
  const asking = (retryAfter: string): Failure => ({ kind: 'broker-error', status: 503, retryAfter });
  assert.deepEqual(decide(0, 0, asking('45')), { action: 'probe', afterMs: 45_000 });
  assert.deepEqual(decide(29_999, 3, asking('7')), { action: 'probe', afterMs: 7000 });
  assert.deepEqual(decide(0, 0, asking('61')), { action: 'stop', reason: 'retry-after-too-long' });
});

it('decideProbe gives up in the end, also under a policy without any delay', () => {
  const policies = fc
    .tuple(fc.nat({ max: 5000 }), fc.nat({ max: 60_000 }), fc.nat({ max: 60_000 }))
    .map(([min, more, awayMs]) => ({ maxAttempts: 6, minDelayMs: min, maxDelayMs: min + more, awayMs }));
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(policies, chance, (policy, random) => {
      let forMs = 0;
      let probes = 0;
      for (;;) {
        const decision = decide(forMs, probes, REFUSED, random, policy);
        if (decision.action === 'stop') break;
        const isLast = forMs + decision.afterMs === policy.awayMs;
        assert.ok(decision.afterMs >= 100 || isLast, `${decision.afterMs} ms`);
        forMs += decision.afterMs;
        probes += 1;
      }
      assert.ok(forMs <= policy.awayMs && probes <= 601);
    }),
  );
});
