import pLimit, { type LimitFunction } from 'p-limit';
import pRetry from 'p-retry';
import { WorkersBusyError } from '../../shared/workers/errors.js';
import {
  DependencyChangedError,
  NotFoundError,
  type Page,
  type Paged,
  PreconditionFailedError,
  type SchemaStore,
  type ResourceRef,
} from '../../store/index.js';
import { ContentGoneError } from './content-store.js';
import { ConcurrentUpdateError } from './errors.js';

const MAX_ATTEMPTS = 3;

/**
 * Repeats a write if others have changed its input: the state that it overwrites (see {@link writeIfUnchanged}), a document
 * or context that it depends on, or a text that was replaced between two reads.
 *
 * @throws ConcurrentUpdateError if that happens at every attempt; what `attempt` throws
 */
export async function retryOnConflict<Result>(attempt: () => Promise<Result>): Promise<Result> {
  try {
    return await pRetry(attempt, {
      retries: MAX_ATTEMPTS - 1,
      minTimeout: 0,
      shouldRetry: ({ error }) => isOutdated(error),
    });
  } catch (error) {
    throw isOutdated(error) && !(error instanceof ContentGoneError)
      ? new ConcurrentUpdateError({ cause: error })
      : error;
  }
}

function isOutdated(error: unknown): boolean {
  return (
    error instanceof DependencyChangedError ||
    error instanceof ConcurrentUpdateError ||
    error instanceof ContentGoneError
  );
}

/**
 * Writes to the store on the condition that a state is unchanged since it was read. The caller has already checked the
 * client's own condition against that state.
 *
 * @param write requires the ETag that was read
 * @throws ConcurrentUpdateError if the state has changed; what `write` throws
 */
export async function writeIfUnchanged<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    throw error instanceof PreconditionFailedError ? new ConcurrentUpdateError({ cause: error }) : error;
  }
}

/**
 * Returns what was read, or undefined if the resource itself does not exist.
 *
 * @throws NotFoundError if its container does not exist
 */
export function undefinedIfNotFound<Found>(
  kind: ResourceRef['kind'],
  read: Promise<Found>,
): Promise<Found | undefined> {
  return undefinedIfGone(read, (resource) => resource.kind === kind);
}

/**
 * Returns what was read, or undefined if the resource or its container does not exist.
 *
 * @param counts whether the missing resource is one that yields undefined; all by default
 */
export async function undefinedIfGone<Found>(
  read: Promise<Found>,
  counts: (missing: ResourceRef) => boolean = () => true,
): Promise<Found | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof NotFoundError && counts(error.resource)) return undefined;
    throw error;
  }
}

/** Runs `work` for each item, in batches of four; results are in the order of the items. */
export async function mapInBatches<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const all = [...items];
  const results: Result[] = [];
  for (let from = 0; from < all.length; from += BATCH)
    results.push(...(await Promise.all(all.slice(from, from + BATCH).map(work))));
  return results;
}

const BATCH = 4;

/** Number of items per page. */
const PAGE = 1000;

/** Yields all items of a list, page by page. */
export async function* allItems<Item>(list: (page: Page) => Promise<Paged<Item>>): AsyncGenerator<Item> {
  for (let offset = 0, total = 1; offset < total; offset += PAGE) {
    const page = await list({ limit: PAGE, offset });
    total = page.total;
    yield* page.items;
  }
}

/** Maximum number of cached values. */
const MAX_KNOWN = 1000;

/** Caches reads of the store by key until any process writes to it. */
export class ReadCache<Value> {
  readonly #store: Pick<SchemaStore, 'revision'>;
  readonly #known = new Map<string, Value>();
  #revision = '';

  constructor(store: Pick<SchemaStore, 'revision'>) {
    this.#store = store;
  }

  /**
   * Returns the cached value of a key, or reads it if something was written in the meantime.
   *
   * @param read errors are not cached
   * @throws StoreUnavailableError, and what `read` throws
   */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    // Taken before reading, so that a later write is noticed next time.
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

/** Maximum number of writes that wait for one resource; each may hold a body of several megabytes. */
const MAX_WAITING = 100;

/**
 * Runs the writes of one resource one after the other, in the order in which they arrive, and repeats a write that
 * another process overtook. Without the order, writers of one model or context would overtake each other and check
 * outdated states repeatedly.
 */
export class WriteQueue {
  readonly #queues = new Map<string, LimitFunction>();

  /** Number of resources with waiting or running writes. */
  get size(): number {
    return this.#queues.size;
  }

  /**
   * Runs a write when it is its turn.
   *
   * @param key of the resource
   * @param write reads the current state, checks it, and overwrites that state; see {@link retryOnConflict}
   * @throws WorkersBusyError if too many writes wait for the resource; ConcurrentUpdateError; what `write` throws
   */
  async run<Result>(key: string, write: () => Promise<Result>): Promise<Result> {
    const queue = this.#queues.get(key) ?? pLimit(1);
    if (queue.pendingCount >= MAX_WAITING) throw new WorkersBusyError(queue.pendingCount);
    this.#queues.set(key, queue);
    try {
      return await queue(() => retryOnConflict(write));
    } finally {
      if (queue.activeCount + queue.pendingCount === 0) this.#queues.delete(key);
    }
  }
}
