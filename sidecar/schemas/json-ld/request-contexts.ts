import { type InputIssue, isObject, pointerTo } from '../../shared/json/json.js';
import { LRUCache } from 'lru-cache';
import { referencesOf } from './context-form.js';
import { countOf, limitFaults, termFaults } from './context-safety.js';
import type { DocumentSurvey } from './document-survey.js';
import type { GatheredContexts } from './known-contexts.js';
import { type Refused, refusedFor } from './outcomes.js';
import { absoluteReference, createProcessor, type JsonLdProcessor } from './processor.js';
import type { JsonLdRequest } from './request-body.js';

/** Different contexts that one document may have; the one that it is processed with is not among them. */
const MAX_DIFFERENT_CONTEXTS = 100;
const MAX_FAULTS = 100;

/** The contexts that a request holds itself, before any is loaded. */
export interface RequestContexts {
  /** The URLs that they name. */
  readonly urls: ReadonlySet<string>;
  /** The same for requests with the same contexts outside; undefined when they are not for sharing. */
  readonly signature: string | undefined;
  /** Of what stands in the request. */
  readonly characters: number;
  readonly parts: number;
}

/** Characters of contexts that are known to be within the limits. */
const MAX_KEPT = 4 * 1024 * 1024;

/** Reads the contexts of requests, and remembers those that many requests have. */
export class RequestContextReader {
  readonly #known = new LRUCache<string, RequestContexts>({
    maxSize: MAX_KEPT,
    sizeCalculation: (_, key) => 2 * key.length,
  });

  /** @returns a refusal when they are too much to process */
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

/** Values by their JSON, equal ones once. */
function textsOf(values: readonly unknown[]): ReadonlyMap<string, unknown> {
  return new Map(values.map((value) => [JSON.stringify(value), value]));
}

function tooMany(count: number): Refused {
  const detail = `A document may have ${MAX_DIFFERENT_CONTEXTS} different contexts; this one has ${count}.`;
  return refusedFor('limitExceeded', 'The contexts are too many', [{ pointer: '/document', detail }]);
}

/** @param values by their JSON */
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

/** What processing the contexts of a request leaves in a processor. */
export function contextUse(own: RequestContexts, gathered: GatheredContexts): ContextUse {
  let [characters, parts] = [own.characters, own.parts];
  for (const { text, parts: inside, isBundled } of gathered.contents.values()) {
    characters += text.length;
    parts += isBundled ? 1 : inside;
  }
  return { gathered, signature: own.signature, weight: characters * parts };
}

/** Where a context of a document stands in the body; found by identity. */
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
 * What a processor may keep of processed contexts: characters of theirs, each time for each context that they were
 * processed with. A character takes some 20 bytes.
 */
const MAX_WEIGHT = 5_000_000;

/** Above it, the contexts of one request are not kept. */
const MAX_SHARED_WEIGHT = MAX_WEIGHT / 2;

/** The contexts of a request, as a processor keeps them. */
export interface ContextUse {
  readonly gathered: GatheredContexts;
  /** The same for requests with the same contexts in the same order; undefined where nothing is to be cached. */
  readonly signature: string | undefined;
  /** See {@link MAX_WEIGHT}. */
  readonly weight: number;
}

/**
 * A processor for many requests, which has the contexts that they share processed once. It keeps contexts under their
 * URLs, and is replaced when one of these comes to mean something else.
 */
export class SharedProcessor {
  #processor: JsonLdProcessor = createProcessor();
  readonly #keys = new Map<string, string>();
  readonly #signatures = new Set<string>();
  #weight = 0;

  /**
   * The processor for a request, which is to load nothing but what was gathered for it. It is one of
   * the request's own where the contexts are too large to be kept, and where one is not available, as it may still be kept
   * from before.
   */
  for(use: ContextUse): JsonLdProcessor {
    return this.#isKeepable(use) ? this.#shared(use) : createProcessor();
  }

  #isKeepable({ signature, weight, gathered }: ContextUse): boolean {
    return signature !== undefined && weight <= MAX_SHARED_WEIGHT && gathered.failures.size === 0;
  }

  #shared({ signature = '', weight, gathered: { contents } }: ContextUse): JsonLdProcessor {
    const hasChanged = [...contents].some(([url, { key }]) => (this.#keys.get(url) ?? key) !== key);
    const isTooMuch = !this.#signatures.has(signature) && this.#weight + weight > MAX_WEIGHT;
    if (hasChanged || isTooMuch) this.#replace();
    for (const [url, { key }] of contents) this.#keys.set(url, key);
    if (!this.#signatures.has(signature)) {
      this.#signatures.add(signature);
      this.#weight += weight;
    }
    return this.#processor;
  }

  #replace(): void {
    this.#processor = createProcessor();
    this.#keys.clear();
    this.#signatures.clear();
    this.#weight = 0;
  }
}
