import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Header by which a request is known in logs, records, answers, and at the broker. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Visible characters, so that an id is the same wherever it is written. */
const USABLE = /^[\x21-\x7e]{1,128}$/;

/** The id that the request came with, `X-Request-Id` before Kong's own, or a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  for (const value of [headers[REQUEST_ID_HEADER], headers['x-kong-request-id']])
    if (typeof value === 'string' && USABLE.test(value)) return value;
  return randomUUID();
}
