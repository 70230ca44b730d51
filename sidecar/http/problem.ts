import { ConfigError } from '../shared/config/load.js';
import type { BrokerProblem } from '../purge/broker/broker-problem.js';
import { errorTypes, ownType, type Problem } from '../ngsi-ld/problem.js';
import { GatewayError } from '../shared/errors.js';
import { apiProblemOf } from './api/problem-of.js';
import {
  BrokerFailedError,
  BrokerRefusedError,
  BrokerReplyError,
  FilterIgnoredError,
  NotConvergingError,
  PolicyRefusedError,
  PurgeStoppedError,
  QueryRefusedError,
  TooManyMatchesError,
  TooManyPurgesError,
  UncountableError,
  UnexpectedEntityError,
  UnsupportedRequestError,
} from '../purge/errors.js';
import { RequestRefusedError } from './errors.js';
import { answer, own, problem, type ProblemAnswer } from './problem-answer.js';

export type { ProblemAnswer };

/** Seconds after which a client may come back to a gateway that is shutting down. */
const SHUTDOWN_RETRY_AFTER_S = '5';

/** Seconds after which a place for a purge may be free. */
const PLACE_RETRY_AFTER_S = '5';

/**
 * The one place that turns errors into problems (RFC 9457); each type of ours has a heading in docs/errors.md.
 *
 * @returns undefined for errors nobody foresaw: those are a bare 500, and their cause goes to the log only
 */
export function problemOf(error: unknown): ProblemAnswer | undefined {
  if (error instanceof RequestRefusedError) return answer(error.problem, error.headers);
  if (error instanceof QueryRefusedError) {
    return answer({
      type: errorTypes[error.kind],
      title: error.kind === 'invalidRequest' ? 'Invalid request' : 'Bad request data',
      status: 400,
      detail: error.message,
      ...(error.parameter === undefined ? {} : { parameter: error.parameter }),
    });
  }
  if (error instanceof UnsupportedRequestError) {
    return own('not-supported', 'Not supported', 501, error.message);
  }
  if (error instanceof PolicyRefusedError)
    return own('forbidden-by-policy', 'Forbidden by policy', 403, error.message);
  if (error instanceof FilterIgnoredError) {
    return own('filter-ignored', 'Filter not honoured by the broker', 501, error.message, {
      parameter: error.parameter,
    });
  }
  if (error instanceof UnexpectedEntityError) {
    return own('unexpected-entity', 'The broker listed an entity it should not', 502, error.message, {
      entityId: error.entityId,
      parameter: error.parameter,
    });
  }
  if (error instanceof TooManyMatchesError) {
    const { matched, maxAffected } = error;
    return own('too-many-matches', 'More matches than may be affected', 409, error.message, {
      matched,
      maxAffected,
    });
  }
  if (error instanceof UncountableError) {
    return own('uncountable-matches', 'Matches cannot be counted', 502, error.message);
  }
  if (error instanceof BrokerRefusedError) return refusedByBroker(error);
  if (error instanceof BrokerFailedError) return failedBroker(error);
  if (error instanceof BrokerReplyError) {
    return own('broker-reply-unusable', 'Unusable answer from the broker', 502, error.message);
  }
  if (error instanceof NotConvergingError) {
    return own('not-converging', 'Matches keep turning up', 503, error.message);
  }
  if (error instanceof PurgeStoppedError) {
    return answer(problem(ownType('shutting-down'), 'Purge stopped', 503, error.message), {
      'retry-after': SHUTDOWN_RETRY_AFTER_S,
    });
  }
  if (error instanceof TooManyPurgesError) {
    return answer(problem(ownType('too-many-purges'), 'Too many purges', 503, error.message), {
      'retry-after': PLACE_RETRY_AFTER_S,
    });
  }
  return apiProblemOf(error);
}

/** What clients are told of an error that nobody foresaw. */
export function unforeseen(): Problem {
  return problem(
    errorTypes.internalError,
    'Internal error',
    500,
    'The gateway failed; its log has the cause.',
  );
}

/** Lines for a person at the terminal about an error that stops the start. */
export function startErrorLines(error: unknown): readonly string[] {
  if (error instanceof ConfigError) {
    return [
      error.message,
      ...error.mistakes.map((mistake) => `  - ${mistake}`),
      'docs/config.md lists all settings.',
    ];
  }
  const message = error instanceof Error ? error.message : String(error);
  return [listenMistake(error) ?? (isOfDatabase(error) ? `DATABASE_PATH: ${message}` : message)];
}

/** The errors of opening a store, which name its path. */
function isOfDatabase(error: unknown): boolean {
  return error instanceof GatewayError && error.code.startsWith('DATABASE_');
}

/** What a person can do about an address that cannot be listened on. */
function listenMistake(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') return undefined;
  const host = 'address' in error ? error.address : 'hostname' in error ? error.hostname : '';
  const at = `${String(host)}${'port' in error ? ` port ${String(error.port)}` : ''}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `Cannot listen on ${at}: something else does. Stop it, or choose another PORT (0 picks a free one).`;
    case 'EACCES':
      return `Cannot listen on ${at}: this user may not. Choose a PORT of 1024 or above.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `Cannot listen on ${at}: HOST is no address of this machine.`;
    default:
      return undefined;
  }
}

/** The broker's own status goes on to the client, with its problem inside ours. */
function refusedByBroker({
  operation,
  problem: said,
  wwwAuthenticate,
  message,
}: BrokerRefusedError): ProblemAnswer {
  const isUsable = (said.status >= 400 && said.status < 500) || said.status === 501;
  return answer(
    {
      type:
        isUsable && said.type !== undefined && /^https?:\S+$/.test(said.type)
          ? said.type
          : ownType('broker-refused'),
      title: said.title ?? `The broker refused to ${operation}`,
      status: isUsable ? said.status : 502,
      detail: said.detail === undefined ? message : `${message} It says: ${said.detail}`,
      broker: brokerMember(said),
    },
    wwwAuthenticate === undefined ? {} : { 'www-authenticate': wwwAuthenticate },
  );
}

function failedBroker(error: BrokerFailedError): ProblemAnswer {
  const { failure } = error;
  const retryAfter = failure.retryAfter;
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  const inside = failure.problem === undefined ? {} : { broker: brokerMember(failure.problem) };
  switch (failure.kind) {
    case 'throttled':
      return own('broker-throttled', 'The broker is throttling', 429, error.message, inside, {
        'retry-after': retryAfter ?? '10',
      });
    case 'timeout':
      return own('broker-timeout', 'Broker timed out', 504, error.message);
    case 'unreachable':
      return own('broker-unreachable', 'Broker out of reach', 502, error.message);
    case 'context-unavailable':
      return answer(
        {
          ...problem(errorTypes.ldContextNotAvailable, '@context not available', 502, error.message),
          ...inside,
        },
        headers,
      );
    case 'broker-error':
      return own('broker-failed', 'The broker failed', 502, error.message, inside, headers);
  }
}

function brokerMember({ status, type, title, detail }: BrokerProblem): Partial<BrokerProblem> {
  return {
    status,
    ...(type === undefined ? {} : { type }),
    ...(title === undefined ? {} : { title }),
    ...(detail === undefined ? {} : { detail }),
  };
}
