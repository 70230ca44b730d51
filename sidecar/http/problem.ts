import { AccessRefusedError } from '../auth/index.js';
import type { Problem } from '../shared/problem.js';
import { BrokerRefusedError } from '../purge/index.js';
import { GatewayError, type ProblemKind } from '../shared/errors.js';
import { PreconditionFailedError } from '../store/index.js';
import { problem, RequestRefusedError } from './refused.js';
import { BODY_MEDIA_TYPES } from './api/body-parser.js';

export interface ProblemAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
}

/** The methods that a read-only resource allows. */
const READ_METHODS = 'GET, HEAD, OPTIONS';

/**
 * Returns the problem for an error.
 *
 * @returns undefined for unexpected errors, which are logged and answered with a bare 500
 */
export function problemOf(error: unknown): ProblemAnswer | undefined {
  if (error instanceof RequestRefusedError) return { problem: error.problem, headers: error.headers };
  if (!(error instanceof GatewayError) || error.kind === 'internalError') return undefined;
  const { kind, message, members } = error;
  return {
    problem: error instanceof BrokerRefusedError ? refusedByBroker(error) : problem(kind, message, members),
    headers: Object.fromEntries(headersOf(error)),
  };
}

/** The answer to an unexpected error; it does not reveal the cause. */
export function unexpectedProblem(): Problem {
  return problem('internalError', 'An unexpected error occurred; the log of the gateway has the cause.');
}

function headersOf(error: GatewayError): readonly (readonly [name: string, value: string])[] {
  const { kind, retryAfter } = error;
  const etag = error instanceof PreconditionFailedError ? error.etag : undefined;
  const challenge = challengeOf(error);
  return [
    ...(retryAfter === undefined ? [] : [['retry-after', retryAfter] as const]),
    ...(kind === 'readOnly' ? [['allow', READ_METHODS] as const] : []),
    ...(etag === undefined ? [] : [['etag', `"${etag}"`] as const]),
    ...(challenge === undefined ? [] : [['www-authenticate', challenge] as const]),
  ];
}

function challengeOf(error: GatewayError): string | undefined {
  if (error instanceof AccessRefusedError) return error.challenge;
  return error instanceof BrokerRefusedError ? error.wwwAuthenticate : undefined;
}

/** Uses the status, type and title of the broker's problem as far as they are usable, and adds its detail. */
function refusedByBroker({ operation, kind, problem: said, message, members }: BrokerRefusedError): Problem {
  const isUsable = (said.status >= 400 && said.status < 500) || said.status === 501;
  const hasType = isUsable && said.type !== undefined && /^https?:\S+$/.test(said.type);
  const detail = said.detail === undefined ? message : `${message} It says: ${said.detail}`;
  return {
    ...problem(kind, detail, members),
    title: said.title ?? `The broker refused to ${operation}`,
    ...(hasType ? { type: said.type } : {}),
    ...(isUsable ? { status: said.status } : {}),
  };
}

/**
 * Returns the problem for a refusal by Fastify (bodies and URLs that it does not read) or by its file server (ranges
 * and conditions that do not fit a file), or for a body whose client disconnected.
 *
 * @param bodyLimit the limit of the route, in bytes
 * @param setting the setting that the limit comes from
 * @param mediaTypes media types that the route accepts
 */
export function problemOfFastify(
  error: unknown,
  bodyLimit: number,
  setting = 'BODY_LIMIT_BYTES or less',
  mediaTypes: readonly string[] = BODY_MEDIA_TYPES,
): ProblemAnswer | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? error.code : undefined;
  // node:http reports this to the reader of the body. No client is left to read the answer.
  if (code === 'ECONNRESET' && error.message === 'aborted')
    return answer('invalidRequest', 'The connection broke before the body was complete.');
  // Errors of the file server have no code; `expose` means that they may be shown to the client.
  if (!('statusCode' in error) || (code === undefined && !('expose' in error))) return undefined;
  const { statusCode: status, message } = error;
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return answer(
        'bodyTooLarge',
        `The body is larger than ${bodyLimit} bytes, the limit here (${setting}).`,
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return answer(
        'mediaTypeNotSupported',
        `The Content-Type is not a media type. Send ${mediaTypes.join(' or ')}.`,
        { accept: mediaTypes.join(', ') },
      );
    default:
      return { problem: { ...problem('invalidRequest', message), status }, headers: {} };
  }
}

function answer(
  kind: ProblemKind,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): ProblemAnswer {
  return { problem: problem(kind, detail), headers };
}
