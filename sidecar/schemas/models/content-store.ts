import { LRUCache } from 'lru-cache';
import { hash } from 'node:crypto';
import { type ContentRef, type SchemaStore, StoreUnavailableError } from '../../store/index.js';

/** A document that is sent unchanged. */
export interface ServedDocument {
  readonly bytes: Buffer;
  readonly mediaType: string;
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Compared with `If-None-Match`, and with `If-Match` of a later write. */
  readonly etag: string;
  /** Whether the document names contexts of this service by their stored URLs; see `withBaseUrl`. */
  readonly isInternal?: boolean;
}

/** Values by key. A value that is larger than the whole cache is not kept. */
export type Cache<Value extends object> = LRUCache<string, Value, () => Promise<Value>>;

/** Creates a cache. @param sizeOf estimates the size of a value in bytes; the length of the key is added */
export function createCache<Value extends object>(
  maxBytes: number,
  sizeOf: (value: Value) => number,
): Cache<Value> {
  return new LRUCache({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: (value, key) => Math.max(1, sizeOf(value) + key.length),
    fetchMethod: (_key, _stale, { context: make }) => make(),
    ignoreFetchAbort: true,
  });
}

/** Returns the cached value, or a new one. Concurrent callers share one call of `make`; failures are not cached. */
export async function getOrCreate<Value extends object>(
  cache: Cache<Value>,
  key: string,
  make: () => Promise<Value>,
): Promise<Value> {
  return cache.get(key) ?? cache.forceFetch(key, { context: make });
}

/** Texts in the store. They are named by their hash, so they never change. */
export class ContentStore {
  readonly #store: SchemaStore;
  readonly #served: Cache<ServedDocument>;

  constructor(store: SchemaStore, served: Cache<ServedDocument>) {
    this.#store = store;
    this.#served = served;
  }

  /** Reads a text. @throws StoreUnavailableError if the text is no longer referenced; see {@link retryIfContentGone} */
  async text({ sha256 }: ContentRef): Promise<string> {
    const text = await this.#store.content(sha256);
    if (text === undefined) throw new ContentGoneError(`Content ${sha256} is no longer in the database.`);
    return text;
  }

  /** Returns a text as a document to send. @throws StoreUnavailableError as `text` */
  async served(content: ContentRef, mediaType: string): Promise<ServedDocument> {
    const key = `${mediaType} ${content.sha256}`;
    return getOrCreate(this.#served, key, async () => toServedDocument(await this.text(content), mediaType));
  }

  /** Returns a context as a document to send, with URLs of this service's contexts that the client can reach. */
  async servedContext(content: ContentRef, baseUrl: string): Promise<ServedDocument> {
    const stored = await this.served(content, MEDIA_TYPES.context);
    if (stored.isInternal !== true) return stored;
    const key = `${MEDIA_TYPES.context} ${content.sha256} ${baseUrl}`;
    const make = async () =>
      toServedDocument(withBaseUrl(stored.bytes.toString(), baseUrl), MEDIA_TYPES.context);
    return getOrCreate(this.#served, key, make);
  }
}

/** A text was removed after it was looked up, because its model, context or document was deleted or replaced. */
export class ContentGoneError extends StoreUnavailableError {}

/** Runs `read` again if something was deleted or replaced between two of its reads. */
export async function retryIfContentGone<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ContentGoneError)) throw error;
    return read();
  }
}

export const MEDIA_TYPES = {
  schema: 'application/schema+json',
  openapi: 'application/json',
  context: 'application/ld+json',
} as const;

/** Converts a text into a document to send. Its ETag is its hash. */
export function toServedDocument(text: string, mediaType: string): ServedDocument {
  const bytes = Buffer.from(text);
  const sha256 = hash('sha256', bytes);
  const isInternal = mediaType === MEDIA_TYPES.context && text.includes(`"${INTERNAL_BASE}/`);
  return { bytes, mediaType, sha256, etag: sha256, ...(isInternal ? { isInternal } : {}) };
}

/** The path of contexts below the base URL of this service. */
const CONTEXTS_PATH = '/api/v2/contexts';

/** A context of this service, with its version if the URL names one. */
export interface NamedContext {
  readonly name: string;
  readonly version: number | undefined;
}

/**
 * The URL by which clients and brokers refer to a context.
 *
 * @param baseUrl of this service, without a trailing slash
 * @param version the current version by default; the content of a given version never changes
 */
export function contextUrl(baseUrl: string, name: string, version?: number): string {
  return `${baseUrl}${CONTEXTS_PATH}/${name}${version === undefined ? '' : `?version=${version}`}`;
}

/**
 * Represents the base URL of this service in stored contexts, because brokers and clients reach the service by
 * different URLs. No host has such a name (RFC 2606), and no other context can be below it.
 */
export const INTERNAL_BASE = 'http://gateway.invalid';

/** Replaces stored URLs of this service's contexts with URLs that clients can reach. */
export function withBaseUrl(text: string, baseUrl: string): string {
  return text.replaceAll(`${INTERNAL_BASE}${CONTEXTS_PATH}/`, `${baseUrl}${CONTEXTS_PATH}/`);
}

const LAST_SEGMENT = /\/api\/v2\/contexts\/([^/]+)$/;

/** Returns the context that a URL would name if it were a URL of this service; undefined if it cannot be one. */
export function namedContext(url: string): NamedContext | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  const { pathname, search, hash } = parsed;
  const segment = LAST_SEGMENT.exec(pathname)?.[1]?.replaceAll(/%7E/gi, '~');
  if (segment === undefined || hash !== '' || !/^[A-Za-z0-9_.~-]+$/.test(segment)) return undefined;
  if (search === '') return { name: segment, version: undefined };
  const version = /^\?version=([1-9]\d{0,8})$/.exec(search)?.[1];
  return version === undefined ? undefined : { name: segment, version: Number(version) };
}

/** Whether a URL is below a base URL. */
export function isUnderBaseUrl(url: string, baseUrl: string): boolean {
  return url.startsWith(`${baseUrl}/`);
}
