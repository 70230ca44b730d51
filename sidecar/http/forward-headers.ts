import type { IncomingMessage } from 'node:http';

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

/** Header fields that belong to one connection and not to the message (RFC 9110 § 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'http2-settings',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Fields that `Connection` may name in vain: they frame, route, authenticate or describe the message, and removing them
 * would change what the receiver understands. A sender must not name such fields (RFC 9110 § 7.6.1).
 */
const NEVER_BY_CONNECTION =
  /^(?:host|link|via|date|age|allow|etag|vary|expires|location|retry-after|server|range|prefer|preference-applied|authorization|www-authenticate|cache-control|cookie|set-cookie|user-agent|origin|referer|forwarded|traceparent|tracestate|x-auth-token|x-request-id|(?:accept|access-control|content|fiware|if|last|ngsild|x-forwarded)(?:-.*)?)$/;

/**
 * The end-to-end fields, names and values in turn, in order, with their spelling and repetitions as received: everything
 * but the hop-by-hop fields, those that `Connection` names, and those named in `drop` (lower-case).
 */
export function endToEndHeaders(raw: readonly string[], drop?: ReadonlySet<string>): string[] {
  const named = connectionOptions(raw);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || drop?.has(key) === true) continue;
    if (named.has(key) && !NEVER_BY_CONNECTION.test(key)) continue;
    kept.push(name, raw[at + 1] ?? '');
  }
  return kept;
}

/** True when a field has this name. @param name lower-case */
function isNamed(field: string | undefined, name: string): boolean {
  // Comparing the lengths first saves nearly all conversions.
  return field?.length === name.length && field.toLowerCase() === name;
}

const NONE: ReadonlySet<string> = new Set();

function connectionOptions(raw: readonly string[]): ReadonlySet<string> {
  const values = raw.filter((_, at) => at % 2 === 1 && isNamed(raw[at - 1], 'connection'));
  // Nearly all messages.
  if (values.length === 0 || (values.length === 1 && values[0] === 'keep-alive')) return NONE;
  const options = values.flatMap((value) => value.split(','));
  return new Set(options.map((option) => option.trim().toLowerCase()));
}
