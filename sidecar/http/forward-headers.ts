import type { IncomingMessage } from 'node:http';
import { endToEndHeaders, isNamed } from './hop-by-hop.js';

/** A request's headers as the broker gets them, names and values in turn. */
export type ForwardedHeaders = (req: IncomingMessage) => string[];

/**
 * Makes the headers of requests as the broker gets them. Unchanged in order, spelling and repetition, but for
 *
 * - hop-by-hop fields and `stripped` ones, which are left out; `Expect` is answered by this gateway;
 * - `Host`, which undici sets to the broker: virtual hosts and TLS certificates depend on it. The client's goes into
 *   `X-Forwarded-Host`, with `X-Forwarded-Proto`, unless a proxy before this one has set them;
 * - `X-Forwarded-For` and `Via`, to which the client's address and this gateway are appended. They are appended to the
 *   last line of that name, because brokers exist that read one line only.
 *
 * @param stripped lower-case names that end here
 * @param viaName this gateway's own name in Via
 */
export function createForwardedHeaders(stripped: readonly string[], viaName: string): ForwardedHeaders {
  const endingHere = new Set([...stripped, 'host', 'expect']);
  return (req) => {
    const fields = endToEndHeaders(req.rawHeaders, endingHere);
    if (req.headers.host !== undefined) addMissing(fields, 'X-Forwarded-Host', req.headers.host);
    addMissing(fields, 'X-Forwarded-Proto', 'encrypted' in req.socket ? 'https' : 'http');
    if (req.socket.remoteAddress !== undefined) append(fields, 'X-Forwarded-For', req.socket.remoteAddress);
    append(fields, 'Via', `${req.httpVersion} ${viaName}`);
    return fields;
  };
}

function addMissing(fields: string[], name: string, value: string): void {
  if (lastNamed(fields, name) === -1) fields.push(name, value);
}

function append(fields: string[], name: string, element: string): void {
  const last = lastNamed(fields, name);
  if (last === -1) fields.push(name, element);
  else fields[last + 1] = fields[last + 1] === '' ? element : `${fields[last + 1]}, ${element}`;
}

/** Where the last field of that name begins, or -1. */
function lastNamed(fields: readonly string[], name: string): number {
  const key = name.toLowerCase();
  for (let at = fields.length - 2; at >= 0; at -= 2) if (isNamed(fields[at], key)) return at;
  return -1;
}
