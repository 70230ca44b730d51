import jsonld from 'jsonld';
import type { DocumentLoader } from './document-loader.js';

/** A warning of the processor, e.g. of a member that expansion drops. */
export interface ProcessorEvent {
  readonly code: string;
  readonly level: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface ProcessorOptions {
  /** Every context and document that is needed comes through it. */
  readonly documentLoader: DocumentLoader;
  /** Throws where data would be dropped silently otherwise. */
  readonly safe?: boolean;
  readonly eventHandler?: (handling: { event: ProcessorEvent; next: () => void }) => void;
}

/** JSON-LD 1.1 processing (JSON-LD 1.1 API § 9.1). Errors are the package's own, with `details.code`. */
export interface JsonLdProcessor {
  expand(document: object, options: ProcessorOptions): Promise<unknown[]>;
  compact(document: object, context: unknown, options: ProcessorOptions): Promise<Record<string, unknown>>;
}

/**
 * A processor with caches of its own, whose built-in loader, which would fetch any URL, is replaced by a refusal.
 *
 * Contexts that were given as maps stay in its cache by their text, with whatever their `@import` gave then: use one
 * processor for long only with contexts that were pinned (pin-context.ts).
 */
export function createProcessor(): JsonLdProcessor {
  const instance = (jsonld as unknown as () => JsonLdProcessor & { documentLoader: unknown })();
  instance.documentLoader = async () => {
    throw new Error('A JSON-LD document was to be loaded without a loader.');
  };
  return instance;
}
