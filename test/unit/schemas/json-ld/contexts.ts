import { coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import { createDocumentLoader, type DocumentLoader } from '../../../../sidecar/schemas/json-ld/processor.js';
import { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';

export const CORE = coreContextUrl();

/** A loader of these contexts by their URLs, beside the bundled ones. */
export function loaderOf(contexts: Readonly<Record<string, unknown>> = {}): DocumentLoader {
  const documents = new Map(Object.entries(contexts));
  return createDocumentLoader({
    resolve: async (url) =>
      documents.has(url) ? structuredClone({ '@context': documents.get(url) }) : undefined,
  });
}

/** The pointers of an error's faults. */
export function pointersOf(error: unknown): readonly string[] {
  if (!(error instanceof ContextInvalidError)) throw error;
  return error.errors.map(({ pointer }) => pointer);
}
