import { type Failure, parseRetryAfter } from '../broker/index.js';

/** Retry settings; all times in milliseconds. */
export interface RetryPolicy {
  /** Tries of one request, the first included. */
  readonly maxAttempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** How long to wait for a broker that cannot be reached; 0 for not at all. */
  readonly awayMs: number;
}

/** A Retry-After longer than this many maximum delays is passed on to the caller instead of awaited. */
const MAX_RETRY_AFTER_DELAYS = 6;

/** An unavailable @context is usually the caller's mistake: one more try at most. */
const MAX_CONTEXT_ATTEMPTS = 2;

/**
 * Returns how long to wait before a request is tried again: exponential backoff with full jitter. A pause that the broker asks
 * for is kept in addition, for all requests (see Availability).
 *
 * @param attempt number of the try that failed, from 1
 * @param random in [0, 1)
 * @returns milliseconds; undefined if its tries are used up
 */
export function retryDelayMs(
  attempt: number,
  { kind }: Pick<Failure, 'kind'>,
  policy: RetryPolicy,
  random: number,
): number | undefined {
  const most =
    kind === 'context-unavailable' ? Math.min(MAX_CONTEXT_ATTEMPTS, policy.maxAttempts) : policy.maxAttempts;
  return attempt >= most ? undefined : backoffMs(attempt, policy, random);
}

/** Returns the pause that the broker asks for, in milliseconds; 0 without one, `too-long` if it exceeds the limit. */
export function askedDelayMs(
  { retryAfter }: Failure,
  policy: RetryPolicy,
  nowMs: number,
): number | 'too-long' {
  const asked = retryAfter === undefined ? 0 : (parseRetryAfter(retryAfter, nowMs) ?? 0);
  return asked > policy.maxDelayMs * MAX_RETRY_AFTER_DELAYS ? 'too-long' : asked;
}

/** Returns a delay with full jitter: evenly spread between the minimum delay and a ceiling that doubles with each try. */
export function backoffMs(attempt: number, policy: RetryPolicy, random: number): number {
  const ceiling = Math.max(policy.minDelayMs, Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** attempt));
  return Math.round(policy.minDelayMs + random * (ceiling - policy.minDelayMs));
}

/** Statuses of a broker that is starting or gone, often sent by a proxy in front of it. */
const AWAY_STATUSES: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/** Minimum pause between probes, whatever the policy, because a starting broker is busy. */
const MIN_PAUSE_MS = 100;

/**
 * Whether a failure looks like a broker that cannot be reached: connection refused or broken, or 502 to 504. A time-out
 * does not: something accepted the connection.
 */
export function seemsAway({ kind, status }: Failure): boolean {
  return kind === 'unreachable' || (kind === 'broker-error' && AWAY_STATUSES.has(status));
}

/**
 * Returns how long to wait before a broker that seems to be away is probed: longer each time, like retries, until it has been
 * away for `awayMs`.
 *
 * @param probes number of probes that have failed
 * @param forMs how long the outage has lasted, in milliseconds
 * @param random in [0, 1)
 * @returns milliseconds; undefined if the broker has been away for too long
 */
export function probeDelayMs(
  probes: number,
  forMs: number,
  policy: RetryPolicy,
  random: number,
): number | undefined {
  if (forMs >= policy.awayMs) return undefined;
  const pause = Math.max(MIN_PAUSE_MS, backoffMs(probes + 1, policy, random));
  return Math.min(pause, policy.awayMs - forMs);
}
