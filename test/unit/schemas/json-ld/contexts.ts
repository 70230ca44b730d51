import { bundledContext, coreContextUrl } from '../../../../sidecar/schemas/json-ld/core-context.js';
import type { DocumentLoader } from '../../../../sidecar/schemas/json-ld/processor.js';
import { ContextInvalidError } from '../../../../sidecar/schemas/json-ld/errors.js';
import { column } from '../../../support/columns.js';

export const CORE = coreContextUrl();

/** A loader of these contexts by their URLs, together with the bundled ones. */
export function loaderOf(contexts: Readonly<Record<string, unknown>> = {}): DocumentLoader {
  return async (url) => {
    const own = Object.hasOwn(contexts, url) ? structuredClone({ '@context': contexts[url] }) : undefined;
    const document = bundledContext(url) ?? own;
    if (document === undefined) throw new Error(`There is no ${url}.`);
    return { documentUrl: url, document };
  };
}

/** The pointers of an error's faults. */
export function pointersOf(error: unknown): readonly string[] {
  if (!(error instanceof ContextInvalidError)) throw error;
  return column(error.errors, 'pointer');
}
