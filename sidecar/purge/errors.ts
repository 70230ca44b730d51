import type { BrokerProblem } from './broker/broker-problem.js';
import type { Failure } from './broker/failure.js';
import { GatewayError } from '../shared/errors.js';

/** The query cannot be purged as it stands; nothing was sent to the broker. */
export class QueryRefusedError extends GatewayError {
  readonly code = 'PURGE_QUERY_REFUSED';

  /**
   * @param kind the standard's error type: InvalidRequest for parameters (clause 6.3.20), BadRequestData for content
   * @param parameter the query parameter at fault, where it is one
   */
  constructor(
    readonly kind: 'invalidRequest' | 'badRequestData',
    message: string,
    readonly parameter?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The query asks for something this product knows of and cannot honour. */
export class UnsupportedRequestError extends GatewayError {
  readonly code = 'PURGE_UNSUPPORTED';
}

/** The policy of the gateway forbids the purge. */
export class PolicyRefusedError extends GatewayError {
  readonly code = 'PURGE_FORBIDDEN_BY_POLICY';
}

/** As many purges are at work as may be; nothing was sent to the broker. */
export class TooManyPurgesError extends GatewayError {
  readonly code = 'PURGE_TOO_MANY_RUNNING';

  constructor(max: number, what: 'purges' | 'dry runs') {
    super(
      `${max} ${what} are running, and no more may (PURGE_MAX_RUNNING); nothing was deleted. Try again later.`,
    );
  }
}

/** The broker ignores a filter of the query: deleting would reach entities that the caller did not mean. */
export class FilterIgnoredError extends GatewayError {
  readonly code = 'PURGE_FILTER_IGNORED';

  constructor(
    readonly parameter: string,
    message: string,
  ) {
    super(message);
  }
}

/** The broker listed an entity that the query's own id or idPattern excludes, or whose id is too long to tell. */
export class UnexpectedEntityError extends GatewayError {
  readonly code = 'PURGE_UNEXPECTED_ENTITY';

  /** Shortened where a broker sends an endless one. */
  readonly entityId: string;

  constructor(
    entityId: string,
    readonly parameter: 'id' | 'idPattern',
  ) {
    const shown = entityId.slice(0, 200);
    super(`The broker listed entity ${shown}, which the query's ${parameter} excludes.`);
    this.entityId = shown;
  }
}

/** More matches than the purge may touch. */
export class TooManyMatchesError extends GatewayError {
  readonly code = 'PURGE_TOO_MANY_MATCHES';

  constructor(
    readonly matched: number,
    readonly maxAffected: number,
    /** False when `matched` is only what was seen before stopping. */
    readonly exact: boolean,
  ) {
    super(
      `The query matches ${exact ? '' : 'at least '}${matched}, which is more than the ${maxAffected} that may be affected. Count them with dryRun=true; narrow the query, or raise the bound.`,
    );
  }
}

/** The broker refused a request of the purge for good. */
export class BrokerRefusedError extends GatewayError {
  readonly code = 'BROKER_REFUSED';

  constructor(
    readonly operation: string,
    readonly problem: BrokerProblem,
    readonly wwwAuthenticate?: string,
  ) {
    super(
      problem.status === 501 || problem.status === 405
        ? `The broker cannot ${operation}: it does not implement that (status ${problem.status}).`
        : `The broker refused to ${operation} with status ${problem.status}.`,
    );
  }
}

/** A request failed and its tries are used up, or the broker answers nothing but failures. */
export class BrokerFailedError extends GatewayError {
  readonly code = 'BROKER_FAILED';

  constructor(
    readonly operation: string,
    readonly failure: Failure,
    readonly reason: 'attempts-used-up' | 'retry-after-too-long' | 'nothing-but-failures' | 'away-too-long',
  ) {
    super(`The broker did not ${operation}: ${describeFailure(failure)} (${WHY[reason]}).`, {
      cause: failure.cause,
    });
  }
}

const WHY = {
  'attempts-used-up': 'all tries used up',
  'retry-after-too-long': 'it asks to come back later than this purge can wait',
  'nothing-but-failures': 'it answers nothing but failures',
  'away-too-long': 'it was waited for in vain',
} as const;

/** The broker answered with something that cannot be understood or contradicts itself. */
export class BrokerReplyError extends GatewayError {
  readonly code = 'BROKER_REPLY_UNUSABLE';
}

/** The broker does not show all that the query matches, so that a bound on it cannot be checked. */
export class UncountableError extends GatewayError {
  readonly code = 'PURGE_UNCOUNTABLE';
}

/** Matches keep turning up and the broker gives no count to tell old ones from new ones. */
export class NotConvergingError extends GatewayError {
  readonly code = 'PURGE_NOT_CONVERGING';
}

/** The purge was stopped: its caller went away, or the process is shutting down. */
export class PurgeStoppedError extends GatewayError {
  readonly code = 'PURGE_STOPPED';
}

/** One line on a failure, free of addresses. */
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
    case 'unreachable':
      return failure.cause instanceof Error
        ? failure.cause.message.replace(/\.$/, '')
        : 'it could not be reached';
  }
}
