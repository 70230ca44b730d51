import { countOf, limitFaults, termFaults } from './context-safety.js';
import { referencesOf } from './context-references.js';
import type { DocumentSurvey } from './document-survey.js';
import type { ContextFault } from './errors.js';
import { isMap, pointerTo } from './json.js';
import type { GatheredContexts } from './known-contexts.js';
import { refusedFor, type Refused } from './outcomes.js';
import { absoluteReference } from './processor.js';
import { RecentlyUsed } from '../../shared/recently-used.js';
import type { JsonLdRequest } from './request-body.js';
import type { ContextUse } from './shared-processor.js';

/** Different contexts that one document may have. */
const MOST_DIFFERENT = 100;
const MOST_FAULTS = 100;

/** The contexts that a request holds itself, before any is loaded. */
export interface RequestContexts {
  /** The URLs that they name. */
  readonly urls: ReadonlySet<string>;
  /** The same for requests with the same contexts outside; undefined when they are not for sharing. */
  readonly signature: string | undefined;
  readonly hasImport: boolean;
  /** Of what stands in the request. */
  readonly characters: number;
  readonly parts: number;
}

/** Characters of contexts that are known to be within the limits. */
const MOST_KEPT = 4 * 1024 * 1024;

/** Reads the contexts of requests, and remembers those that many requests have. */
export class RequestContextReader {
  readonly #known = new RecentlyUsed<RequestContexts & { readonly key: string }>(
    MOST_KEPT,
    ({ key }) => 2 * key.length,
  );

  /** @returns a refusal when they are too much to process */
  read(request: JsonLdRequest, survey: DocumentSurvey): RequestContexts | Refused {
    const { context } = request;
    const { outerContexts, innerContexts } = survey;
    const values = new Map<string, unknown>();
    for (const value of [context, ...outerContexts, ...innerContexts])
      if (value !== undefined) values.set(JSON.stringify(value), value);
    const key = [`${innerContexts.length > 0} ${context !== undefined}`, ...values.keys()].join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const refused = refusalOf(values, request);
    if (refused !== undefined) return refused;
    const read = { ...contextsIn(values, innerContexts.length === 0 ? key : undefined), key };
    this.#known.set(key, read);
    return read;
  }
}

/** @param values by their JSON */
function refusalOf(
  values: ReadonlyMap<string, unknown>,
  { document, context, contextPointer }: JsonLdRequest,
): Refused | undefined {
  if (values.size > MOST_DIFFERENT + 1) {
    const detail = `A document may have ${MOST_DIFFERENT} different contexts; this one has ${values.size}.`;
    return refusedFor('LIMIT_EXCEEDED', 'The contexts are too many', [{ pointer: '/document', detail }]);
  }
  const faultsOf = (check: (value: unknown) => readonly ContextFault[]) =>
    [...values.values()].flatMap((value) =>
      check(value).map(({ pointer, detail }) => {
        const base = value === context ? contextPointer : (pointerOf(document, value) ?? '/document');
        return { pointer: base + pointer, detail };
      }),
    );
  const exceeded = faultsOf(limitFaults);
  if (exceeded.length > 0)
    return refusedFor('LIMIT_EXCEEDED', 'A context is too large', exceeded.slice(0, MOST_FAULTS));
  const invalid = faultsOf(termFaults);
  return invalid.length > 0
    ? refusedFor('JSON_LD_INVALID', 'A context is invalid', invalid.slice(0, MOST_FAULTS))
    : undefined;
}

function contextsIn(values: ReadonlyMap<string, unknown>, signature: string | undefined): RequestContexts {
  const all = [...values.values()];
  const references = all.flatMap((value) => referencesOf(value));
  return {
    urls: new Set(references.map(({ url }) => absoluteReference('', url))),
    signature,
    hasImport: references.some(({ isImport }) => isImport),
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
  const { signature, hasImport } = own;
  return { gathered, signature, hasImport, weight: characters * parts };
}

/** Where a context of a document stands in the body; it is told by its identity. */
function pointerOf(value: unknown, context: unknown, pointer = '/document'): string | undefined {
  if (!Array.isArray(value) && !isMap(value)) return undefined;
  for (const [name, item] of Object.entries(value) as [string, unknown][]) {
    const at = pointerTo(pointer, name);
    if (name === '@context' && item === context) return at;
    const found = name === '@context' ? undefined : pointerOf(item, context, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
