import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import { isObject, type JsonObject } from '../../shared/json/json.js';

/** Maximum number of maps of terms that a context may lead to; each counts as often as it is applied. */
const MAX_APPLIED = 1000;

/** Maximum number of contexts that a processor caches, by URL and by text. */
const MAX_CACHED = 100;

/** The part of the package that finds the contexts which a context refers to. */
export interface ContextResolver {
  resolve(options: object): Promise<readonly unknown[]>;
}

interface ResolveOptions {
  readonly context: unknown;
  /** The URL that references in the context are relative to. */
  readonly base: string;
}

interface RemoteOptions {
  /** The URLs that led here. */
  readonly cycles: ReadonlySet<string>;
}

/** A map of terms or null, with the package's cached results of processing it. */
interface ResolvedContext {
  readonly document: unknown;
}

type SharedCache = Pick<LRUCache<string, object>, 'get' | 'set'>;

interface PackageResolver {
  resolve(options: ResolveOptions): Promise<readonly ResolvedContext[]>;
  _resolveRemoteContext(options: RemoteOptions): Promise<unknown>;
}

// The package does not export these classes, but it accepts another resolver as an option.
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

/** Resolves a reference in a document as the processor does, so that both get the same URL. */
export function absoluteReference(base: string, reference: string): string {
  return prependBase(base, reference);
}

/** A map of terms, merged with the map that it imports. */
class MergedContext extends Resolved {}

/**
 * The package's resolver, with two differences.
 *
 * - The package counts the URLs of all contexts that an operation loads, and stops at 10. Here, 10 is the maximum
 * depth of references between contexts. The cost of processing is bounded separately, by the number of maps of terms
 * that are applied one after the other.
 * - What a map imports is merged into it before it is processed (JSON-LD 1.1 API § 4.1.2, step 5.6). The package
 * would read the import after `@vocab`, `@language` and `@base`, so these could not be imported.
 */
class BoundedResolver extends Resolver {
  /** The merged maps of this operation. */
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
    const url = absoluteReference(options.base, reference);
    const key = `${url} ${JSON.stringify(own)}`;
    const known = this.#merged.get(key);
    if (known !== undefined) return known;
    const merged = new MergedContext({ document: { ...(await this.#imported(url, options)), ...own } });
    this.#merged.set(key, merged);
    return merged;
  }

  /** The single map at a URL; it must not import another one. */
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

/** Returns a function that makes a resolver for each operation of a processor. All of them share one cache. */
export function contextResolvers(): () => ContextResolver {
  const sharedCache = new LRUCache<string, object>({ max: MAX_CACHED });
  return () => new BoundedResolver({ sharedCache });
}
