import type { IncomingMessage } from 'node:http';

/** Returns the headers of a request for the broker, as alternating names and values. */
export type ForwardedHeaders = (req: IncomingMessage) => string[];

/**
 * Creates the function that prepares headers for the broker. Order, spelling and repetition are unchanged, with these
 * exceptions:
 *
 * - hop-by-hop fields and `stripped` ones are removed; this gateway answers `Expect` itself;
 * - undici sets `Host` to the broker, because virtual hosts and TLS certificates depend on it. The client's value is
 *   sent in `X-Forwarded-Host`, with `X-Forwarded-Proto`, unless an earlier proxy has set them;
 * - the client's address is appended to `X-Forwarded-For`, and this gateway to `Via`. They are appended to the last
 *   line of that name, because some brokers read only one line.
 *
 * @param stripped lower-case names of headers that are not forwarded
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

/** Returns the position of the last field with this name, or -1. */
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
 * Fields that are kept even if `Connection` names them: they frame, route, authenticate or describe the message, and
 * removing them would change its meaning for the receiver. A sender must not name such fields (RFC 9110 § 7.6.1).
 */
const NEVER_HOP_BY_HOP =
  /^(?:host|link|via|date|age|allow|etag|vary|expires|location|retry-after|server|range|prefer|preference-applied|authorization|www-authenticate|cache-control|cookie|set-cookie|user-agent|origin|referer|forwarded|traceparent|tracestate|x-auth-token|x-request-id|(?:accept|access-control|content|fiware|if|last|ngsild|x-forwarded)(?:-.*)?)$/;

/**
 * Returns the end-to-end fields as alternating names and values, with order, spelling and repetition as received: all
 * except the hop-by-hop fields, those that `Connection` names, and those named in `drop` (lower-case).
 */
export function endToEndHeaders(raw: readonly string[], drop?: ReadonlySet<string>): string[] {
  const named = connectionOptions(raw);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || drop?.has(key) === true) continue;
    if (named.has(key) && !NEVER_HOP_BY_HOP.test(key)) continue;
    kept.push(name, raw[at + 1] ?? '');
  }
  return kept;
}

/** Whether a field has this name. @param name lower-case */
function isNamed(field: string | undefined, name: string): boolean {
  // Comparing the lengths first avoids nearly all conversions.
  return field?.length === name.length && field.toLowerCase() === name;
}

const NONE: ReadonlySet<string> = new Set();

function connectionOptions(raw: readonly string[]): ReadonlySet<string> {
  const values = raw.filter((_, at) => at % 2 === 1 && isNamed(raw[at - 1], 'connection'));
  // True of nearly all messages.
  if (values.length === 0 || (values.length === 1 && values[0] === 'keep-alive')) return NONE;
  const options = values.flatMap((value) => value.split(','));
  return new Set(options.map((option) => option.trim().toLowerCase()));
}
