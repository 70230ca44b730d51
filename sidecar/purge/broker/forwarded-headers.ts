/**
 * Request headers of a purge that go to the broker on each of its requests: @context (clause 6.3.5), tenant (6.3.14),
 * loop prevention (6.3.18), credentials and tracing.
 */
export const FORWARDED_HEADERS = [
  'link',
  'ngsild-tenant',
  'fiware-service',
  'fiware-servicepath',
  'authorization',
  'x-auth-token',
  'via',
  'traceparent',
  'tracestate',
  'x-request-id',
] as const;

/** Picks the forwarded headers out of a request's; names are lower-case on both sides. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of FORWARDED_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') picked[name] = value;
    else if (value !== undefined) picked[name] = value.join(', ');
  }
  return picked;
}
