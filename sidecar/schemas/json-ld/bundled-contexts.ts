import { createRequire } from 'node:module';
import { coreContext, coreVersionOf, type ContextDocument } from './core-context.js';

/** The context that the core context 1.9 needs for `ngsildproof`. */
const DATA_INTEGRITY_URL = 'https://w3id.org/security/data-integrity/v2';

// The package has no types; it exports its contexts as a map from URL to document.
const { contexts } = createRequire(import.meta.url)('@digitalbazaar/data-integrity-context') as {
  contexts: ReadonlyMap<string, ContextDocument>;
};

/** Whether a URL means one of the contexts that come with this product and never change. */
export function isBundledContext(url: string): boolean {
  return coreVersionOf(url) !== undefined || url === DATA_INTEGRITY_URL;
}

/** A copy of a bundled context, to be changed at will; undefined for other URLs. */
export function bundledContext(url: string): ContextDocument | undefined {
  const version = coreVersionOf(url);
  if (version !== undefined) return coreContext(version);
  const document = url === DATA_INTEGRITY_URL ? contexts.get(url) : undefined;
  return document === undefined ? undefined : structuredClone(document);
}
