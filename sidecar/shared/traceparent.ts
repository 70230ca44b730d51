/** The content of a `traceparent` header (W3C Trace Context 1 § 3.2): the trace, the span, and whether the span is sampled. */
export interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Parses a header; undefined if it is invalid. */
export function parseTraceparent(header: string): Traceparent | undefined {
  const [, traceId = '', spanId = '', flags = ''] =
    /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/.exec(header) ?? [];
  return traceId === '' ? undefined : { traceId, spanId, isSampled: (parseInt(flags, 16) & 1) === 1 };
}
