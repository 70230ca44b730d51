import type { IncomingMessage } from 'node:http';
import type { Problem } from '../ngsi-ld/problem.js';
import { cut } from '../shared/shown.js';
import { instanceOf } from './forward-problem.js';

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
