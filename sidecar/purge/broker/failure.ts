/** Failed requests to the broker as plain data, for the retry policy and every decision above it. */
import { parseBrokerProblem, type BrokerProblem } from './broker-problem.js';
import type { BrokerReply } from './exchange.js';

export type { BrokerReply };

/** Why a request failed, for reasons that may pass. */
export type FailureKind =
  | 'throttled'
  | 'broker-error'
  | 'context-unavailable'
  | 'timeout'
  | 'unreachable'
  /** Answered as a success with a list that no query can have: the broker hides that its query failed. */
  | 'failed-query'
  /** Not sent: the purge might exceed its bound. */
  | 'withheld';

export interface Failure {
  readonly kind: FailureKind;
  /** Status of the answer, if there was one. */
  readonly status?: number;
  /** The broker's Retry-After as sent. */
  readonly retryAfter?: string;
  readonly problem?: BrokerProblem;
  /** The request was not sent, for lack of a connection. */
  readonly wasNeverSent?: true;
  readonly cause?: unknown;
}

/** Server errors that mean "not this way" rather than "not now" (RFC 9110 § 15.6, RFC 5842, RFC 2774, RFC 6585). */
const PERMANENT_SERVER_ERRORS: ReadonlySet<number> = new Set([501, 505, 508, 510, 511]);

/** True for the statuses worth another try: 429 and every 5xx except the permanent ones. */
export function isRetryableStatus(status: number): boolean {
  return status === 429 || (status >= 500 && status <= 599 && !PERMANENT_SERVER_ERRORS.has(status));
}

/** The failure in a reply; undefined when the reply is final. */
export function failureOf(reply: BrokerReply): Failure | undefined {
  if (!isRetryableStatus(reply.status)) return undefined;
  const problem = parseBrokerProblem(reply);
  const retryAfter = reply.headers.get('retry-after');
  return {
    kind:
      reply.status === 429 ? 'throttled' : isContextProblem(problem) ? 'context-unavailable' : 'broker-error',
    status: reply.status,
    problem,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

/**
 * LdContextNotAvailable is 504 in V1.9.1 (Table 6.3.2-1) and was 503 before. Both are in use, so the type decides.
 */
function isContextProblem(problem: BrokerProblem): boolean {
  return /LdContextNotAvailable/i.test(problem.type ?? '');
}
