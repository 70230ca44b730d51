import { bundledContext } from './bundled-contexts.js';
import { safetyFaults } from './context-safety.js';
import { ContextUnavailableError, ContextUnusableError } from './errors.js';
import { isMap, memberOf } from './json.js';

/** What a loader gives for a URL (JSON-LD 1.1 API § 9.4.1, RemoteDocument). */
export interface LoadedDocument {
  readonly documentUrl: string;
  readonly document: unknown;
  /** `static`: the processor may keep the context under this URL for ever. Only for what can never change. */
  readonly tag?: 'static';
}

/**
 * Loads the context of a URL for a JSON-LD processor.
 *
 * @throws ContextUnavailableError, ContextUnusableError, and whatever the resolver throws
 */
export type DocumentLoader = (url: string) => Promise<LoadedDocument>;

export interface DocumentLoaderOptions {
  /**
   * The parsed document of a URL that is not bundled: a stored context, or one of an allowed origin; undefined when
   * there is none. The processor may write into it.
   */
  readonly resolve: (url: string) => Promise<unknown>;
}

/** The one way contexts get into JSON-LD processing: bundled ones, else what the caller resolves, else a refusal. */
export function createDocumentLoader({ resolve }: DocumentLoaderOptions): DocumentLoader {
  return async (url) => {
    const bundled = bundledContext(url);
    if (bundled !== undefined) return { documentUrl: url, document: bundled, tag: 'static' };
    const document = await resolve(url);
    if (document === undefined) throw new ContextUnavailableError(url);
    const context = isMap(document) ? memberOf(document, '@context') : undefined;
    if (context === undefined) throw new ContextUnusableError(url, 'it is no JSON object with an @context.');
    const [fault] = safetyFaults(context);
    if (fault !== undefined) throw new ContextUnusableError(url, fault.detail);
    return { documentUrl: url, document };
  };
}
