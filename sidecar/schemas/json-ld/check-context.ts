import type { ContextWarning } from './context-warnings.js';
import { unwrapped } from './context-form.js';
import { referencesOf } from './context-references.js';
import { coreContextUrl, coreVersionOf } from './core-context.js';
import { createDocumentLoader, type DocumentLoader } from './document-loader.js';
import { ContextFailureError, ContextInvalidError, type ContextFault } from './errors.js';
import { KnownContexts } from './known-contexts.js';
import { parseContext } from './parse-context.js';
import { absoluteReference } from './processor.js';
import type { Needs, Supplied } from './supplied.js';

export interface CheckContextInput {
  /** JSON of what was submitted; see `parseContext`. */
  readonly text: string;
  /** Where it stands in the body. */
  readonly pointer: string;
  readonly supplied: Supplied;
}

/** What is found out about a valid context; its document is what was submitted, unwrapped. */
export interface CheckedContext {
  readonly urls: readonly string[];
  readonly warnings: readonly ContextWarning[];
}

export type CheckOutcome =
  { readonly checked: CheckedContext } | { readonly invalid: readonly ContextFault[] } | Needs;

/** `parseContext` as a task, with the contexts that were supplied. Every version of the core context is the newest. */
export async function checkContext({ text, pointer, supplied }: CheckContextInput): Promise<CheckOutcome> {
  const submitted: unknown = JSON.parse(text);
  // Nothing of it is kept: the same URLs mean something else to other requests.
  const known = new KnownContexts();
  const missing = new Set<string>();
  const loadAsNamed = createDocumentLoader({
    resolve: async (url) => {
      const { contents, failures } = known.gather([url], '', supplied);
      const failure = failures.get(url);
      if (failure !== undefined) throw new ContextFailureError(url, failure.code, failure.detail);
      const content = contents.get(url);
      if (content !== undefined) return JSON.parse(content.text) as unknown;
      missing.add(url);
      throw new MissingContext();
    },
  });
  const load: DocumentLoader = async (url) => {
    const loaded = await loadAsNamed(coreVersionOf(url) === undefined ? url : coreContextUrl());
    const found = known.gather([loaded.documentUrl], '', supplied).contents.get(loaded.documentUrl);
    return { ...loaded, documentUrl: found?.documentUrl ?? loaded.documentUrl };
  };
  try {
    const { urls, warnings } = await parseContext(submitted, { load, pointer });
    return { checked: { urls, warnings } };
  } catch (error) {
    if (error instanceof ContextInvalidError) return { invalid: error.errors };
    if (!(error instanceof MissingContext)) throw error;
    // What is known already tells what else will be asked for.
    const references = referencesOf(unwrapped(submitted, '').value);
    const urls = references.map(({ url }) => absoluteReference('', url));
    return { needs: { urls: [...new Set([...missing, ...known.gather(urls, '', supplied).missing])] } };
  }
}

/** A context that is neither there nor known to be unavailable. */
class MissingContext extends Error {}
