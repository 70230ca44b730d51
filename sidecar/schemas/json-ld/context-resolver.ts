import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import { isObject, type JsonObject } from '../../shared/json/json.js';

/** Maps of terms that a context may lead to, each counted as often as it is applied. */
const MAX_APPLIED = 1000;

/** Contexts that a processor keeps, by their URLs and texts. */
const MAX_CACHED = 100;

/** What the package finds the contexts with that a context names. */
export interface ContextResolver {
  resolve(options: object): Promise<readonly unknown[]>;
}

interface ResolveOptions {
  readonly context: unknown;
  /** What relative references in the context are relative to. */
  readonly base: string;
}

interface RemoteOptions {
  /** The URLs that led here. */
  readonly cycles: ReadonlySet<string>;
}

/** A map of terms or null, and what the package keeps of processing it. */
interface ResolvedContext {
  readonly document: unknown;
}

type SharedCache = Pick<LRUCache<string, object>, 'get' | 'set'>;

interface PackageResolver {
  resolve(options: ResolveOptions): Promise<readonly ResolvedContext[]>;
  _resolveRemoteContext(options: RemoteOptions): Promise<unknown>;
}

// The package does not export them, and takes another resolver as an option.
const require = createRequire(import.meta.url);
const Resolver = require('jsonld/lib/ContextResolver.js') as new (options: {
  readonly sharedCache: SharedCache;
}) => PackageResolver;
const Resolved = require('jsonld/lib/ResolvedContext.js') as new (options: {
  readonly document: unknown;
}) => ResolvedContext;
const JsonLdError = require('jsonld/lib/JsonLdError.js') as new (
  message: string,
  name: string,
  details: object,
) => Error;
const { prependBase } = require('jsonld/lib/url.js') as {
  prependBase: (base: string, url: string) => string;
};

/** A map and what it imports, as one. */
class MergedContext extends Resolved {}

/**
 * The package's resolver, with two differences.
 *
 * - The package counts all contexts that an operation loads by their URLs, and stops at 10. Here, 10 is how deep they may refer
 *   to each other, and what is counted is what processing them costs: how many maps of terms are applied one after the other.
 * - What a map imports becomes part of it before it is processed (JSON-LD 1.1 API § 4.1.2, step 5.6). The package would look for
 *   it after `@vocab`, `@language` and `@base`, so that these could not be imported.
 */
class BoundedResolver extends Resolver {
  /** Maps with what they import, for this operation. */
  readonly #merged = new Map<string, ResolvedContext>();

  override async resolve(options: ResolveOptions): Promise<readonly ResolvedContext[]> {
    const resolved = await super.resolve(options);
    if (resolved.length > MAX_APPLIED) throw contextError('context overflow', 'Too many contexts.');
    const merged: ResolvedContext[] = [];
    for (const one of resolved) merged.push(await this.#withImport(one, options));
    return merged;
  }

  override _resolveRemoteContext(options: RemoteOptions): Promise<unknown> {
    return super._resolveRemoteContext({ ...options, cycles: new Set(options.cycles) });
  }

  async #withImport(resolved: ResolvedContext, options: ResolveOptions): Promise<ResolvedContext> {
    const map = mapIn(resolved);
    if (map === undefined || !Object.hasOwn(map, '@import')) return resolved;
    const { '@import': reference, ...own } = map;
    if (typeof reference !== 'string')
      throw contextError('invalid @import value', '@import must be a string.');
    const url = prependBase(options.base, reference);
    const key = `${url} ${JSON.stringify(own)}`;
    const known = this.#merged.get(key);
    if (known !== undefined) return known;
    const merged = new MergedContext({ document: { ...(await this.#imported(url, options)), ...own } });
    this.#merged.set(key, merged);
    return merged;
  }

  /** The one map at a URL, which may not import another. */
  async #imported(url: string, options: ResolveOptions): Promise<JsonObject> {
    const found = await super.resolve({ ...options, context: url });
    if (found.some((one) => one instanceof MergedContext))
      throw contextError('invalid context entry', 'An imported context must not import another one.');
    const [map] = found.map(mapIn);
    if (found.length !== 1 || map === undefined)
      throw contextError('invalid remote context', '@import must name a single map of terms.');
    return map;
  }
}

function mapIn({ document }: ResolvedContext): JsonObject | undefined {
  if (!isObject(document)) return undefined;
  if (!Object.hasOwn(document, '@context')) return document;
  const inner = document['@context'];
  return isObject(inner) ? inner : undefined;
}

function contextError(code: string, message: string): Error {
  return new JsonLdError(message, 'jsonld.SyntaxError', { code });
}

/** Makes the resolver of each operation of a processor. They share what may be kept from one operation to the next. */
export function contextResolvers(): () => ContextResolver {
  const sharedCache = new LRUCache<string, object>({ max: MAX_CACHED });
  return () => new BoundedResolver({ sharedCache });
}
