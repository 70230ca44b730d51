import { NotFoundError, PreconditionFailedError, type Thing } from '../store/errors.js';
import type { IfMatch } from '../store/store.js';

/**
 * Refuses before any work what the store would refuse after it.
 *
 * @throws PreconditionFailedError when the thing has none of the expected ETags
 */
export function requireMatch(thing: Thing, etag: string, ifMatch: IfMatch | undefined): void {
  if (ifMatch?.includes(etag) === false) throw new PreconditionFailedError(thing, etag);
}

/** What was read, or undefined when the thing itself is not there. @throws NotFoundError for what it would be in */
export async function ifThere<Found>(kind: Thing['kind'], read: Promise<Found>): Promise<Found | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof NotFoundError && error.thing.kind === kind) return undefined;
    throw error;
  }
}
