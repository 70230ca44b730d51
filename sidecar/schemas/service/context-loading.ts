import { coreContextUrl, coreVersionOf } from '../json-ld/core-context.js';
import { ContextUnavailableError, ContextUnusableError } from '../json-ld/errors.js';
import type { Supply } from '../json-ld/supplied.js';
import type { RemoteDocuments } from '../remote/remote-documents.js';
import type { SchemaStore } from '../store/store.js';
import { rereading, type Contents } from './contents.js';
import { isBelow, namedContext, type NamedContext } from './context-urls.js';
import type { CoreContext } from './core-contexts.js';
import { ifThere } from './preconditions.js';
import { fetchContext } from './remote-context.js';

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
   * The context of a URL, for processing a document with it.
   *
   * @param baseUrl of this service, as the client reaches it
   * @param fetch gets a document of an allowed origin
   * @throws StoreUnavailableError
   */
  async supply(
    url: string,
    baseUrl: string,
    fetch: (url: string) => Promise<Supply> = (one) => fetchContext(this.#sources.remote, one),
  ): Promise<Supply> {
    const own = this.ownContext(url, baseUrl);
    if (own === undefined) return this.#sources.remote.allows(url) ? fetch(url) : unknown(url);
    return (await this.#stored(own)) ?? unknown(url);
  }

  /**
   * The context of a URL, for checking a custom context that names it. Every version of the core context counts as the
   * newest one: brokers apply their own, whichever is named (ETSI GS CIM 009 V1.9.1, clause 4.4), and no two versions go
   * together, for their terms are protected.
   *
   * @param ownName of the context that is checked: it cannot build on itself
   */
  async supplyForCheck(url: string, baseUrl: string, ownName: string): Promise<Supply> {
    const own = this.ownContext(url, baseUrl);
    if (own?.name === ownName && own.version === undefined) {
      const { message } = new ContextUnusableError(url, 'it is the context itself.');
      return { failure: { code: 'CONTEXT_UNUSABLE', detail: message } };
    }
    const core = this.#sources.core.get(own?.name ?? '');
    const isCore = core !== undefined && coreVersionOf(core.summary.canonicalUrl) !== undefined;
    return isCore && (own?.version ?? 1) === 1 ? supplied(this.#newestCore()) : this.supply(url, baseUrl);
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

  /** Whether the base URL, by which clients reach this service, has a say in what URLs mean. */
  dependsOn(baseUrl: string): boolean {
    return this.#sources.remote.allows(`${baseUrl}/`);
  }

  #newestCore(): CoreContext {
    const newest = [...this.#sources.core.values()].find(
      ({ summary }) => summary.canonicalUrl === coreContextUrl(),
    );
    if (newest === undefined) throw new Error('The core context does not come with this product.');
    return newest;
  }

  async #stored({ name, version }: NamedContext): Promise<Supply | undefined> {
    const { core, store, contents } = this.#sources;
    const bundled = core.get(name);
    if (bundled !== undefined) return (version ?? 1) === 1 ? supplied(bundled) : undefined;
    return rereading(async () => {
      const at = await ifThere('context', store.contexts.get(name, version));
      if (at === undefined) return undefined;
      const { content } = at.version;
      return { sha256: content.sha256, text: await contents.text(content) };
    });
  }
}

function supplied({ served: { sha256, bytes } }: CoreContext): Supply {
  return { sha256, text: bytes.toString() };
}

function unknown(url: string): Supply {
  return { failure: { code: 'CONTEXT_REFUSED', detail: new ContextUnavailableError(url).message } };
}
