import { bundledContext } from '../json-ld/bundled-contexts.js';
import { coreContextUrl, coreVersionOf } from '../json-ld/core-context.js';
import { createDocumentLoader, type DocumentLoader } from '../json-ld/document-loader.js';
import { ContextUnavailableError, ContextUnusableError } from '../json-ld/errors.js';
import { RemoteDocumentError } from '../remote/errors.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import type { SchemaStore } from '../schema-store/store.js';
import { rereading, type Contents } from './contents.js';
import { isBelow, namedContext, type NamedContext } from './context-urls.js';
import type { CoreContext } from './core-contexts.js';
import { ifThere } from './preconditions.js';

export interface ContextSources {
  readonly store: SchemaStore;
  readonly contents: Contents;
  readonly remote: RemoteDocuments;
  readonly core: ReadonlyMap<string, CoreContext>;
}

/** Finds contexts by the URLs that name them: those of this service, and documents of allowed origins. */
export class ContextLoading {
  readonly #sources: ContextSources;

  constructor(sources: ContextSources) {
    this.#sources = sources;
  }

  /**
   * A loader for checking a custom context. Every version of the core context counts as the newest one: brokers apply
   * their own, whichever is named (ETSI GS CIM 009 V1.9.1, clause 4.4), and no two versions go together, for their
   * terms are protected.
   *
   * @param baseUrl of this service, as the client reaches it
   * @param ownName of the context that is checked: it cannot build on itself
   */
  checkingLoader(baseUrl: string, ownName: string): DocumentLoader {
    const load = createDocumentLoader({
      resolve: async (url) => {
        const own = this.ownContext(url, baseUrl);
        if (own === undefined) return this.#fetched(url);
        if (own.name === ownName && own.version === undefined)
          throw new ContextUnusableError(url, 'it is the context itself.');
        return this.#stored(own);
      },
    });
    return (url) => load(this.#isCore(url, baseUrl) ? coreContextUrl() : url);
  }

  /**
   * The context of this service that a URL means: of URLs below its base URL, and, as services are known under more than
   * one, of all others of that form but those of origins that documents are fetched from.
   */
  ownContext(url: string, baseUrl: string): NamedContext | undefined {
    const named = namedContext(url);
    return named !== undefined && (isBelow(url, baseUrl) || !this.#sources.remote.allows(url))
      ? named
      : undefined;
  }

  #isCore(url: string, baseUrl: string): boolean {
    const own = this.ownContext(url, baseUrl);
    const isKnown = own !== undefined && (own.version ?? 1) === 1;
    const bundled = isKnown ? this.#sources.core.get(own.name) : undefined;
    return coreVersionOf(bundled?.summary.canonicalUrl ?? url) !== undefined;
  }

  async #stored({ name, version }: NamedContext): Promise<unknown> {
    const { core, store, contents } = this.#sources;
    const bundled = core.get(name);
    if (bundled !== undefined)
      return (version ?? 1) === 1 ? bundledContext(bundled.summary.canonicalUrl) : undefined;
    return rereading(async () => {
      const at = await ifThere('context', store.contexts.get(name, version));
      return at === undefined ? undefined : (JSON.parse(await contents.text(at.version.content)) as unknown);
    });
  }

  async #fetched(url: string): Promise<unknown> {
    const { remote } = this.#sources;
    if (!remote.allows(url)) return undefined;
    try {
      return (await remote.fetch(url)).document;
    } catch (error) {
      if (!(error instanceof RemoteDocumentError)) throw error;
      throw new ContextUnavailableError(url, `cannot be used: ${error.message}`, { cause: error });
    }
  }
}
