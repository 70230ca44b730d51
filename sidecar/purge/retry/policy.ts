import type { Failure } from '../broker/outcome.js';
import { parseRetryAfter } from './retry-after.js';

/** Retry settings; all times in milliseconds. */
export interface RetryPolicy {
  /** Tries of one request, the first included. */
  readonly maxAttempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** How long a broker is waited for that cannot be reached; 0 for not at all. */
  readonly awayMs: number;
}

/** What the decision depends on besides the failure: time and chance, handed in so that the policy stays pure. */
export interface RetryClock {
  /** Milliseconds since the epoch, for Retry-After dates. */
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
}

export type RetryDecision =
  | { readonly action: 'wait'; readonly ms: number }
  | { readonly action: 'stop'; readonly reason: 'attempts-used-up' | 'retry-after-too-long' };

/** A longer Retry-After than this many maximum delays is passed on to the caller instead of being waited for. */
const RETRY_AFTER_MAX_DELAYS = 6;

/** A context that cannot be loaded is the caller's rather than the broker's trouble: one more try at most. */
const CONTEXT_MAX_ATTEMPTS = 2;

/**
 * Decides whether a failed try is followed by another.
 *
 * Exponential backoff with full jitter between minDelayMs and maxDelayMs; a Retry-After (RFC 9110 § 10.2.3) sets
 * the least wait.
 *
 * @param attempt number of the try that failed, from 1
 */
export function decideRetry(
  attempt: number,
  failure: Failure,
  policy: RetryPolicy,
  clock: RetryClock,
): RetryDecision {
  const asked = askedDelayMs(failure, policy, clock.nowMs);
  if (asked === 'too-long') return { action: 'stop', reason: 'retry-after-too-long' };
  const maxAttempts =
    failure.kind === 'context-unavailable'
      ? Math.min(CONTEXT_MAX_ATTEMPTS, policy.maxAttempts)
      : policy.maxAttempts;
  if (attempt >= maxAttempts) return { action: 'stop', reason: 'attempts-used-up' };
  return {
    action: 'wait',
    ms: Math.max(backoffMs(attempt, policy, clock.random), asked),
  };
}

/** The pause that the broker asks for, in milliseconds; 0 without one, `too-long` when it is not waited for. */
export function askedDelayMs(
  { retryAfter }: Failure,
  policy: RetryPolicy,
  nowMs: number,
): number | 'too-long' {
  const asked = retryAfter === undefined ? 0 : (parseRetryAfter(retryAfter, nowMs) ?? 0);
  return asked > policy.maxDelayMs * RETRY_AFTER_MAX_DELAYS ? 'too-long' : asked;
}

/** Full jitter: evenly spread between the least delay and a ceiling that doubles with each try. */
export function backoffMs(attempt: number, policy: RetryPolicy, random: number): number {
  const ceiling = Math.max(policy.minDelayMs, Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** attempt));
  return Math.round(policy.minDelayMs + random * (ceiling - policy.minDelayMs));
}
