import type { Failure } from '../broker/outcome.js';
import { askedDelayMs, backoffMs, type RetryClock, type RetryPolicy } from './policy.js';

/** Statuses of a broker that is starting or gone, often said by what stands before it. */
const AWAY_STATUSES: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/** Probes are never closer together, whatever the policy: a broker that starts has other work. */
const LEAST_PAUSE_MS = 100;

/**
 * Whether a failure is that of a broker which cannot be reached: connection refused or broken, or 502 to 504. A time-out is
 * none: something is there, and does not answer.
 */
export function looksAway({ kind, status }: Failure): boolean {
  return kind === 'unreachable' || (kind === 'broker-error' && AWAY_STATUSES.has(status));
}

/** What is known of a broker that seems to be away. */
export interface Absence {
  /** Since the failure that looked like it. */
  readonly forMs: number;
  /** Probes that have failed. */
  readonly probes: number;
  /** The latest failure. */
  readonly failure: Failure;
}

export type ProbeDecision =
  | { readonly action: 'probe'; readonly afterMs: number }
  | { readonly action: 'stop'; readonly reason: 'away-too-long' | 'retry-after-too-long' };

/**
 * Decides whether a broker that seems to be away is asked once more, and when: with pauses that grow as those of retries
 * do, until it has been away for the policy's awayMs. The pause that a Retry-After asks for is not cut.
 */
export function decideProbe(absence: Absence, policy: RetryPolicy, clock: RetryClock): ProbeDecision {
  const { forMs, probes, failure } = absence;
  const asked = askedDelayMs(failure, policy, clock.nowMs);
  if (asked === 'too-long') return { action: 'stop', reason: 'retry-after-too-long' };
  if (forMs >= policy.awayMs) return { action: 'stop', reason: 'away-too-long' };
  const pause = Math.max(LEAST_PAUSE_MS, backoffMs(probes + 1, policy, clock.random));
  return { action: 'probe', afterMs: Math.max(Math.min(pause, policy.awayMs - forMs), asked) };
}
