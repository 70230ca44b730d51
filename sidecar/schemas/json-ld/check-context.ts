import { type InputIssue, isObject, pointerTo } from '../../shared/json/json.js';
import { quoted } from '../../shared/shown.js';
import { processingError, processingFault } from './context-check.js';
import { type ContextReference, formFaults, referencesOf, unwrapped, urlFault } from './context-form.js';
import { safetyFaults } from './context-safety.js';
import { contextMeaning } from './context-terms.js';
import { type ContextWarning, contextWarnings } from './context-warnings.js';
import { type ContextDocument, coreContextUrl, coreVersionOf } from './core-context.js';
import { ContextFailureError, ContextInvalidError, type Needs, type Supplied } from './errors.js';
import { KnownContexts } from './known-contexts.js';
import { processingErrorOf, sentenceOf } from './processing-errors.js';
import {
  absoluteReference,
  createDocumentLoader,
  type DocumentLoader,
  type LoadedDocument,
} from './processor.js';
import type { ContextMeaning, TermMeaning } from './term-meanings.js';

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
  | { readonly checked: CheckedContext }
  | { readonly invalid: readonly InputIssue[] }
  | Needs;

/** `parseContext` as a task, with the contexts that were supplied. Every version of the core context is the newest. */
export async function checkContext({ text, pointer, supplied }: CheckContextInput): Promise<CheckOutcome> {
  const submitted: unknown = JSON.parse(text);
  const { load, needsFor } = loadingSupplied(supplied);
  try {
    const { urls, warnings } = await parseContext(submitted, { load, pointer });
    return { checked: { urls, warnings } };
  } catch (error) {
    if (error instanceof ContextInvalidError) return { invalid: error.errors };
    if (!(error instanceof MissingContext)) throw error;
    return needsFor(unwrapped(submitted, '').value);
  }
}

export interface TermsInput {
  /** JSON of the value of an `@context` that was found valid. */
  readonly text: string;
  readonly supplied: Supplied;
}

export type TermsOutcome =
  | {
      readonly terms: readonly (readonly [term: string, meaning: TermMeaning | null])[];
      readonly defaults: ContextMeaning['defaults'];
    }
  | { readonly failed: string }
  | Needs;

/** `contextMeaning` as a task, with the contexts that were supplied. Every version of the core context is the newest. */
export async function contextTerms({ text, supplied }: TermsInput): Promise<TermsOutcome> {
  const context: unknown = JSON.parse(text);
  const { load, needsFor } = loadingSupplied(supplied);
  const { load: remembered, rethrowUnforeseen } = remembering(load);
  try {
    const { terms, defaults } = await contextMeaning(context, remembered);
    return { terms: [...terms], defaults };
  } catch (error) {
    try {
      rethrowUnforeseen();
    } catch (cause) {
      if (cause instanceof MissingContext) return needsFor(context);
      throw cause;
    }
    const failure = processingErrorOf(error);
    const about = failure.term === undefined ? '' : `${quoted(failure.term, 100)}: `;
    return { failed: `${about}${sentenceOf(failure)}` };
  }
}

/** A loader of what was supplied, and what else a context needs. */
function loadingSupplied(supplied: Supplied) {
  // Nothing of it is kept: the same URLs mean something else to other requests.
  const known = new KnownContexts();
  const missing = new Set<string>();
  const loadAsNamed = createDocumentLoader({
    resolve: async (url) => {
      const { contents, failures } = known.gather([url], '', supplied);
      const failure = failures.get(url);
      if (failure !== undefined) throw new ContextFailureError(url, failure);
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
  const needsFor = (context: unknown): Needs => {
    // Known contexts already say which others will be needed.
    const urls = referencesOf(context).map(({ url }) => absoluteReference('', url));
    return { needs: { urls: [...new Set([...missing, ...known.gather(urls, '', supplied).missing])] } };
  };
  return { load, needsFor };
}

/** A context that is neither there nor known to be unavailable. */
class MissingContext extends Error {}

/** A context that was checked. */
export interface ParsedContext {
  /** What a GET of it answers: the submitted value, wrapped. */
  readonly document: ContextDocument;
  /** The URLs it names, in order, each once; bundled ones included. */
  readonly urls: readonly string[];
  readonly warnings: readonly ContextWarning[];
}

export interface ParseContextOptions {
  /** Loads the contexts it names; errors other than those of this room end the parsing. */
  readonly load: DocumentLoader;
  /** Where the context stands in what was submitted; faults and warnings point there. */
  readonly pointer?: string;
  /** URLs under which the context itself will be known, so that one that includes itself is found. */
  readonly ownUrls?: readonly string[];
}

/**
 * Checks a custom context: its form, its limits, the contexts it names, and its processing by JSON-LD 1.1, alone and
 * with the NGSI-LD core context after it.
 *
 * @param submitted a map of terms, an array of maps and URLs, a URL, or `{"@context": one of these}`
 * @throws ContextInvalidError with a pointer for each fault
 */
export async function parseContext(submitted: unknown, options: ParseContextOptions): Promise<ParsedContext> {
  const { value, pointer, faults } = unwrapped(submitted, options.pointer ?? '');
  assertNone(faults);
  // First, since it bounds what the others go through.
  assertNone(safetyFaults(value, pointer));
  assertNone(formFaults(value, pointer));
  const references = referencesOf(value, pointer);
  assertNone(references.flatMap(({ url, pointer: at }) => urlFault(url, at) ?? []));

  const document = { '@context': value };
  const ownUrls = new Set(options.ownUrls);
  const { load, rethrowUnforeseen } = remembering(async (url) =>
    ownUrls.has(url) ? { documentUrl: url, document: structuredClone(document) } : options.load(url),
  );
  try {
    assertNone(await loadingFaults(references, load));
    assertNone(await processingFaults(value, pointer, load));
  } finally {
    rethrowUnforeseen();
  }
  return {
    document,
    urls: [...new Set(references.map(({ url }) => url))],
    warnings: contextWarnings(value, pointer),
  };
}

function assertNone(faults: readonly InputIssue[]): void {
  if (faults.length > 0) throw new ContextInvalidError(faults);
}

/** All contexts that it names and that are not available. */
async function loadingFaults(
  references: readonly ContextReference[],
  load: DocumentLoader,
): Promise<readonly InputIssue[]> {
  const faults = references.map(async ({ url, pointer }): Promise<readonly InputIssue[]> => {
    try {
      await load(url);
      return [];
    } catch (error) {
      if (error instanceof ContextFailureError) return [{ pointer, detail: error.message }];
      throw error;
    }
  });
  return (await Promise.all(faults)).flat();
}

async function processingFaults(
  value: unknown,
  pointer: string,
  load: DocumentLoader,
): Promise<readonly InputIssue[]> {
  const fault = await processingFault(value, pointer, load);
  if (fault !== undefined) return [fault];
  const contexts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const error = await processingError([...contexts, coreContextUrl()], load);
  if (error === undefined) return [];
  if (error.code !== 'protected term redefinition') return [{ pointer, detail: sentenceOf(error) }];
  const { term } = error;
  const places = contexts.flatMap((context, index) =>
    term !== undefined && isObject(context) && Object.hasOwn(context, term)
      ? [pointerTo(pointer, ...(Array.isArray(value) ? [index] : []), term)]
      : [],
  );
  const detail =
    `The context protects ${term === undefined ? 'a term' : `"${term}"`}, which ` +
    'the NGSI-LD core context defines otherwise: no entity could be read with both.';
  return [{ pointer: places.at(-1) ?? pointer, detail }];
}

/** Loads each URL once, and keeps unexpected errors, which the processor would wrap or swallow. */
function remembering(load: DocumentLoader): { load: DocumentLoader; rethrowUnforeseen: () => void } {
  const loaded = new Map<string, Promise<LoadedDocument>>();
  const unforeseen: unknown[] = [];
  return {
    load: async (url) => {
      const promise = loaded.get(url) ?? load(url);
      loaded.set(url, promise);
      try {
        const { document, ...rest } = await promise;
        // The processor writes into documents.
        return { ...rest, document: structuredClone(document) };
      } catch (error) {
        if (!(error instanceof ContextFailureError)) unforeseen.push(error);
        throw error;
      }
    },
    rethrowUnforeseen: () => {
      if (unforeseen.length > 0) throw unforeseen[0];
    },
  };
}
