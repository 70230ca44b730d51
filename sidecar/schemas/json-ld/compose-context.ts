import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { checkContext, type CheckContextInput, type CheckOutcome, processingError } from './check-context.js';
import { hasScopedContext, isWhole, unwrapped } from './context-form.js';
import { limitFaults } from './context-safety.js';
import { contextMeaning } from './context-terms.js';
import type { ContextWarning } from './context-warnings.js';
import { coreContextUrl, coreVersionOf } from './core-context.js';
import { SuppliedContexts } from './known-contexts.js';
import { sentenceOf } from './processing-errors.js';
import { absoluteReference } from './processor.js';

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
  const contexts = new SuppliedContexts(input.supplied);
  const embeddedUrls = new Set<string>();
  const embed: Embed = (url) => {
    if (coreVersionOf(url) !== undefined) return 'drop';
    if (url.startsWith(keptBase)) return 'keep';
    embeddedUrls.add(url);
    return documentAt(url, contexts);
  };
  const submitted = unwrapped(parseWithDoubles(input.text), pointer);
  const own = elementsOf(submitted.value as JsonValue, embed);
  if (own === undefined)
    return { invalid: [{ pointer, detail: 'Its scoped contexts lead to each other without an end.' }] };

  const terms = isWhole(own) ? (await contextMeaning(own, contexts.load)).terms : new Map<string, never>();
  const ownTerms = Object.keys(generated).filter((term) => terms.has(term));
  const lacking = Object.entries(generated).filter(([term]) => !terms.has(term));
  const document = { '@context': [Object.fromEntries(lacking), ...own, coreContextUrl()] };
  const faults = limitFaults(document['@context'], pointer).map(({ detail }) => ({ pointer, detail }));
  if (faults.length > 0) return { invalid: faults };
  const error = await processingError(document['@context'], contexts.load);
  if (error !== undefined) return { invalid: [{ pointer, detail: sentenceOf(error) }] };
  const { warnings } = outcome.checked;
  return {
    composed: { text: JSON.stringify(document), ownTerms, embeddedUrls: [...embeddedUrls], warnings },
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

/** The document of a URL, which was needed for the check. */
function documentAt(url: string, contexts: SuppliedContexts): EmbeddedDocument {
  const found = contexts.find(url);
  if (found === undefined || 'kind' in found)
    throw new Error(`The context ${url} was not needed for the check.`);
  const { '@context': context = null } = parseWithDoubles(found.text) as JsonObject;
  return { context, documentUrl: found.documentUrl };
}

/** The document of a context, and where its own references are relative to. */
interface EmbeddedDocument {
  readonly context: JsonValue;
  readonly documentUrl: string;
}

/** What is to stand in the place of a URL: its document, the URL itself (`keep`), or nothing (`drop`). */
type Embed = (url: string) => EmbeddedDocument | 'keep' | 'drop';

/** How deep contexts can lead to each other: processors go no further along `@context` arrays; scoped ones may go round. */
const MAX_DEPTH = 12;

/** Scoped contexts lead to each other without an end. */
class EndlessContextError extends Error {}

/**
 * The elements of a context, with the documents of others in the place of their URLs, so that it means the same without them: in
 * arrays, of scoped contexts, and of `@import` (JSON-LD 1.1 § 3.1, § 4.1.8, § 4.1.10).
 *
 * @param context one that was found valid, with all that it leads to
 * @throws EndlessContextError
 */
function embedded(context: JsonValue, embed: Embed, base = '', depth = 0): readonly JsonValue[] {
  if (depth > MAX_DEPTH) throw new EndlessContextError('Scoped contexts lead to each other without an end.');
  const elements = isArray(context) ? context : [context];
  return elements.flatMap((element): readonly JsonValue[] => {
    if (typeof element === 'string') return embeddedUrl(absoluteReference(base, element), embed, depth);
    if (!isObject(element)) return [element];
    // Processors look into a map that wraps another context.
    const inner = member(element, '@context');
    return inner === undefined
      ? [embeddedMap(element, embed, base, depth)]
      : embedded(inner, embed, base, depth + 1);
  });
}

function embeddedUrl(url: string, embed: Embed, depth: number): readonly JsonValue[] {
  const found = embed(url);
  if (found === 'drop') return [];
  if (found === 'keep') return [url];
  return embedded(found.context, embed, found.documentUrl, depth + 1);
}

function embeddedMap(map: JsonObject, embed: Embed, base: string, depth: number): JsonObject {
  const { '@import': imported, ...own } = map;
  const others = typeof imported === 'string' ? importedMap(imported, embed, base, depth) : {};
  const members = Object.entries(own).map(([name, definition]) => [
    name,
    hasScopedContext(definition) ? embeddedDefinition(definition, embed, base, depth) : definition,
  ]);
  return { ...others, ...(Object.fromEntries(members) as JsonObject) };
}

/** What is imported from a URL: one map, which imports no other, or the URL where it is to stay. */
function importedMap(reference: string, embed: Embed, base: string, depth: number): JsonObject {
  const url = absoluteReference(base, reference);
  const [element] = embeddedUrl(url, embed, depth);
  if (typeof element === 'string') return { '@import': element };
  return isObject(element) ? element : {};
}

function embeddedDefinition(definition: JsonObject, embed: Embed, base: string, depth: number): JsonObject {
  const scoped = embedded(definition['@context'] ?? null, embed, base, depth + 1);
  return { ...definition, '@context': scoped.length === 1 ? (scoped[0] ?? null) : scoped };
}
