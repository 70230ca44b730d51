import { readBundled, readContext, type ContextContent } from './context-content.js';
import { urlFault } from './context-form.js';
import { RecentlyUsed } from '../../shared/recently-used.js';
import type { ContextFailure, Supplied, Supply } from './supplied.js';

/** Contexts that one request may lead to. */
export const MOST_CONTEXTS = 100;

/** Characters of the documents that are kept. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The contexts that some URLs lead to, by their URLs. */
export interface GatheredContexts {
  readonly contents: ReadonlyMap<string, ContextContent>;
  /** Why others cannot be used. */
  readonly failures: ReadonlyMap<string, ContextFailure>;
  /** What is not known, one way or the other. */
  readonly missing: readonly string[];
  /** More than {@link MOST_CONTEXTS}; not all of them were looked at then. */
  readonly isTooMuch: boolean;
}

/** What a worker knows of contexts. What their URLs mean it knows until the stamp changes, contents for longer. */
export class KnownContexts {
  #stamp: string | undefined;
  readonly #keys = new Map<string, string>();
  readonly #contents = new RecentlyUsed<ContextContent>(MOST_CHARACTERS, ({ text }) => text.length);
  readonly #bundled = new Map<string, ContextContent>();

  /**
   * Finds what URLs lead to, directly and through each other.
   *
   * @param stamp changes whenever a URL may mean something else
   * @param supplied for this request; of it, failures are not remembered
   */
  gather(urls: Iterable<string>, stamp: string, supplied: Supplied): GatheredContexts {
    if (stamp !== this.#stamp) this.#keys.clear();
    this.#stamp = stamp;
    const given = new Map(supplied);
    const [contents, failures] = [new Map<string, ContextContent>(), new Map<string, ContextFailure>()];
    const missing: string[] = [];
    const asked = new Set(urls);
    // What is added while the loop runs is visited, too.
    for (const url of asked) {
      const found = this.#find(url, given.get(url));
      if (found === undefined) missing.push(url);
      else if ('code' in found) failures.set(url, found);
      else {
        contents.set(url, found);
        if (asked.size <= MOST_CONTEXTS) for (const reference of found.references) asked.add(reference);
      }
    }
    return { contents, failures, missing, isTooMuch: asked.size > MOST_CONTEXTS };
  }

  #find(url: string, supply: Supply | undefined): ContextContent | ContextFailure | undefined {
    const bundled = this.#bundled.get(url) ?? readBundled(url);
    if (bundled !== undefined) {
      this.#bundled.set(url, bundled);
      return bundled;
    }
    // What has a key was supplied before, without fault.
    const key = supply === undefined ? this.#keys.get(url) : undefined;
    if (key !== undefined) return this.#contents.get(key);
    const fault = urlFault(url, '');
    if (fault !== undefined) return { code: 'CONTEXT_REFUSED', detail: fault.detail };
    if (supply === undefined) return undefined;
    if ('failure' in supply) return supply.failure;
    const known = this.#contents.get(`${supply.sha256} ${supply.documentUrl ?? url}`);
    const content = known ?? readContext(url, supply);
    if ('code' in content) return content;
    this.#keys.set(url, content.key);
    this.#contents.set(content.key, content);
    return content;
  }
}
