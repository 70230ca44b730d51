import type { IncomingMessage } from 'node:http';
import { endToEndHeaders } from './hop-by-hop.js';
import type { RawHeaders } from './hop-by-hop.js';

/** Name of this gateway in `Via` (RFC 9110 § 7.6.3). */
const PSEUDONYM = 'ngsi-ld-gateway';

/**
 * The headers of a request as the broker gets them. Unchanged in order, spelling and repetition, but for
 *
 * - hop-by-hop fields and `stripped` ones, which are left out; `Expect` is answered by this gateway;
 * - `Host`, which undici sets to the broker: virtual hosts and TLS certificates depend on it. The client's goes into
 *   `X-Forwarded-Host`, with `X-Forwarded-Proto`, unless a proxy before this one has set them;
 * - `X-Forwarded-For` and `Via`, to which the client's address and this gateway are appended. They are appended to the
 *   last line of that name, because brokers exist that read one line only.
 *
 * @param stripped lower-case names that end here
 * @returns names and values in turn
 */
export function forwardedRequestHeaders(req: IncomingMessage, stripped: ReadonlySet<string>): string[] {
  const fields = endToEndHeaders(req.rawHeaders, new Set([...stripped, 'host', 'expect'])).map(
    ([name, value]): Field => [name, value],
  );
  if (req.headers.host !== undefined) addMissing(fields, 'X-Forwarded-Host', req.headers.host);
  addMissing(fields, 'X-Forwarded-Proto', 'encrypted' in req.socket ? 'https' : 'http');
  if (req.socket.remoteAddress !== undefined) append(fields, 'X-Forwarded-For', req.socket.remoteAddress);
  append(fields, 'Via', `${req.httpVersion} ${PSEUDONYM}`);
  return fields.flat();
}

/** The headers of a response as the client gets them: all but the hop-by-hop ones, unchanged, repetitions included. */
export function forwardedResponseHeaders(raw: RawHeaders): string[] {
  return endToEndHeaders(raw).flat();
}

type Field = [name: string, value: string];

function addMissing(fields: Field[], name: string, value: string): void {
  if (!fields.some(([key]) => key.toLowerCase() === name.toLowerCase())) fields.push([name, value]);
}

function append(fields: Field[], name: string, element: string): void {
  const last = fields.findLast(([key]) => key.toLowerCase() === name.toLowerCase());
  if (last === undefined) fields.push([name, element]);
  else last[1] = last[1] === '' ? element : `${last[1]}, ${element}`;
}
