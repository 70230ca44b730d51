import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Problem } from '../ngsi-ld/problem.js';
import { cut } from '../shared/shown.js';

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
  return (request[NEW_ID] ??= randomUUID());
}

/** Longest path that an answer repeats; longer paths are refused. */
const MAX_INSTANCE_CHARS = 8 * 1024;

/** The path of a request as a URI reference for `instance`: no query, which may hold personal data. */
export function instanceOf(rawUrl: string): string {
  const [path = ''] = rawUrl.slice(0, MAX_INSTANCE_CHARS).split('?', 1);
  return path.replace(
    /[^\x21-\x7e]|["#<>\\^`{|}]|%(?![0-9a-f]{2})/gi,
    (character) => `%${Buffer.from(character, 'latin1').toString('hex').toUpperCase()}`,
  );
}

/** Longest text of a client in a log line, in characters: whoever may send requests may make such lines by the thousand. */
const MAX_LOGGED_CHARS = 500;

/** What the log says of a refused request; always short, and without the query, which may hold personal data. */
export function refusalFields(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  { status, detail = '' }: Problem,
) {
  return { method, path: loggedPath(url), status, detail: cut(detail, MAX_LOGGED_CHARS) };
}

/** The path of a request in a log line. */
export function loggedPath(rawUrl: string): string {
  return cut(instanceOf(rawUrl), MAX_LOGGED_CHARS);
}
