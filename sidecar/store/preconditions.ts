import { PreconditionFailedError, type Thing } from './errors.js';
import type { IfMatch } from './store.js';

/** @throws PreconditionFailedError when the thing has none of the expected ETags */
export function requireMatch(thing: Thing, etag: string, ifMatch: IfMatch | undefined): void {
  if (ifMatch?.includes(etag) === false) throw new PreconditionFailedError(thing, etag);
}

/** The state that a thing must be in before it is put: absent, present in any form, or with one of these ETags. */
export type Expected = 'absent' | 'present' | IfMatch | undefined;

/**
 * @param etag undefined for a thing that is not there
 * @throws PreconditionFailedError
 */
export function requireExpected(thing: Thing, etag: string | undefined, expected: Expected): void {
  const holds =
    expected === undefined ||
    (expected === 'absent'
      ? etag === undefined
      : etag !== undefined && (expected === 'present' || expected.includes(etag)));
  if (!holds) throw new PreconditionFailedError(thing, etag);
}
