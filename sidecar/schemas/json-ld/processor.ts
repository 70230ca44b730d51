import Module, { createRequire } from 'node:module';
import { contextResolvers, type ContextResolver } from './context-resolver.js';

/** A warning of the processor, e.g. about a member that expansion drops. */
export interface ProcessorEvent {
  readonly code: string;
  readonly level: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** How the processor loads contexts and reports dropped data. */
export interface ProcessorOptions {
  /** Loads every context and document that is needed. */
  readonly documentLoader: DocumentLoader;
  /** Whether to throw an error if data would otherwise be dropped silently. */
  readonly safe?: boolean;
  readonly eventHandler?: (handling: { event: ProcessorEvent; next: () => void }) => void;
}

interface ExpandOptions extends ProcessorOptions {
  /** Applied before the contexts of the document. */
  readonly expandContext?: unknown;
}

interface CompactOptions extends ProcessorOptions {
  /** For documents in expanded form. */
  readonly skipExpansion?: boolean;
}

/** JSON-LD 1.1 processing (JSON-LD 1.1 API § 9.1). Errors are the package's own, with `details.code`. */
export interface JsonLdProcessor {
  expand(document: object, options: ExpandOptions): Promise<unknown[]>;
  compact(document: object, context: unknown, options: CompactOptions): Promise<Record<string, unknown>>;
  /** The active context after processing a context, starting from the initial one (JSON-LD 1.1 API § 4.1). */
  activeContext(context: unknown, options: ProcessorOptions): Promise<ActiveContext>;
  /** The active contexts after each of some contexts, which are processed one after the other. */
  activeContexts(contexts: readonly unknown[], options: ProcessorOptions): Promise<readonly ActiveContext[]>;
}

/** An active context, in the package's form. */
export interface ActiveContext {
  /** Mappings by term; null, or with a null `@id`, for terms that stand for nothing. */
  readonly mappings: ReadonlyMap<string, TermMapping | null>;
  readonly '@vocab'?: string | null;
  readonly '@language'?: string | null;
  readonly '@direction'?: string | null;
}

/** A term definition in an active context; its other members are as written. */
export interface TermMapping {
  readonly '@id': string | null;
  readonly reverse?: boolean;
  readonly _prefix?: boolean;
  readonly '@container'?: readonly string[];
  readonly [name: string]: unknown;
}

// On Node.js, the package loads an HTTP client with an undici of its own, which takes longer than all else that a worker loads.
// That client would only serve the built-in loaders, which are not used.
const require = createRequire(import.meta.url);
const platform = new Module(require.resolve('jsonld/lib/platform.js'));
platform.exports = { setupGlobals: () => {}, setupDocumentLoaders: () => {} };
platform.loaded = true;
require.cache[platform.id] ??= platform;
const newInstance = require('jsonld') as () => Instance;

/** The package's own interface. */
interface Instance {
  documentLoader: unknown;
  expand(document: object, options: object): Promise<unknown[]>;
  compact(document: object, context: unknown, options: object): Promise<Record<string, unknown>>;
  processContext(active: unknown, context: unknown, options: object): Promise<ActiveContext>;
}

/**
 * Creates a processor with its own caches, and without a built-in loader.
 *
 * Contexts given as maps, and those that the loader marks as `static`, stay in its caches, even if their URLs have
 * another meaning later. See `SharedProcessors` for long-term use.
 */
export function createProcessor(): JsonLdProcessor {
  const instance = newInstance();
  instance.documentLoader = async () => {
    throw new Error('A JSON-LD document was to be loaded without a loader.');
  };
  const newResolver = contextResolvers();
  const resolving = <Options>(options: Options): Options & { readonly contextResolver: ContextResolver } => ({
    ...options,
    contextResolver: newResolver(),
  });
  return {
    expand: (document, options) => instance.expand(document, resolving(options)),
    compact: (document, context, options) => instance.compact(document, context, resolving(options)),
    activeContext: async (context, options) => {
      const own = resolving(options);
      return instance.processContext(await instance.processContext(null, null, own), context, own);
    },
    activeContexts: async (contexts, options) => {
      const own = resolving(options);
      const found: ActiveContext[] = [];
      let active = await instance.processContext(null, null, own);
      for (const context of contexts)
        found.push((active = await instance.processContext(active, context, own)));
      return found;
    },
  };
}

/** The result of loading a URL (JSON-LD 1.1 API § 9.4.1, RemoteDocument). */
export interface LoadedDocument {
  readonly documentUrl: string;
  readonly document: unknown;
  /** `static`: the processor may cache the context under this URL for ever. Only for content that can never change. */
  readonly tag?: 'static';
}

/** Loads the context of a URL for a JSON-LD processor. */
export type DocumentLoader = (url: string) => Promise<LoadedDocument>;
