import type { Failure } from '../broker/index.js';

/** Retry settings; all times in milliseconds. */
export interface RetryPolicy {
  /** Tries of one request, the first included. */
  readonly maxAttempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  /** How long to wait for a broker that cannot be reached; 0 for not at all. */
  readonly awayMs: number;
}

/** Time and chance, passed in to keep the policy pure. */
export interface RetryClock {
  /** Milliseconds since the epoch, for Retry-After dates. */
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: number;
}

export type RetryDecision =
  | { readonly action: 'wait'; readonly ms: number }
  | { readonly action: 'stop'; readonly reason: 'attempts-used-up' | 'retry-after-too-long' };

/** A Retry-After longer than this many maximum delays is passed on to the caller instead of awaited. */
const MAX_RETRY_AFTER_DELAYS = 6;

/** An unavailable @context is usually the caller's mistake: one more try at most. */
const MAX_CONTEXT_ATTEMPTS = 2;

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
      ? Math.min(MAX_CONTEXT_ATTEMPTS, policy.maxAttempts)
      : policy.maxAttempts;
  if (attempt >= maxAttempts) return { action: 'stop', reason: 'attempts-used-up' };
  return {
    action: 'wait',
    ms: Math.max(backoffMs(attempt, policy, clock.random), asked),
  };
}

/** The pause that the broker asks for, in milliseconds; 0 without one, `too-long` when it exceeds the limit. */
export function askedDelayMs(
  { retryAfter }: Failure,
  policy: RetryPolicy,
  nowMs: number,
): number | 'too-long' {
  const asked = retryAfter === undefined ? 0 : (parseRetryAfter(retryAfter, nowMs) ?? 0);
  return asked > policy.maxDelayMs * MAX_RETRY_AFTER_DELAYS ? 'too-long' : asked;
}

/** Full jitter: evenly spread between the least delay and a ceiling that doubles with each try. */
export function backoffMs(attempt: number, policy: RetryPolicy, random: number): number {
  const ceiling = Math.max(policy.minDelayMs, Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** attempt));
  return Math.round(policy.minDelayMs + random * (ceiling - policy.minDelayMs));
}

/**
 * Reads a Retry-After value (RFC 9110 § 10.2.3): delay-seconds or an HTTP date.
 *
 * @returns milliseconds from now, never negative; undefined when the value is neither
 */
export function parseRetryAfter(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse takes almost anything ("1", "2 apples"); an HTTP date always starts with a day's name.
  if (!/^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)/i.test(text)) return undefined;
  // The asctime form names no zone; it is GMT like the others, where Date.parse would take local time.
  const at = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Statuses of a broker that is starting or gone, often sent by a proxy in front of it. */
const AWAY_STATUSES: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/** Least pause between probes, whatever the policy: a starting broker is busy. */
const MIN_PAUSE_MS = 100;

/**
 * Whether a failure looks like a broker that cannot be reached: connection refused or broken, or 502 to 504. A time-out
 * does not: something accepted the connection.
 */
export function seemsAway({ kind, status }: Failure): boolean {
  return kind === 'unreachable' || (kind === 'broker-error' && AWAY_STATUSES.has(status));
}

/** The facts about a broker that seems to be away. */
export interface Absence {
  /** Time since the first such failure. */
  readonly forMs: number;
  /** Number of failed probes. */
  readonly probes: number;
  /** The latest failure. */
  readonly failure: Failure;
}

export type ProbeDecision =
  | { readonly action: 'probe'; readonly afterMs: number }
  | { readonly action: 'stop'; readonly reason: 'away-too-long' | 'retry-after-too-long' };

/**
 * Decides whether and when to probe a broker that seems to be away: with pauses that grow like those of retries, until it
 * has been away for `awayMs`. A pause requested by Retry-After is never shortened.
 */
export function decideProbe(absence: Absence, policy: RetryPolicy, clock: RetryClock): ProbeDecision {
  const { forMs, probes, failure } = absence;
  const asked = askedDelayMs(failure, policy, clock.nowMs);
  if (asked === 'too-long') return { action: 'stop', reason: 'retry-after-too-long' };
  if (forMs >= policy.awayMs) return { action: 'stop', reason: 'away-too-long' };
  const pause = Math.max(MIN_PAUSE_MS, backoffMs(probes + 1, policy, clock.random));
  return { action: 'probe', afterMs: Math.max(Math.min(pause, policy.awayMs - forMs), asked) };
}
