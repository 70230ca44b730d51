import type { IncomingHttpHeaders } from 'node:http';

/** The caller of whom nothing is known. */
export const ANONYMOUS = 'anonymous';

/** Where the gateway in front names who was authenticated, the most telling first. */
const CALLER_HEADERS = [
  'x-consumer-username',
  'x-consumer-id',
  'x-credential-identifier',
  'x-authenticated-userid',
] as const;

const MAX_CALLER_CHARS = 256;

/**
 * Who a request comes from, for the record.
 *
 * @param isVouchedFor the request has the gateway token, so that these headers come from the gateway in front
 */
export function callerOf(headers: IncomingHttpHeaders, isVouchedFor: boolean): string {
  if (!isVouchedFor) return ANONYMOUS;
  for (const name of CALLER_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return utf8(value).slice(0, MAX_CALLER_CHARS);
  }
  return ANONYMOUS;
}

/** Kong sends names as UTF-8, of which Node makes a character a byte. */
function utf8(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
