import { randomBytes } from 'node:crypto';

const KIND = 'ngsi-ld-gateway-';

/** Most gateways of this kind that a request may have passed. Without a ring, it passes one or two. */
export const MAX_HOPS = 10;

/**
 * A name for one gateway process in `Via` (RFC 9110 § 7.6.3). Each process has its own, so that a request that comes back
 * differs from one that comes from another gateway.
 */
export function createViaName(): string {
  return KIND + randomBytes(8).toString('hex');
}

/**
 * A `Via` with this gateway at its end.
 *
 * @param via the field as it was received, if it was
 */
export function withVia(via: string | undefined, name: string): string {
  const element = `1.1 ${name}`;
  return via === undefined || via.trim() === '' ? element : `${via}, ${element}`;
}

/** Why a request goes in circles, according to its `Via`; undefined if it does not. */
export function loopIn(via: string, name: string): 'been-here' | 'too-many-hops' | undefined {
  if (via.includes(name)) return 'been-here';
  return via.split(KIND).length - 1 >= MAX_HOPS ? 'too-many-hops' : undefined;
}
