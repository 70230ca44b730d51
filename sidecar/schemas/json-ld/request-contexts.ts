import { type InputIssue, isObject, pointerTo } from '../../shared/json/json.js';
import { LRUCache } from 'lru-cache';
import { referencesOf } from './context-form.js';
import { countOf, limitFaults, termFaults } from './context-safety.js';
import type { DocumentSurvey } from './document-survey.js';
import type { GatheredContexts } from './context-cache.js';
import { type Refused, refusedFor } from './outcomes.js';
import { absoluteReference } from './context-resolver.js';
import { createProcessor, type JsonLdProcessor } from './processor.js';
import type { JsonLdRequest } from './request-body.js';

/** Maximum number of different contexts in one document, not counting the one that it is processed with. */
const MAX_DIFFERENT_CONTEXTS = 100;
const MAX_FAULTS = 100;

/** The contexts that a request itself contains, before any is loaded. */
export interface RequestContexts {
  /** The URLs that they name. */
  readonly urls: ReadonlySet<string>;
  /** Equal for requests with the same outer contexts; undefined if the processed contexts must not be shared. */
  readonly signature: string | undefined;
  /** Characters of the contexts in the request. */
  readonly characters: number;
  readonly parts: number;
}

/** Maximum number of characters of contexts that are remembered as being within the limits. */
const MAX_KEPT = 4 * 1024 * 1024;

/** Reads the contexts of requests, and remembers them, because many requests have the same ones. */
export class RequestContextReader {
  readonly #known = new LRUCache<string, RequestContexts>({
    maxSize: MAX_KEPT,
    sizeCalculation: (_, key) => 2 * key.length,
  });

  /** @returns a refusal if the contexts are too much to process */
  read(request: JsonLdRequest, survey: DocumentSurvey): RequestContexts | Refused {
    const { context } = request;
    const { outerContexts, innerContexts } = survey;
    const inDocument = textsOf([...outerContexts, ...innerContexts]);
    const values = new Map([...textsOf(context === undefined ? [] : [context]), ...inDocument]);
    const key = [`${innerContexts.length > 0} ${context !== undefined}`, ...values.keys()].join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const refused =
      inDocument.size > MAX_DIFFERENT_CONTEXTS ? tooMany(inDocument.size) : refusalOf(values, request);
    if (refused !== undefined) return refused;
    const read = contextsIn(values, innerContexts.length === 0 ? key : undefined);
    this.#known.set(key, read);
    return read;
  }
}

/** The values by their JSON text; equal values occur once. */
function textsOf(values: readonly unknown[]): ReadonlyMap<string, unknown> {
  return new Map(values.map((value) => [JSON.stringify(value), value]));
}

function tooMany(count: number): Refused {
  const detail = `A document may have at most ${MAX_DIFFERENT_CONTEXTS} different contexts; this one has ${count}.`;
  return refusedFor('limitExceeded', 'There are too many contexts', [{ pointer: '/document', detail }]);
}

/** @param values by their JSON text */
function refusalOf(
  values: ReadonlyMap<string, unknown>,
  { document, context, contextPointer }: JsonLdRequest,
): Refused | undefined {
  const faultsOf = (check: (value: unknown) => readonly InputIssue[]) =>
    [...values.values()].flatMap((value) =>
      check(value).map(({ pointer, detail }) => {
        const base = value === context ? contextPointer : (pointerOf(document, value) ?? '/document');
        return { pointer: base + pointer, detail };
      }),
    );
  const exceeded = faultsOf(limitFaults);
  if (exceeded.length > 0)
    return refusedFor('limitExceeded', 'A context is too large', exceeded.slice(0, MAX_FAULTS));
  const invalid = faultsOf(termFaults);
  return invalid.length > 0
    ? refusedFor('jsonLdInvalid', 'A context is invalid', invalid.slice(0, MAX_FAULTS))
    : undefined;
}

function contextsIn(values: ReadonlyMap<string, unknown>, signature: string | undefined): RequestContexts {
  const all = [...values.values()];
  const references = all.flatMap((value) => referencesOf(value));
  return {
    urls: new Set(references.map(({ url }) => absoluteReference('', url))),
    signature,
    characters: [...values.keys()].reduce((sum, text) => sum + text.length, 0),
    parts: all.reduce<number>((sum, value) => sum + countOf(value).parts, 0),
  };
}

/** The contexts of a request, with the weight that they have in a processor's cache. */
export function contextUse(own: RequestContexts, gathered: GatheredContexts): ContextUse {
  let [characters, parts] = [own.characters, own.parts];
  for (const { text, parts: inside, isBundled } of gathered.contents.values()) {
    characters += text.length;
    parts += isBundled ? 1 : inside;
  }
  return { gathered, signature: own.signature, weight: characters * parts };
}

/** The pointer of a context of a document in the body. The context is found by object identity. */
function pointerOf(value: unknown, context: unknown, pointer = '/document'): string | undefined {
  if (!Array.isArray(value) && !isObject(value)) return undefined;
  for (const [name, item] of Object.entries(value) as [string, unknown][]) {
    const at = pointerTo(pointer, name);
    if (name === '@context' && item === context) return at;
    const found = name === '@context' ? undefined : pointerOf(item, context, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Maximum weight of the contexts of all processors that are kept: the number of their characters, counted once for each
 * context that they were processed with. A character takes some 20 bytes.
 */
const MAX_WEIGHT = 5_000_000;

/** Maximum weight of the contexts of one of them. */
const MAX_SHARED_WEIGHT = MAX_WEIGHT / 2;

/** Maximum number of processors that are kept. Each takes some 10 kB, however small its contexts are. */
const MAX_PROCESSORS = 1000;

/** The contexts of a request, as a processor caches them. */
export interface ContextUse {
  readonly gathered: GatheredContexts;
  /** Equal for requests with the same contexts in the same order; undefined if nothing must be cached. */
  readonly signature: string | undefined;
  /** See {@link MAX_WEIGHT}. */
  readonly weight: number;
}

/** Processors by their contexts: requests with the same contexts share one, so that these are processed only once. */
export class SharedProcessors {
  readonly #known = new LRUCache<string, JsonLdProcessor>({
    max: MAX_PROCESSORS,
    maxSize: MAX_WEIGHT,
    maxEntrySize: MAX_SHARED_WEIGHT,
  });

  /** The processor for a request, which must load nothing but what was gathered for the request. */
  for({ signature, weight, gathered: { contents } }: ContextUse): JsonLdProcessor {
    if (signature === undefined) return createProcessor();
    // A processor caches contexts by their URLs, which may have another meaning later.
    const key = [signature, ...Array.from(contents, ([url, content]) => `${url} ${content.key}`)].join('\n');
    const processor = this.#known.get(key) ?? createProcessor();
    this.#known.set(key, processor, { size: Math.max(1, weight) });
    return processor;
  }
}
