import {
  DependencyChangedError,
  NotFoundError,
  PreconditionFailedError,
  type Thing,
} from '../../store/errors.js';
import type { IfMatch, SchemaStore } from '../../store/store.js';
import { OvertakenError } from './errors.js';

const MAX_ATTEMPTS = 3;

/**
 * Starts over when others have meanwhile changed what a write was made from.
 *
 * @throws OvertakenError when that happens again and again
 */
export async function retrying<Result>(attempt: () => Promise<Result>): Promise<Result> {
  let overtaken: unknown;
  for (let left = MAX_ATTEMPTS; left > 0; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DependencyChangedError) && !(error instanceof OvertakenError)) throw error;
      overtaken = error;
    }
  }
  throw new OvertakenError({ cause: overtaken });
}

/**
 * Writes over the state that a write was made from.
 *
 * @param isOvertaken whether an error of the store says that others have changed that state
 * @throws OvertakenError for such an error, after which `retrying` starts over; every other error as it is
 */
export async function overtaking<Result>(
  isOvertaken: (error: unknown) => boolean,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    throw isOvertaken(error) ? new OvertakenError({ cause: error }) : error;
  }
}

/** For a write that names the ETag it was made from. */
export function hasAnotherEtag(error: unknown): boolean {
  return error instanceof PreconditionFailedError;
}

/**
 * Refuses before any work what the store would refuse after it.
 *
 * @throws PreconditionFailedError when the ETag is not one of those expected
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

/** Does some work for each of many items, a few at a time; the results are in the order of the items. */
export async function aFewAtATime<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const all = [...items];
  const results: Result[] = [];
  for (let from = 0; from < all.length; from += AT_A_TIME)
    results.push(...(await Promise.all(all.slice(from, from + AT_A_TIME).map(work))));
  return results;
}

const AT_A_TIME = 4;

/** Values that are known at a time. */
const MAX_KNOWN = 1000;

/** What was read from the store, by key, until any process writes to it. */
export class WhileUnwritten<Value> {
  readonly #store: Pick<SchemaStore, 'revision'>;
  readonly #known = new Map<string, Value>();
  #revision = '';

  constructor(store: Pick<SchemaStore, 'revision'>) {
    this.#store = store;
  }

  /**
   * The value of a key: what was read for it, unless something has been written since.
   *
   * @param read what throws is not kept
   * @throws StoreUnavailableError, and what `read` throws
   */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    // Before anything is read: what is written after that is seen the next time.
    const revision = await this.#store.revision();
    if (revision !== this.#revision || this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#revision = revision;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = await read();
    if (this.#revision === revision) this.#known.set(key, found);
    return found;
  }
}
