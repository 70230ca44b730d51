import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { checkContext, type CheckContextInput, type CheckOutcome, processingError } from './check-context.js';
import { hasScopedContext, isSelfContained, unwrapped } from './context-form.js';
import { limitFaults } from './context-safety.js';
import { contextMeaning } from './context-terms.js';
import { addWords } from './domain-terms.js';
import type { ContextWarning } from './context-warnings.js';
import { coreContextUrl, coreVersionOf } from './core-context.js';
import { SuppliedContexts } from './context-cache.js';
import { sentenceOf } from './processing-errors.js';
import { absoluteReference } from './context-resolver.js';
import { type ContextTerms, iriOf } from './term-meanings.js';

export interface ComposeInput extends CheckContextInput {
  /** Terms to add if the context does not define them. */
  readonly generated: Readonly<Record<string, string>>;
  /** URLs that begin with this text are kept, because their contexts may have other versions later. */
  readonly keptBase: string;
}

/** The context composed for a model that has its own. */
export interface ComposedContext {
  /** JSON of the document: generated terms, then the model's own context, then the core context. */
  readonly text: string;
  /** Names that have no term before the model's own context: it defines them, or uses them in definitions. */
  readonly ownTerms: readonly string[];
  /** The URLs of the contexts whose documents are embedded. */
  readonly embeddedUrls: readonly string[];
  readonly warnings: readonly ContextWarning[];
  /** Generated names that share an IRI in the end. */
  readonly sameIris: readonly SameIri[];
}

/** An IRI that several names have. */
interface SameIri {
  readonly iri: string;
  readonly names: readonly string[];
}

/** The outcome of composing a context: the context, its faults, or the contexts that are needed first. */
export type ComposeOutcome =
  | { readonly composed: ComposedContext }
  | Exclude<CheckOutcome, { readonly checked: unknown }>;

/**
 * Checks the context given with a model, like a custom context, and puts generated terms before it, so that its own
 * terms take precedence. Contexts that it names by URL are replaced by their documents. If a URL is kept, its context
 * may lose a term later; in that case, terms are generated for all names. Otherwise the terms for names that the
 * context uses in definitions, relative to its `@vocab`, come after it: they would change what it says.
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
    return { invalid: [{ pointer, detail: 'Its scoped contexts refer to each other in a cycle.' }] };

  const words = new Set<string>();
  if (isSelfContained(own)) addWords(own, words);
  const terms = isSelfContained(own)
    ? (await contextMeaning(own, contexts.load)).terms
    : new Map<string, never>();
  const lacking = Object.entries(generated).filter(([term]) => !terms.has(term));
  const before = lacking.filter(([term]) => !words.has(term));
  const after = lacking.filter(([term]) => words.has(term));
  const ownTerms = Object.keys(generated).filter((term) => terms.has(term) || words.has(term));
  const rest = after.length === 0 ? [] : [Object.fromEntries(after)];
  const document = { '@context': [Object.fromEntries(before), ...own, ...rest, coreContextUrl()] };
  const faults = limitFaults(document['@context'], pointer).map(({ detail }) => ({ pointer, detail }));
  if (faults.length > 0) return { invalid: faults };
  const error = await processingError(document['@context'], contexts.load);
  if (error !== undefined) return { invalid: [{ pointer, detail: sentenceOf(error) }] };
  const { warnings } = outcome.checked;
  const all = await contextMeaning(document['@context'].slice(0, -1), contexts.load);
  const sameIris = sameIrisIn(all.terms, Object.keys(generated));
  return {
    composed: {
      text: JSON.stringify(document),
      ownTerms,
      embeddedUrls: [...embeddedUrls],
      warnings,
      sameIris,
    },
  };
}

function sameIrisIn(terms: ContextTerms, names: readonly string[]): readonly SameIri[] {
  const byIri = Map.groupBy(names, (name) => iriOf(terms.get(name)));
  return [...byIri].flatMap(([iri, those]) =>
    iri === undefined || those.length === 1 ? [] : [{ iri, names: those }],
  );
}

function elementsOf(context: JsonValue, embed: Embed): readonly JsonValue[] | undefined {
  try {
    return embedded(context, embed);
  } catch (error) {
    if (error instanceof EndlessContextError) return undefined;
    throw error;
  }
}

/** The document at a URL. It is available, because the check needed it. */
function documentAt(url: string, contexts: SuppliedContexts): EmbeddedDocument {
  const found = contexts.find(url);
  if (found === undefined || 'kind' in found)
    throw new Error(`The context ${url} was not needed for the check.`);
  const { '@context': context = null } = parseWithDoubles(found.text) as JsonObject;
  return { context, documentUrl: found.documentUrl };
}

/** The document of a context, and the URL that its own references are relative to. */
interface EmbeddedDocument {
  readonly context: JsonValue;
  readonly documentUrl: string;
}

/** What to put in place of a URL: its document, the URL itself (`keep`), or nothing (`drop`). */
type Embed = (url: string) => EmbeddedDocument | 'keep' | 'drop';

/**
 * How deep contexts may refer to each other. Processors stop at this depth in `@context` arrays, but scoped contexts
 * may form cycles.
 */
const MAX_DEPTH = 12;

/** Scoped contexts refer to each other in a cycle. */
class EndlessContextError extends Error {}

/**
 * The elements of a context with URLs replaced by their documents, so that it means the same without them: in arrays,
 * in scoped contexts and in `@import` (JSON-LD 1.1 § 3.1, § 4.1.8, § 4.1.10).
 *
 * @param context a context found valid, with everything that it refers to
 * @throws EndlessContextError
 */
function embedded(context: JsonValue, embed: Embed, base = '', depth = 0): readonly JsonValue[] {
  if (depth > MAX_DEPTH) throw new EndlessContextError('Scoped contexts lead to each other without an end.');
  const elements = isArray(context) ? context : [context];
  return elements.flatMap((element): readonly JsonValue[] => {
    if (typeof element === 'string') return embeddedUrl(absoluteReference(base, element), embed, depth);
    if (!isObject(element)) return [element];
    // Processors also read a map that wraps another context.
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

/** The map imported from a URL, which imports no other one; or an `@import` if the URL is to be kept. */
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
