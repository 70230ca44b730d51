import { randomBytes } from 'node:crypto';

const NAME_PREFIX = 'ngsi-ld-gateway-';

/** Maximum number of gateways of this kind that a request may have passed. Without a loop, it passes one or two. */
export const MAX_HOPS = 10;

/**
 * Makes a name for one gateway process in `Via` (RFC 9110 § 7.6.3). It is unique to the process, so that a request that
 * comes back can be told from one that comes from another gateway.
 */
export function createViaName(): string {
  return NAME_PREFIX + randomBytes(8).toString('hex');
}

/** Appends this gateway to a `Via` field. @param via the field as received, if any */
export function withVia(via: string | undefined, name: string): string {
  const element = `1.1 ${name}`;
  return via === undefined || via.trim() === '' ? element : `${via}, ${element}`;
}

/** Returns in which way a request loops, according to its `Via`; undefined if it does not. */
export function detectLoop(via: string, name: string): 'been-here' | 'too-many-hops' | undefined {
  if (via.includes(name)) return 'been-here';
  return via.split(NAME_PREFIX).length - 1 >= MAX_HOPS ? 'too-many-hops' : undefined;
}
