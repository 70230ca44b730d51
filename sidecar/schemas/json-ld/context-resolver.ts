import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';

/** Maps of terms that a context may lead to, each counted as often as it is applied. */
const MAX_APPLIED = 1000;

/** Contexts that a processor keeps, by their URLs and texts. */
const MAX_CACHED = 100;

/** What the package finds the contexts with that a context names. */
export interface ContextResolver {
  resolve(options: object): Promise<readonly unknown[]>;
}

interface RemoteOptions {
  /** The URLs that led here. */
  readonly cycles: ReadonlySet<string>;
}

type SharedCache = Pick<LRUCache<string, object>, 'get' | 'set'>;

interface PackageResolver extends ContextResolver {
  _resolveRemoteContext(options: RemoteOptions): Promise<unknown>;
}

// The package does not export it, and takes another one as an option.
const require = createRequire(import.meta.url);
const Resolver = require('jsonld/lib/ContextResolver.js') as new (options: {
  readonly sharedCache: SharedCache;
}) => PackageResolver;
const JsonLdError = require('jsonld/lib/JsonLdError.js') as new (
  message: string,
  name: string,
  details: object,
) => Error;

/**
 * The package counts all contexts that an operation loads by their URLs, and stops at 10. Here, 10 is how deep they may refer to
 * each other, and what is counted is what processing them costs: how many maps of terms are applied one after the other.
 */
class BoundedResolver extends Resolver {
  override async resolve(options: object): Promise<readonly unknown[]> {
    const resolved = await super.resolve(options);
    if (resolved.length <= MAX_APPLIED) return resolved;
    throw new JsonLdError('Too many contexts.', 'jsonld.ContextUrlError', { code: 'context overflow' });
  }

  override _resolveRemoteContext(options: RemoteOptions): Promise<unknown> {
    return super._resolveRemoteContext({ ...options, cycles: new Set(options.cycles) });
  }
}

/** Makes the resolver of each operation of a processor. They share what may be kept from one operation to the next. */
export function contextResolvers(): () => ContextResolver {
  const sharedCache = new LRUCache<string, object>({ max: MAX_CACHED });
  return () => new BoundedResolver({ sharedCache });
}
