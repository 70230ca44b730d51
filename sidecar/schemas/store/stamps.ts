import { createHash } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import { PreconditionFailedError, type Thing } from './errors.js';
import type { IfMatch } from './store.js';

/**
 * The ETag of a thing: a hash of all columns it is read from.
 *
 * A hash, not a counter: after a restore from a backup a counter would name other states with numbers already given.
 */
export function etagOf(row: object): string {
  return createHash('sha256').update(JSON.stringify(row)).digest('base64url').slice(0, 22);
}

/** The time of a change: after the one before it, whatever the clock says, so that no two states look the same. */
export function timeAfter(previous: number, clock: Clock): number {
  return Math.max(previous + 1, clock.now());
}

/** @throws PreconditionFailedError when the thing has none of the expected ETags */
export function requireMatch(thing: Thing, etag: string, ifMatch: IfMatch | undefined): void {
  if (ifMatch?.includes(etag) === false) throw new PreconditionFailedError(thing, etag);
}
