import { tryParseJson, parseWithDoubles } from '../../shared/json/lossless-json.js';
import { isObject, member } from '../../shared/json/json.js';
import { LRUCache } from 'lru-cache';
import { referencesOf, urlFault } from './context-form.js';
import { countOf, safetyFaults } from './context-safety.js';
import { bundledContext, coreContextUrl, coreVersionOf } from './core-context.js';
import {
  type ContextFailure,
  ContextFailureError,
  type Needs,
  noSuchContext,
  type ContextResults,
  type SuppliedContext,
  type ContextResult,
  unusableContext,
} from './errors.js';
import { absoluteReference } from './context-resolver.js';
import type { DocumentLoader, LoadedDocument } from './processor.js';

/** Maximum number of contexts that one request may lead to. */
export const MAX_CONTEXTS = 100;

/** Maximum number of stamps for which the meanings of URLs are kept. */
const MAX_STAMPS = 3;

/** Maximum number of characters of the documents that are kept. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The contexts that some URLs lead to, by their URLs. */
export interface GatheredContexts {
  readonly contents: ReadonlyMap<string, ContextContent>;
  /** Why other URLs cannot be used. */
  readonly failures: ReadonlyMap<string, ContextFailure>;
  /** URLs of which neither the content nor a failure is known. */
  readonly missing: readonly string[];
  /** Whether there are more than {@link MAX_CONTEXTS}; not all of them were examined in that case. */
  readonly isTooMuch: boolean;
}

/** Contents by key, for all tasks of a worker. */
const contentsByKey = new LRUCache<string, ContextContent>({
  maxSize: MAX_CHARACTERS,
  sizeCalculation: ({ text }) => Math.max(1, text.length),
});

/** Contents of bundled contexts by URL. */
const bundledContents = new Map<string, ContextContent>();

/** The contexts that a worker knows. The meaning of a URL is known until the stamp changes; contents are kept longer. */
export class ContextCache {
  /** Keys of contents, by stamp and URL. Requests from before and after a change of the stamp may run side by side. */
  readonly #keys = new LRUCache<string, Map<string, string>>({ max: MAX_STAMPS });

  /**
   * Finds the contexts that URLs lead to, directly or through other contexts.
   *
   * @param stamp changes whenever a URL may have another meaning
   * @param supplied the contexts supplied for this request; failures among them are not remembered
   */
  gather(urls: Iterable<string>, stamp: string, supplied: ContextResults): GatheredContexts {
    const keys = this.#keys.get(stamp) ?? new Map<string, string>();
    this.#keys.set(stamp, keys);
    const given = new Map(supplied);
    const [contents, failures] = [new Map<string, ContextContent>(), new Map<string, ContextFailure>()];
    const missing: string[] = [];
    const asked = new Set(urls);
    // `asked` grows during the iteration.
    for (const url of asked) {
      const found = this.#find(url, given.get(url), keys);
      if (found === undefined) missing.push(url);
      else if ('kind' in found) failures.set(url, found);
      else {
        contents.set(url, found);
        if (asked.size <= MAX_CONTEXTS) for (const reference of found.references) asked.add(reference);
      }
    }
    return { contents, failures, missing, isTooMuch: asked.size > MAX_CONTEXTS };
  }

  #find(
    url: string,
    supply: ContextResult | undefined,
    keys: Map<string, string>,
  ): ContextContent | ContextFailure | undefined {
    const bundled = bundledContents.get(url) ?? readBundled(url);
    if (bundled !== undefined) {
      bundledContents.set(url, bundled);
      return bundled;
    }
    // A URL with a key was supplied earlier, without a fault.
    const key = supply === undefined ? keys.get(url) : undefined;
    if (key !== undefined) return contentsByKey.get(key);
    const fault = urlFault(url, '');
    if (fault !== undefined) return { kind: 'contextRefused', detail: fault.detail };
    if (supply === undefined) return undefined;
    if ('failure' in supply) return supply.failure;
    const known = contentsByKey.get(`${supply.sha256} ${supply.documentUrl ?? url}`);
    const content = known ?? readContext(url, supply);
    if ('kind' in content) return content;
    keys.set(url, content.key);
    contentsByKey.set(content.key, content);
    return content;
  }
}

/** A context document, read once for all requests that use it. */
export interface ContextContent {
  /** Equal for equal texts with equal references. */
  readonly key: string;
  /** JSON text. It is parsed for each use, because the processor modifies what it loads. */
  readonly text: string;
  readonly documentUrl: string;
  /** The URLs that processing the context loads; absolute if possible. */
  readonly references: readonly string[];
  /** The number of maps and URLs in it. */
  readonly parts: number;
  readonly isBundled: boolean;
}

/** Reads the document of a URL. @returns a failure if it cannot be used as a context */
function readContext(url: string, supplied: SuppliedContext): ContextContent | ContextFailure {
  const { sha256, text, documentUrl = url } = supplied;
  const document = tryParseJson(text);
  const context = isObject(document) ? member(document, '@context') : undefined;
  if (context === undefined)
    return unusableContext(
      url,
      'it is not a JSON object with an @context. (JSON-LD 1.1: invalid remote context)',
    );
  const [fault] = safetyFaults(context);
  if (fault !== undefined) return unusableContext(url, fault.detail);
  return { key: `${sha256} ${documentUrl}`, ...contentOf(text, context, documentUrl), isBundled: false };
}

/** Reads a bundled context; undefined for other URLs. */
function readBundled(url: string): ContextContent | undefined {
  const document = bundledContext(url);
  if (document === undefined) return undefined;
  return { key: url, ...contentOf(JSON.stringify(document), document['@context'], url), isBundled: true };
}

function contentOf(text: string, context: unknown, documentUrl: string) {
  return {
    text,
    documentUrl,
    references: referencesOf(context).map(({ url }) => absoluteReference(documentUrl, url)),
    parts: countOf(context).parts,
  };
}

/** A context in the form in which processors load it. They may modify the document. */
export function loadedFrom({ documentUrl, text }: ContextContent): LoadedDocument {
  return { documentUrl, document: parseWithDoubles(text), tag: 'static' };
}

/**
 * The contexts supplied to one task, and the bundled ones. Every version of the core context is treated as the newest
 * one.
 */
export class SuppliedContexts {
  readonly #supplied: ContextResults;
  readonly #known: ContextCache;
  readonly #stamp: string;
  readonly #missing = new Set<string>();

  /**
   * @param known where contexts are remembered; by default nowhere, because a URL may have another meaning for other
   * tasks
   */
  constructor(supplied: ContextResults, known: ContextCache = new ContextCache(), stamp = '') {
    this.#supplied = supplied;
    this.#known = known;
    this.#stamp = stamp;
  }

  /** Whether a context was requested that is neither available nor known to be unavailable. */
  get lacksSome(): boolean {
    return this.#missing.size > 0;
  }

  find(url: string): ContextContent | ContextFailure | undefined {
    const named = coreVersionOf(url) === undefined ? url : coreContextUrl();
    const { contents, failures } = this.#known.gather([named], this.#stamp, this.#supplied);
    const found = contents.get(named) ?? failures.get(named);
    if (found === undefined) this.#missing.add(named);
    return found;
  }

  /** Loads a context for a processor. @throws ContextFailureError */
  readonly load: DocumentLoader = async (url) => {
    const found = this.find(url) ?? noSuchContext(url);
    if ('kind' in found) throw new ContextFailureError(url, found);
    return loadedFrom(found);
  };

  /**
   * The URLs that are missing, those that a context needs through other contexts included: known contexts tell which
   * they refer to.
   */
  needsFor(context: unknown): Needs {
    const urls = referencesOf(context).map(({ url }) => absoluteReference('', url));
    const { missing } = this.#known.gather(urls, this.#stamp, this.#supplied);
    return { needs: { urls: [...new Set([...this.#missing, ...missing])] } };
  }
}
