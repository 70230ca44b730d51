import { hash } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import type { RunOptions, TaskRunner } from '../../shared/workers/tasks.js';
import type { ReadTerms } from '../json-ld/check-context.js';
import { coreContextUrl, coreVersionOf } from '../json-ld/core-context.js';
import { noSuchContext, type ContextResult, unusableContext } from '../json-ld/errors.js';
import { runWithContexts } from '../json-ld/outcomes.js';
import type { JsonLdTasks } from '../json-ld/tasks.js';
import { documentUri } from '../json-schema/uri.js';
import { RemoteDocumentError, type RemoteDocuments, type RemoteFailure } from '../remote/remote-documents.js';
import type { SchemaStore } from '../../store/index.js';
import { undefinedIfNotFound } from './concurrency.js';
import {
  type ContentStore,
  createCache,
  isUnderBaseUrl,
  getOrCreate,
  namedContext,
  type NamedContext,
  retryIfContentGone,
  type ServedDocument,
} from './content-store.js';
import type { CoreContext } from './core-contexts.js';

interface LoadOptions {
  /** Whether to refuse contexts of domains, because no other context may include one. */
  readonly refusesDomains?: boolean;
  /** Texts that replace the current ones of contexts of this service, by name. */
  readonly replacements?: ReadonlyMap<string, string> | undefined;
}

interface ContextSources {
  readonly store: SchemaStore;
  readonly contents: ContentStore;
  readonly remote: RemoteDocuments;
  readonly workers: TaskRunner<Pick<JsonLdTasks, 'contextTerms'>>;
  readonly core: ReadonlyMap<string, CoreContext>;
  readonly clock: Clock;
  /** Returns the context of a domain. @throws NotFoundError if the domain does not exist */
  readonly domainContext: (domain: string, baseUrl: string) => Promise<ServedDocument>;
}

/** Maximum time for which a document of another origin is used before it is fetched again, in milliseconds. */
const MAX_AGE_MS = 60_000;

const MAX_REMOTE_CHARACTERS = 16 * 1024 * 1024;

type Fetch = (url: string) => Promise<ContextResult>;

/** Finds contexts by URL: those of this service, reference documents, and documents of allowed origins. */
export class ContextLoader {
  static #instances = 0;
  /**
   * Distinguishes services: workers may serve several in one process, for which the same URL means different things.
   */
  readonly #instance = (ContextLoader.#instances += 1);
  readonly #sources: ContextSources;
  readonly #fetched = createCache<ContextResult>(MAX_REMOTE_CHARACTERS, (supply) =>
    'text' in supply ? supply.text.length : 0,
  );

  constructor(sources: ContextSources) {
    this.#sources = sources;
  }

  /**
   * Returns a text that changes whenever a URL may mean something else: with each write to the store, by any process,
   * and every minute because of other origins. It also differs between services. Must be taken before any context is
   * supplied for a request.
   *
   * @param baseUrl of this service, as the client reaches it, without a trailing slash
   * @throws StoreUnavailableError
   */
  async stamp(baseUrl: string): Promise<string> {
    const { store, remote } = this.#sources;
    // Only in this case, the meaning of URLs depends on the base URL.
    const base = remote.allows(`${baseUrl}/`) ? ` ${baseUrl}` : '';
    return `${this.#instance}:${await store.revision()} ${this.#slot()}${base}`;
  }

  /**
   * Returns the context of a URL, for processing a document: one that is stored or bundled here, in the named version;
   * otherwise a reference document that is stored under the URL, or a document of an allowed origin.
   *
   * @throws StoreUnavailableError, and what DomainContexts.of throws
   */
  load(url: string, baseUrl: string): Promise<ContextResult> {
    return this.#loadContext(url, baseUrl, {}, (one) => this.#fetch(one));
  }

  /**
   * Returns the meaning of the terms of a context, including the contexts that it names, or why it is unknown.
   *
   * @param text the value of an `@context` as JSON, which was found valid
   * @param options `replacements`: texts that replace the current ones of contexts of this service, by name; `time`:
   * gives several tasks one time limit together
   * @throws TaskTooCostlyError, WorkersBusyError, TaskFailedError, StoreUnavailableError
   */
  async termsOf(
    text: string,
    baseUrl: string,
    { replacements, time }: Pick<LoadOptions, 'replacements'> & Pick<RunOptions, 'time'> = {},
  ): Promise<ReadTerms | { readonly failed: string }> {
    const options = { refusesDomains: true, replacements };
    const outcome = await runWithContexts(
      (supplied, used) => this.#sources.workers.run('contextTerms', { text, supplied }, { time: used }),
      (url) => this.#loadContext(url, baseUrl, options, (one) => this.#fetch(one)),
      time,
    );
    return 'refused' in outcome ? { failed: outcome.refused.detail } : outcome;
  }

  /**
   * Returns the context of a URL, for checking a custom context that names it. Every version of the core context counts
   * as the newest one: brokers apply their own, whichever is named (ETSI GS CIM 009 V1.9.1, clause 4.4), and two
   * versions cannot be combined, since their terms are protected.
   *
   * @param ownName name of the context being checked, which cannot include itself
   */
  async loadForCheck(url: string, baseUrl: string, ownName: string): Promise<ContextResult> {
    const own = this.ownContext(url, baseUrl);
    if (own?.name === ownName && own.version === undefined) {
      return { failure: unusableContext(url, 'the context would include itself.') };
    }
    const core = this.#sources.core.get(own?.name ?? '');
    const isCore = core !== undefined && coreVersionOf(core.summary.canonicalUrl) !== undefined;
    return isCore && (own?.version ?? 1) === 1
      ? supplied(this.#newestCore())
      : this.#loadContext(url, baseUrl, { refusesDomains: true }, (one) =>
          fetchContext(this.#sources.remote, one),
        );
  }

  /**
   * Returns the context of this service that a URL names. Because a service may be reached by several base URLs, any
   * URL of that form counts, except those of origins from which documents are fetched.
   */
  ownContext(url: string, baseUrl: string): NamedContext | undefined {
    const named = namedContext(url);
    return named !== undefined && (isUnderBaseUrl(url, baseUrl) || !this.#sources.remote.allows(url))
      ? named
      : undefined;
  }

  async #loadContext(
    url: string,
    baseUrl: string,
    { refusesDomains = false, replacements: others }: LoadOptions,
    fetch: Fetch,
  ): Promise<ContextResult> {
    const own = this.ownContext(url, baseUrl);
    const replacements = own?.version === undefined ? others?.get(own?.name ?? '') : undefined;
    if (replacements !== undefined) return { sha256: hash('sha256', replacements), text: replacements };
    if (own !== undefined)
      return (
        (await this.#stored(own)) ?? (await this.#ofDomain(own, url, baseUrl, refusesDomains)) ?? unknown(url)
      );
    const reference = await this.#reference(url);
    if (reference !== undefined) return reference;
    return this.#sources.remote.allows(url) ? fetch(url) : unknown(url);
  }

  #slot(): number {
    return Math.floor(this.#sources.clock.now() / MAX_AGE_MS);
  }

  async #fetch(url: string): Promise<ContextResult> {
    const key = `${this.#slot()} ${url}`;
    const found = await getOrCreate(this.#fetched, key, () => fetchContext(this.#sources.remote, url));
    // A failure is not kept.
    if ('failure' in found) this.#fetched.delete(key);
    return found;
  }

  /** Returns the context of a domain. It is generated from other contexts, and no other context may include it. */
  async #ofDomain(
    { name, version }: NamedContext,
    url: string,
    baseUrl: string,
    isRefused: boolean,
  ): Promise<ContextResult | undefined> {
    const { store, domainContext } = this.#sources;
    if (version !== undefined || (await undefinedIfNotFound('domain', store.domains.get(name))) === undefined)
      return undefined;
    if (isRefused) {
      const reason = 'it is generated from the models of a domain. Use the contexts of the models instead.';
      return { failure: unusableContext(url, reason) };
    }
    const found = await undefinedIfNotFound('domain', domainContext(name, baseUrl));
    return found === undefined ? undefined : { sha256: found.sha256, text: found.bytes.toString() };
  }

  /** Returns the document stored under the URL; its reader checks whether it is a context. */
  async #reference(url: string): Promise<ContextResult | undefined> {
    const uri = documentUri(url);
    if (uri === undefined) return undefined;
    return (await this.#sources.store.references.texts([uri])).get(uri);
  }

  #newestCore(): CoreContext {
    const newest = [...this.#sources.core.values()].find(
      ({ summary }) => summary.canonicalUrl === coreContextUrl(),
    );
    if (newest === undefined) throw new Error('The core context is not bundled.');
    return newest;
  }

  async #stored({ name, version }: NamedContext): Promise<ContextResult | undefined> {
    const { core, store, contents } = this.#sources;
    const bundled = core.get(name);
    if (bundled !== undefined) return (version ?? 1) === 1 ? supplied(bundled) : undefined;
    return retryIfContentGone(async () => {
      const at = await undefinedIfNotFound('context', store.contexts.get(name, version));
      if (at === undefined) return undefined;
      const { content } = at.version;
      return { sha256: content.sha256, text: await contents.text(content) };
    });
  }
}

function supplied({ served: { sha256, bytes } }: CoreContext): ContextResult {
  return { sha256, text: bytes.toString() };
}

function unknown(url: string): ContextResult {
  return { failure: noSuchContext(url) };
}

/** Failures that occur before any request is sent. */
const REFUSALS: ReadonlySet<RemoteFailure> = new Set(['origin-not-allowed', 'address-not-allowed']);

/** Fetches the context at a URL of an allowed origin. */
async function fetchContext(remote: RemoteDocuments, url: string): Promise<ContextResult> {
  try {
    const { text, url: documentUrl } = await remote.fetch(url);
    return { sha256: hash('sha256', text), text, documentUrl };
  } catch (error) {
    if (!(error instanceof RemoteDocumentError)) throw error;
    const kind = REFUSALS.has(error.failure) ? 'contextRefused' : 'contextUnavailable';
    return { failure: { kind, detail: `The context ${url} cannot be used: ${error.message}` } };
  }
}
