/** Header fields that belong to one connection and not to the message (RFC 9110 § 7.6.1). */

/** Names and values in turn, as they were on the wire. */
export type RawHeaders = readonly string[];

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
export function endToEndHeaders(raw: RawHeaders, drop?: ReadonlySet<string>): string[] {
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

/** The values of one field, in order. @param name lower-case */
export function valuesOf(raw: RawHeaders, name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (isNamed(raw[at], name)) values.push(raw[at + 1] ?? '');
  }
  return values;
}

/** True when a field has this name. @param name lower-case */
export function isNamed(field: string | undefined, name: string): boolean {
  // Comparing the lengths first saves nearly all conversions.
  return field?.length === name.length && field.toLowerCase() === name;
}

/**
 * True when a body is framed by nothing but the chunked transfer coding, the only one that can be undone here.
 *
 * @param transferEncoding value of Transfer-Encoding, or all its values
 */
export function isPlainlyFramed(transferEncoding: string | readonly string[] | undefined): boolean {
  return transferEncoding === undefined || transferEncoding.toString().trim().toLowerCase() === 'chunked';
}

const NONE: ReadonlySet<string> = new Set();

function connectionOptions(raw: RawHeaders): ReadonlySet<string> {
  const values = valuesOf(raw, 'connection');
  // Nearly all messages.
  if (values.length === 0 || (values.length === 1 && values[0] === 'keep-alive')) return NONE;
  const options = values.flatMap((value) => value.split(','));
  return new Set(options.map((option) => option.trim().toLowerCase()));
}
