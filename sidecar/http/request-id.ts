import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Header by which a request is known in logs, records, answers, and at the broker. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Visible characters, so that an id is the same wherever it is written. */
const USABLE = /^[\x21-\x7e]{1,128}$/;

const NEW_ID = Symbol('request id');

interface Named extends Pick<IncomingMessage, 'headers'> {
  [NEW_ID]?: string | undefined;
}

/** The id that the request came with, `X-Request-Id` before Kong's own, or a new one: each time the same. */
export function requestIdOf(request: Named): string {
  const { headers } = request;
  for (const value of [headers[REQUEST_ID_HEADER], headers['x-kong-request-id']])
    if (typeof value === 'string' && USABLE.test(value)) return value;
  return (request[NEW_ID] ??= newRequestId());
}

/** The id of what came as a request, and could not be read as one. */
export function newRequestId(): string {
  return randomUUID();
}
