import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { type InputIssue, isObject, type JsonObject, pointerTo } from '../../shared/json/json.js';
import { quoted } from '../../shared/format-value.js';
import { elementsOf, formFaults, referencesOf, unwrapped, urlFault } from './context-form.js';
import { dependenciesFirst, safetyFaults } from './context-safety.js';
import { contextMeaning } from './context-terms.js';
import { type ContextWarning, contextWarnings } from './context-warnings.js';
import { coreContextUrl } from './core-context.js';
import type { Needs, ContextResults } from './errors.js';
import { SuppliedContexts } from './context-cache.js';
import { KEYWORD_OF_CODE, type ProcessingError, processingErrorOf, sentenceOf } from './processing-errors.js';
import { createProcessor, type DocumentLoader } from './processor.js';
import type { ContextMeaning, TermMeaning } from './term-meanings.js';

export interface CheckContextInput {
  /** JSON of a map of terms, an array of maps and URLs, a URL, or `{"@context": one of these}`. */
  readonly text: string;
  /** The position of the context in the body. */
  readonly pointer: string;
  readonly supplied: ContextResults;
}

/** The result for a valid context. Its document is the submitted context, unwrapped. */
export interface CheckedContext {
  /** The URLs that the context names, in order, each once, those of bundled contexts included. */
  readonly urls: readonly string[];
  readonly warnings: readonly ContextWarning[];
}

/** The outcome of checking a context: its result, its faults, or the contexts that are needed first. */
export type CheckOutcome =
  | { readonly checked: CheckedContext }
  /** With a pointer for each fault. */
  | { readonly invalid: readonly InputIssue[] }
  | Needs;

/**
 * Checks a custom context: its form, its limits, the contexts it names, and whether JSON-LD 1.1 can process it, alone
 * and followed by the NGSI-LD core context. Every version of the core context is treated as the newest one.
 */
export async function checkContext(input: CheckContextInput): Promise<CheckOutcome> {
  const { value, pointer, faults } = unwrapped(parseWithDoubles(input.text), input.pointer);
  if (faults.length > 0) return { invalid: faults };
  // Comes first because it bounds the work of the other checks.
  const unsafe = safetyFaults(value, pointer);
  if (unsafe.length > 0) return { invalid: unsafe };
  const malformed = formFaults(value, pointer);
  if (malformed.length > 0) return { invalid: malformed };
  const references = referencesOf(value, pointer);
  const relative = references.flatMap(({ url, pointer: at }) => urlFault(url, at) ?? []);
  if (relative.length > 0) return { invalid: relative };

  const contexts = new SuppliedContexts(input.supplied);
  const unavailable = references.flatMap(({ url, pointer: at }) => {
    const found = contexts.find(url);
    return found !== undefined && 'kind' in found ? [{ pointer: at, detail: found.detail }] : [];
  });
  const isReady = unavailable.length === 0 && !contexts.lacksSome;
  const invalid = isReady ? await processingFaults(value, pointer, contexts.load) : unavailable;
  if (contexts.lacksSome) return contexts.needsFor(value);
  if (invalid.length > 0) return { invalid };
  const urls = [...new Set(references.map(({ url }) => url))];
  return { checked: { urls, warnings: contextWarnings(value, pointer) } };
}

export interface TermsInput {
  /** JSON of the value of an `@context` that was found valid. */
  readonly text: string;
  readonly supplied: ContextResults;
}

/** The meaning of a context, as the result of a task. */
export interface ReadTerms {
  readonly terms: readonly (readonly [term: string, meaning: TermMeaning | null])[];
  readonly defaults: ContextMeaning['defaults'];
}

type TermsOutcome = ReadTerms | { readonly failed: string } | Needs;

/**
 * Runs `contextMeaning` as a task, with the supplied contexts. Every version of the core context is treated as the
 * newest one.
 */
export async function contextTerms({ text, supplied }: TermsInput): Promise<TermsOutcome> {
  const context: unknown = parseWithDoubles(text);
  const contexts = new SuppliedContexts(supplied);
  try {
    const { terms, defaults } = await contextMeaning(context, contexts.load);
    return { terms: [...terms], defaults };
  } catch (error) {
    if (contexts.lacksSome) return contexts.needsFor(context);
    const failure = processingErrorOf(error);
    const about = failure.term === undefined ? '' : `${quoted(failure.term, 100)}: `;
    return { failed: `${about}${sentenceOf(failure)}` };
  }
}

async function processingFaults(
  value: unknown,
  pointer: string,
  load: DocumentLoader,
): Promise<readonly InputIssue[]> {
  const elements = elementsOf(value, pointer);
  const error = await processingError([...elements.map((one) => one.value), coreContextUrl()], load);
  if (error === undefined) return [];
  const fault = await processingFault(value, pointer, load);
  if (fault !== undefined) return [fault];
  if (error.code !== 'protected term redefinition') return [{ pointer, detail: sentenceOf(error) }];
  const { term } = error;
  const places = elements.flatMap((one) =>
    term !== undefined && isObject(one.value) && Object.hasOwn(one.value, term)
      ? [pointerTo(one.pointer, term)]
      : [],
  );
  const detail =
    `The context protects ${term === undefined ? 'a term' : `"${term}"`}, which ` +
    'the NGSI-LD core context defines differently: no entity could be read with both.';
  return [{ pointer: places.at(-1) ?? pointer, detail }];
}

/**
 * Has the processor process a context in an otherwise empty document (JSON-LD 1.1 API § 4.1).
 *
 * @returns what is wrong with it, at the term at fault; undefined for a valid context
 */
async function processingFault(
  value: unknown,
  pointer: string,
  load: DocumentLoader,
): Promise<InputIssue | undefined> {
  const elements = elementsOf(value, pointer);
  const errorOf = (contexts: readonly unknown[]) => processingError(contexts, load);
  const values = elements.map((element) => element.value);
  const whole = await errorOf(values);
  if (whole === undefined) return undefined;

  const count = await firstFailing(values.length, async (k) => errorOf(values.slice(0, k)));
  const element = elements[count - 1] ?? { value, pointer };
  const before = values.slice(0, count - 1);
  const error = (await errorOf([...before, element.value])) ?? whole;
  return isObject(element.value)
    ? faultInMap(element.value, element.pointer, error, async (map) => errorOf([...before, map]))
    : { pointer: element.pointer, detail: `In ${String(element.value)}: ${sentenceOf(error)}` };
}

/**
 * Narrows the error of a map down to a keyword, or to the first term that fails, in an order in which terms follow
 * those they depend on.
 */
async function faultInMap(
  map: JsonObject,
  pointer: string,
  error: ProcessingError,
  errorOf: (map: object) => Promise<ProcessingError | undefined>,
): Promise<InputIssue> {
  const keywords = Object.entries(map).filter(([name]) => name.startsWith('@'));
  const keywordError = await errorOf(Object.fromEntries(keywords));
  if (keywordError !== undefined) {
    // Without terms in the map, an error about a term can only be in an imported context.
    const { term, code } = keywordError;
    const name = [term, KEYWORD_OF_CODE.get(code), '@import'].find(
      (found) => found !== undefined && Object.hasOwn(map, found),
    );
    const at = name === undefined ? pointer : pointerTo(pointer, name);
    return { pointer: at, detail: sentenceOf(keywordError) };
  }
  const terms = dependenciesFirst(map);
  const withFirst = (count: number) =>
    Object.fromEntries([...keywords, ...terms.slice(0, count).map((term) => [term, map[term]] as const)]);
  const count = await firstFailing(terms.length, async (k) => errorOf(withFirst(k)));
  const termError = (await errorOf(withFirst(count))) ?? error;
  const term = terms.slice(count - 1, count);
  const inside = termError.code === 'invalid scoped context' ? ['@context'] : [];
  return { pointer: pointerTo(pointer, ...term, ...inside), detail: sentenceOf(termError) };
}

/** The smallest count that fails, found by bisection: what fails still fails if more is added. `most` is known to fail. */
async function firstFailing(
  most: number,
  errorOf: (count: number) => Promise<ProcessingError | undefined>,
): Promise<number> {
  let [passing, failing] = [0, most];
  while (failing - passing > 1) {
    const middle = Math.floor((passing + failing) / 2);
    if ((await errorOf(middle)) === undefined) passing = middle;
    else failing = middle;
  }
  return failing;
}

/**
 * Processes contexts, in order, in an otherwise empty document, and returns the error; undefined if there is none.
 * Errors of the loader count as errors of the processor, which does not always distinguish them.
 *
 * Uses a new processor each time, because a cached context would hide that a context it imports has changed.
 */
export async function processingError(
  contexts: readonly unknown[],
  load: DocumentLoader,
): Promise<ProcessingError | undefined> {
  try {
    await createProcessor().expand({ '@context': contexts }, { documentLoader: load });
    return undefined;
  } catch (error) {
    return processingErrorOf(error);
  }
}
