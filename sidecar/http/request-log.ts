import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Problem } from '../shared/problem.js';
import { truncate } from '../shared/format-value.js';

/** Header with the id of a request, as it appears in logs, records and answers, and at the broker. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Only visible characters, so that an id looks the same everywhere. */
const USABLE = /^[\x21-\x7e]{1,128}$/;

const NEW_ID = Symbol('request id');

interface Named extends Pick<IncomingMessage, 'headers'> {
  [NEW_ID]?: string | undefined;
}

/**
 * Returns the id sent with the request (`X-Request-Id`, or else Kong's own), or a new one. Returns the same id each
 * time.
 */
export function requestIdOf(request: Named): string {
  const { headers } = request;
  for (const value of [headers[REQUEST_ID_HEADER], headers['x-kong-request-id']])
    if (typeof value === 'string' && USABLE.test(value)) return value;
  return (request[NEW_ID] ??= randomUUID());
}

/** The longest path that an answer repeats; longer paths are refused. */
const MAX_INSTANCE_CHARS = 8 * 1024;

/** The path of a request as a URI reference for `instance`, without the query, which may contain personal data. */
export function instanceOf(rawUrl: string): string {
  const [path = ''] = rawUrl.slice(0, MAX_INSTANCE_CHARS).split('?', 1);
  return path.replace(
    /[^\x21-\x7e]|["#<>\\^`{|}]|%(?![0-9a-f]{2})/gi,
    (character) => `%${Buffer.from(character, 'latin1').toString('hex').toUpperCase()}`,
  );
}

/**
 * Maximum length of a client's text in a log line, in characters, because any client can cause thousands of such lines.
 */
const MAX_LOGGED_CHARS = 500;

/** The log fields of a refused request. They are always short, and omit the query, which may contain personal data. */
export function refusalFields(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  { status, detail = '' }: Problem,
) {
  return { method, path: loggedPath(url), status, detail: truncate(detail, MAX_LOGGED_CHARS) };
}

/** The path of a request for a log line. */
export function loggedPath(rawUrl: string): string {
  return truncate(instanceOf(rawUrl), MAX_LOGGED_CHARS);
}
