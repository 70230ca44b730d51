import type { BrokerProblem, Failure } from './broker/index.js';
import { GatewayError, type ProblemKind, type ProblemMembers } from '../shared/errors.js';

/** How an error ended a purge: it was refused as requested, it failed, or it was stopped. */
export type PurgeOutcome = 'refused' | 'failed' | 'stopped';

/** An error that ends a purge, and says how. A purge that had begun to delete is never recorded as refused, but as failed. */
export abstract class PurgeError extends GatewayError {
  readonly outcome: PurgeOutcome = 'failed';
}

/** Returns how an error ended a purge. An error of anything but the purge itself is a failure. */
export function outcomeOf(error: unknown): PurgeOutcome {
  return error instanceof PurgeError ? error.outcome : 'failed';
}

/** The query is refused as written, mostly before anything was sent to the broker. */
export class QueryRefusedError extends PurgeError {
  override readonly outcome = 'refused';

  /**
   * @param kind the standard's error type: InvalidRequest for parameters (clause 6.3.20), BadRequestData for content
   * @param parameter the query parameter at fault, if it is one
   */
  constructor(
    readonly kind: 'invalidRequest' | 'badRequestData',
    message: string,
    readonly parameter?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  override get members(): ProblemMembers {
    return this.parameter === undefined ? {} : { parameter: this.parameter };
  }
}

/** The query asks for something that this gateway or the broker does not support. */
export class UnsupportedRequestError extends PurgeError {
  readonly kind = 'notSupported';
  override readonly outcome = 'refused';
}

/** The policy of the gateway forbids the purge. */
export class PolicyRefusedError extends PurgeError {
  readonly kind = 'forbiddenByPolicy';
  override readonly outcome = 'refused';
}

/** The limit of running purges is reached; nothing was sent to the broker. */
export class TooManyPurgesError extends GatewayError {
  readonly kind = 'tooManyPurges';
  override readonly retryAfter = '5';

  constructor(max: number, what: 'purges' | 'dry runs' | 'scans') {
    super(
      `The maximum number of running ${what}, ${max}, is reached (PURGE_MAX_RUNNING). Nothing was deleted. Try again later.`,
    );
  }
}

/** The broker ignores a filter of the query, so deleting would reach too much. */
export class FilterIgnoredError extends PurgeError {
  readonly kind = 'filterIgnored';
  override readonly outcome = 'refused';

  constructor(
    readonly parameter: string,
    message: string,
  ) {
    super(message);
  }

  override get members(): ProblemMembers {
    return { parameter: this.parameter };
  }
}

/** The broker listed an entity that the query's id or idPattern excludes, or whose id is too long to check. */
export class UnexpectedEntityError extends GatewayError {
  readonly kind = 'unexpectedEntity';

  /** At most 200 characters. */
  readonly entityId: string;

  constructor(
    entityId: string,
    readonly parameter: 'id' | 'idPattern',
  ) {
    const shown = entityId.slice(0, 200);
    super(`The broker listed entity ${shown}, which the query's ${parameter} excludes.`);
    this.entityId = shown;
  }

  override get members(): ProblemMembers {
    return { entityId: this.entityId, parameter: this.parameter };
  }
}

/** More matches than may be affected. */
export class TooManyMatchesError extends PurgeError {
  readonly kind = 'tooManyMatches';
  override readonly outcome = 'refused';

  /**
   * @param exact false if `matched` is only the number seen before stopping
   * @param message replaces the usual message
   */
  constructor(
    readonly matched: number,
    readonly maxAffected: number,
    readonly exact: boolean,
    message = `The query matches ${exact ? '' : 'at least '}${matched}, more than the ${maxAffected} ` +
      'that may be affected. Count them with dryRun=true, narrow the query, or raise the maximum.',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  override get members(): ProblemMembers {
    return { matched: this.matched, maxAffected: this.maxAffected };
  }
}

/** Statuses by which a broker says that it will not do what was requested, however often it is asked. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 409, 501]);

/** The broker permanently refused a request of the purge. */
export class BrokerRefusedError extends PurgeError {
  readonly kind = 'brokerRefused';
  override readonly outcome: PurgeOutcome;

  constructor(
    readonly operation: string,
    readonly problem: BrokerProblem,
    readonly wwwAuthenticate?: string,
  ) {
    super(
      problem.status === 501 || problem.status === 405
        ? `The broker cannot ${operation}: it does not implement this operation (status ${problem.status}).`
        : `The broker refused to ${operation} with status ${problem.status}.`,
    );
    this.outcome = REFUSALS.has(problem.status) ? 'refused' : 'failed';
  }

  override get members(): ProblemMembers {
    return { broker: this.problem };
  }
}

/** Statuses that refuse a query for its content. */
const QUERY_REFUSED = [400, 404, 422] as const;

/** Returns the answer to a query; undefined if the broker refuses the query for its content, by one of these statuses. */
export async function unlessQueryRefused<Answer>(
  answer: Promise<Answer>,
  statuses: readonly number[] = QUERY_REFUSED,
): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof BrokerRefusedError && statuses.includes(error.problem.status)) return undefined;
    throw error;
  }
}

/** Whether the broker refused a query because it does not understand or support it. */
export function isNotUnderstood(error: unknown): error is BrokerRefusedError {
  return error instanceof BrokerRefusedError && [400, 422, 501].includes(error.problem.status);
}

/** All tries of a request failed, or the broker answers nothing but failures. */
export class BrokerFailedError extends GatewayError {
  readonly kind: ProblemKind;
  override readonly retryAfter: string | undefined;

  constructor(
    readonly operation: string,
    readonly failure: Failure,
    readonly reason: 'attempts-used-up' | 'retry-after-too-long' | 'nothing-but-failures' | 'away-too-long',
  ) {
    super(`The broker did not ${operation}: ${describeFailure(failure)} (${WHY[reason]}).`, {
      cause: failure.cause,
    });
    this.kind = KIND_OF_FAILURE[failure.kind];
    this.retryAfter =
      failure.retryAfter ?? (failure.kind === 'throttled' ? THROTTLED_RETRY_AFTER_S : undefined);
  }

  override get members(): ProblemMembers {
    return this.failure.problem === undefined ? {} : { broker: this.failure.problem };
  }
}

const KIND_OF_FAILURE = {
  throttled: 'brokerThrottled',
  timeout: 'brokerTimeout',
  unreachable: 'brokerUnreachable',
  'context-unavailable': 'brokerContextUnavailable',
  'broker-error': 'brokerFailed',
  'failed-query': 'brokerFailed',
  withheld: 'brokerFailed',
} as const satisfies Record<Failure['kind'], ProblemKind>;

/** Seconds after which to try again if the broker throttles and does not say when. */
const THROTTLED_RETRY_AFTER_S = '10';

const WHY = {
  'attempts-used-up': 'all tries failed',
  'retry-after-too-long': 'it asks to wait longer than this purge may',
  'nothing-but-failures': 'it answers nothing but failures',
  'away-too-long': 'it did not come back in time',
} as const;

/** The answer cannot be read, or contradicts others. */
export class BrokerReplyError extends GatewayError {
  readonly kind = 'brokerReplyUnusable';
}

/** The broker shows only part of the matches, so a maximum cannot be checked. */
export class UncountableError extends GatewayError {
  readonly kind = 'uncountableMatches';
}

/** The purge does not come to an end: matches keep arriving, or none can be deleted in time. */
export class NotConvergingError extends GatewayError {
  readonly kind = 'notConverging';
}

/** The purge was stopped: its client disconnected, it was cancelled, the process is shutting down, or its lease has ended. */
export class PurgeStoppedError extends PurgeError {
  readonly kind = 'shuttingDown';
  override readonly retryAfter = '5';
  override readonly outcome = 'stopped';
}

/** @throws PurgeStoppedError */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) {
    throw new PurgeStoppedError(
      'The purge was stopped before it was complete. Send it again to delete the remaining matches.',
    );
  }
}

/** Waits for work that cannot be aborted, unless the purge is stopped in the meantime. @throws PurgeStoppedError */
export async function unlessStopped<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const over = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([
      work,
      stopped.then(() => {
        throwIfStopped(signal);
        return work;
      }),
    ]);
  } finally {
    over.abort();
  }
}

/** Describes a failure in one line. The only address in it is the configured URL of the broker. */
export function describeFailure(failure: Failure): string {
  switch (failure.kind) {
    case 'throttled':
      return 'it answered 429 (too many requests)';
    case 'context-unavailable':
      return 'it could not load the @context of the request';
    case 'broker-error':
      return `it answered ${failure.status ?? 'an error'}`;
    case 'timeout':
      return 'it did not answer in time';
    case 'withheld':
      return 'it was not asked to, since the maximum might be exceeded';
    case 'unreachable':
    case 'failed-query':
      return failure.cause instanceof Error
        ? failure.cause.message.replace(/\.$/, '')
        : 'it could not be reached';
  }
}
