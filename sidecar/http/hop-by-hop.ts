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
 * The end-to-end fields, in order, with their names, values and repetitions as received: everything but the hop-by-hop
 * fields, those that `Connection` names, and those named in `drop` (lower-case).
 */
export function endToEndHeaders(
  raw: RawHeaders,
  drop: ReadonlySet<string> = new Set(),
): readonly (readonly [name: string, value: string])[] {
  const fields = pairs(raw);
  const named = connectionOptions(fields);
  return fields.filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP_BY_HOP.has(key) && !drop.has(key) && !(named.has(key) && !NEVER_BY_CONNECTION.test(key));
  });
}

/** The values of one field, in order. @param name lower-case */
export function valuesOf(raw: RawHeaders, name: string): readonly string[] {
  return pairs(raw).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
}

/** True when the body is framed by nothing but the chunked transfer coding, the only one that can be undone here. */
export function isPlainlyFramed(raw: RawHeaders): boolean {
  const codings = valuesOf(raw, 'transfer-encoding');
  return codings.length === 0 || codings.join(',').trim().toLowerCase() === 'chunked';
}

function pairs(raw: RawHeaders): (readonly [string, string])[] {
  const fields: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    fields.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return fields;
}

function connectionOptions(fields: readonly (readonly [string, string])[]): ReadonlySet<string> {
  const values = fields.flatMap(([name, value]) =>
    name.toLowerCase() === 'connection' ? value.split(',') : [],
  );
  return new Set(values.map((option) => option.trim().toLowerCase()));
}
