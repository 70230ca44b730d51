import type { GatheredContexts } from './known-contexts.js';
import { createProcessor, type JsonLdProcessor } from './processor.js';

/**
 * What a processor may keep of processed contexts: characters of theirs, each time for each context that they were
 * processed with. A character takes some 20 bytes.
 */
const MOST_WEIGHT = 5_000_000;

/** Above it, the contexts of one request are not kept. */
const MOST_SHARED_WEIGHT = MOST_WEIGHT / 2;

/** The contexts of a request, as a processor keeps them. */
export interface ContextUse {
  readonly gathered: GatheredContexts;
  /** The same for requests with the same contexts in the same order; undefined where nothing shall be kept. */
  readonly signature: string | undefined;
  /** Whether a context of the request itself imports another. */
  readonly hasImport: boolean;
  /** See {@link MOST_WEIGHT}. */
  readonly weight: number;
}

/**
 * A processor for many requests, which has the contexts that they share processed once. It keeps contexts under their
 * URLs, and is replaced when one of these comes to mean something else.
 */
export class SharedProcessor {
  #processor: JsonLdProcessor = createProcessor();
  readonly #keys = new Map<string, string>();
  readonly #signatures = new Set<string>();
  #weight = 0;

  /**
   * The processor for each operation of a request, which is to load nothing but what was gathered for it. It is one of
   * the request's own where the contexts are too large to be kept, and where one cannot be had, as it may still be kept
   * from before. Where one imports another, each operation has its own: the package keeps what was imported together with
   * what it was imported into, and takes it for both from then on.
   */
  for(use: ContextUse): () => JsonLdProcessor {
    const contents = [...use.gathered.contents.values()];
    if (use.hasImport || contents.some(({ hasImport }) => hasImport)) return () => createProcessor();
    const processor = this.#isKeepable(use) ? this.#shared(use) : createProcessor();
    return () => processor;
  }

  #isKeepable({ signature, weight, gathered }: ContextUse): boolean {
    return signature !== undefined && weight <= MOST_SHARED_WEIGHT && gathered.failures.size === 0;
  }

  #shared({ signature = '', weight, gathered: { contents } }: ContextUse): JsonLdProcessor {
    const hasChanged = [...contents].some(([url, { key }]) => (this.#keys.get(url) ?? key) !== key);
    const isTooMuch = !this.#signatures.has(signature) && this.#weight + weight > MOST_WEIGHT;
    if (hasChanged || isTooMuch) this.#replace();
    for (const [url, { key }] of contents) this.#keys.set(url, key);
    if (!this.#signatures.has(signature)) {
      this.#signatures.add(signature);
      this.#weight += weight;
    }
    return this.#processor;
  }

  #replace(): void {
    this.#processor = createProcessor();
    this.#keys.clear();
    this.#signatures.clear();
    this.#weight = 0;
  }
}
