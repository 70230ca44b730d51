import { isObject, type JsonValue, member } from '../../shared/json/json.js';
import { type CheckContextInput, type CheckOutcome, checkContext } from './check-context.js';
import { processingError } from './context-check.js';
import { isWhole, unwrapped } from './context-form.js';
import { limitFaults } from './context-safety.js';
import { termsOf } from './context-terms.js';
import type { ContextWarning } from './context-warnings.js';
import { bundledContext, coreContextUrl, coreVersionOf } from './core-context.js';
import { type Embed, embedded, type EmbeddedDocument, EndlessContextError } from './embed-context.js';
import { sentenceOf } from './processing-errors.js';
import { createDocumentLoader, type DocumentLoader } from './processor.js';
import type { Supplied } from './supplied-contexts.js';

export interface ComposeInput extends CheckContextInput {
  /** Terms for what the context lacks. */
  readonly generated: Readonly<Record<string, string>>;
  /** URLs that begin so stay URLs: those of contexts that may have other versions later. */
  readonly keptBase: string;
}

/** The context of a model that has its own. */
export interface ComposedContext {
  /** JSON of the document: generated terms, the model's own, the core context. */
  readonly text: string;
  /** Names for which nothing was generated, as the model's own context has them. */
  readonly ownTerms: readonly string[];
  /** The URLs whose documents it was made from. */
  readonly embeddedUrls: readonly string[];
  readonly warnings: readonly ContextWarning[];
}

export type ComposeOutcome =
  | { readonly composed: ComposedContext }
  | Exclude<CheckOutcome, { readonly checked: unknown }>;

/**
 * Checks the context that a model brings, as a custom one, and puts generated terms before it, so that its own win. Documents
 * that it names by URL are put in the place of their URLs. Where a context stays a URL, a term may go from it later: then
 * everything is generated.
 */
export async function composeContext(input: ComposeInput): Promise<ComposeOutcome> {
  const outcome = await checkContext(input);
  if (!('checked' in outcome)) return outcome;
  const { pointer, generated, keptBase } = input;
  const documents = documentsOf(input.supplied);
  const embeddedUrls = new Set<string>();
  const embed: Embed = (url) => {
    if (coreVersionOf(url) !== undefined) return 'drop';
    if (url.startsWith(keptBase)) return 'keep';
    embeddedUrls.add(url);
    return documents(url);
  };
  const submitted = unwrapped(JSON.parse(input.text) as JsonValue, pointer);
  const own = elementsOf(submitted.value as JsonValue, embed);
  if (own === undefined)
    return { invalid: [{ pointer, detail: 'Its scoped contexts lead to each other without an end.' }] };

  const load = loaderOf(documents);
  const terms = isWhole(own) ? await termsOf(own, load) : new Map<string, never>();
  const ownTerms = Object.keys(generated).filter((term) => terms.has(term));
  const lacking = Object.entries(generated).filter(([term]) => !terms.has(term));
  const document = { '@context': [Object.fromEntries(lacking), ...own, coreContextUrl()] };
  const faults = limitFaults(document['@context'], pointer).map(({ detail }) => ({ pointer, detail }));
  if (faults.length > 0) return { invalid: faults };
  const error = await processingError(document['@context'], load);
  if (error !== undefined) return { invalid: [{ pointer, detail: sentenceOf(error) }] };
  const { warnings } = outcome.checked;
  return {
    composed: { text: JSON.stringify(document), ownTerms, embeddedUrls: [...embeddedUrls], warnings },
  };
}

function loaderOf(documents: (url: string) => EmbeddedDocument): DocumentLoader {
  const load = createDocumentLoader({ resolve: async (url) => ({ '@context': documents(url).context }) });
  return async (url) => {
    const { documentUrl } = coreVersionOf(url) === undefined ? documents(url) : { documentUrl: url };
    return { ...(await load(url)), documentUrl };
  };
}

function elementsOf(context: JsonValue, embed: Embed): readonly JsonValue[] | undefined {
  try {
    return embedded(context, embed);
  } catch (error) {
    if (error instanceof EndlessContextError) return undefined;
    throw error;
  }
}

/** The contexts that were needed for the check, by their URLs. */
function documentsOf(supplied: Supplied): (url: string) => EmbeddedDocument {
  const supplies = new Map(supplied);
  return (url) => {
    const supply = supplies.get(url);
    const document =
      supply !== undefined && 'text' in supply ? (JSON.parse(supply.text) as JsonValue) : bundledContext(url);
    const context = isObject(document) ? member(document, '@context') : undefined;
    if (context === undefined) throw new Error(`The context ${url} was not needed for the check.`);
    const documentUrl = supply !== undefined && 'text' in supply ? supply.documentUrl : undefined;
    return { context, documentUrl: documentUrl ?? url };
  };
}
