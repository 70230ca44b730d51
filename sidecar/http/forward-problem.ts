import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors } from 'undici';
import { endAfterUpload } from './lingering-close.js';
import type { Problem } from '../shared/problem.js';
import { problem } from './refused.js';
import { instanceOf, requestIdOf } from './request-log.js';
import { errorCode } from '../shared/errors.js';

/** A problem without its `instance`, which is the path of the request. */
export type ProblemDraft = Required<Pick<Problem, 'type' | 'title' | 'status' | 'detail'>>;

/**
 * Answers a request with problem+json (RFC 9457) and discards the rest of its body.
 *
 * @param isLast whether to close the connection without waiting for the rest of the body, e.g. because the client waits
 * for a `100 Continue` that never comes
 */
export function answerProblem(
  req: IncomingMessage,
  res: ServerResponse,
  draft: ProblemDraft,
  isLast = false,
): void {
  const body = Buffer.from(JSON.stringify({ ...draft, instance: instanceOf(req.url ?? '') }));
  const tenant = req.headers['ngsild-tenant'];
  res.writeHead(draft.status, {
    'Content-Type': 'application/problem+json',
    'Content-Length': body.length,
    'X-Request-Id': requestIdOf(req),
    ...(typeof tenant === 'string' ? { 'NGSILD-Tenant': tenant } : {}),
    ...(draft.status === 503 ? { 'Retry-After': '1' } : {}),
    ...(isLast ? { Connection: 'close' } : {}),
  });
  res.write(body); // dropped by node:http if the method is HEAD
  if (isLast) res.end();
  else endAfterUpload(req, res);
}

/** Why forwarding failed, in categories that matter to operators. */
export type FailureKind =
  | 'unreachable'
  | 'timeout'
  | 'unusable-reply'
  | 'unacceptable-request'
  | 'closing'
  | 'busy'
  | 'slow-client';

/** No connection for requests of this kind became free in time. */
export class NoFreeSlotError extends Error {
  readonly code = 'NO_PLACE';
}

/** The client stopped sending its body or reading its answer. */
export class SlowClientError extends Error {
  readonly code = 'SLOW_CLIENT';
}

/** Classifies an error of undici, or one of those above. */
export function failureKind(error: unknown): FailureKind {
  // This error has no code.
  if (error instanceof errors.HTTPParserError) return 'unusable-reply';
  const code = errorCode(error) ?? '';
  if (/^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/.test(code)) return 'timeout';
  if (/^UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/.test(code))
    return 'unacceptable-request';
  if (code === 'NO_PLACE') return 'busy';
  if (code === 'SLOW_CLIENT') return 'slow-client';
  if (/^UND_ERR_(?:CLOSED|DESTROYED)$/.test(code)) return 'closing';
  if (/^(?:UNUSABLE_REPLY|ERR_INVALID_|ERR_HTTP_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|Z_)/.test(code))
    return 'unusable-reply';
  return 'unreachable';
}

/** Whether an established connection broke. */
export function isBrokenConnection(error: unknown): boolean {
  return /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(errorCode(error) ?? '');
}

/** The message for a client whose body does not arrive. */
export const SLOW_CLIENT = 'The body took too long to arrive.';

/** The answer to each kind of failure; reveals nothing about the network behind the gateway. */
export const FAILURE_PROBLEMS: Readonly<Record<FailureKind, ProblemDraft>> = {
  unreachable: problem(
    'brokerUnreachable',
    'The connection to the broker could not be made, or broke before the answer was complete.',
  ),
  timeout: problem('brokerTimeout', 'The broker did not answer in time.'),
  'unusable-reply': problem('brokerReplyUnusable', "The broker's answer does not follow HTTP."),
  'unacceptable-request': problem(
    'invalidRequest',
    'The request cannot be forwarded: its request-target or one of its header fields is not valid HTTP.',
  ),
  closing: problem('shuttingDown', 'The gateway is shutting down.'),
  busy: problem(
    'connectionsBusy',
    'All connections to the broker for requests of this kind are in use. Try again later.',
  ),
  'slow-client': problem('requestTimeout', SLOW_CLIENT),
};
