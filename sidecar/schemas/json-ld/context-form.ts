import {
  type InputIssue,
  isObject,
  type JsonObject,
  type JsonValue,
  pointerTo,
} from '../../shared/json/json.js';

/** A context without the map that wraps it. */
export interface ContextForm {
  readonly value: unknown;
  /** The position of the value in the submitted JSON. */
  readonly pointer: string;
  /** The first few members next to the value in the wrapping map. */
  readonly faults: readonly InputIssue[];
}

const MAX_LISTED_MEMBERS = 20;

/** Unwraps `{"@context": value}`; any other value is returned unchanged. */
export function unwrapped(submitted: unknown, pointer: string): ContextForm {
  if (!isObject(submitted) || !Object.hasOwn(submitted, '@context')) {
    return { value: submitted, pointer, faults: [] };
  }
  const strangers = Object.keys(submitted).filter((name) => name !== '@context');
  return {
    value: submitted['@context'],
    pointer: pointerTo(pointer, '@context'),
    faults: strangers.slice(0, MAX_LISTED_MEMBERS).map((name) => ({
      pointer: pointerTo(pointer, name),
      detail: 'Members next to @context have no effect. Terms belong inside it.',
    })),
  };
}

/** A part of a context, and its position. */
export interface ContextPart {
  readonly value: unknown;
  readonly pointer: string;
}

/** The elements of a context: the items of an array, or the only one. */
export function elementsOf(value: unknown, pointer: string): readonly ContextPart[] {
  if (!Array.isArray(value)) return [{ value, pointer }];
  return value.map((item: unknown, index) => ({ value: item, pointer: pointerTo(pointer, index) }));
}

/** Why a value does not have an accepted form: a map of terms, an array of maps and URLs, or a URL. Empty if it does. */
export function formFaults(value: unknown, pointer: string): readonly InputIssue[] {
  const elements = elementsOf(value, pointer);
  if (elements.length === 0)
    return [{ pointer, detail: 'The array is empty, so it does not define any terms.' }];
  return elements.flatMap((one) => elementFaults(one.value, one.pointer));
}

/** Checks that a URL in a context is absolute, so that it means the same to every reader. */
export function urlFault(url: string, pointer: string): InputIssue | undefined {
  const protocol = URL.parse(url)?.protocol;
  return protocol === 'http:' || protocol === 'https:'
    ? undefined
    : { pointer, detail: `"${url}" is not an absolute http or https URL, which a context URL must be.` };
}

function elementFaults(element: unknown, pointer: string): readonly InputIssue[] {
  return element === null
    ? [{ pointer, detail: 'null removes all terms, including those of NGSI-LD.' }]
    : mapFaults(element, pointer, 'A context is a map of terms, a URL, or an array of these.');
}

/** Why an element is neither a URL nor a map of terms. @param demand the sentence for anything else */
export function mapFaults(element: unknown, pointer: string, demand: string): readonly InputIssue[] {
  if (typeof element === 'string') return [];
  if (!isObject(element)) return [{ pointer, detail: demand }];
  if (!Object.hasOwn(element, '@context')) return [];
  const detail = '@context must wrap the whole context, not a part of it.';
  return [{ pointer: pointerTo(pointer, '@context'), detail }];
}

/** The URL of another context that a context refers to. */
export interface ContextReference {
  readonly url: string;
  /** The position of the URL in the context. */
  readonly pointer: string;
}

/**
 * The URLs that processing a context loads: those in its arrays, in `@import`, and in scoped contexts (JSON-LD 1.1
 * API § 4.1.2). Recursive, so only for contexts whose depth was checked.
 */
export function referencesOf(context: unknown, pointer = ''): readonly ContextReference[] {
  if (typeof context === 'string') return [{ url: context, pointer }];
  if (Array.isArray(context)) {
    return context.flatMap((item, index) => referencesOf(item, pointerTo(pointer, index)));
  }
  if (!isObject(context)) return [];
  return Object.entries(context).flatMap(([term, definition]) => {
    const at = pointerTo(pointer, term);
    if (term === '@import') return typeof definition === 'string' ? [{ url: definition, pointer: at }] : [];
    // Processors also read a map that wraps another context.
    if (term === '@context') return referencesOf(definition, at);
    return hasScopedContext(definition)
      ? referencesOf(definition['@context'], pointerTo(at, '@context'))
      : [];
  });
}

/** Whether a term definition has a context of its own (JSON-LD 1.1 § 4.1.8). */
export function hasScopedContext(definition: unknown): definition is JsonObject {
  return isObject(definition) && Object.hasOwn(definition, '@context');
}

/** Whether no element of an embedded context is, or imports, a URL that was kept. Scoped contexts do not matter. */
export function isSelfContained(elements: readonly JsonValue[]): boolean {
  return elements.every(
    (element) => typeof element !== 'string' && !(isObject(element) && Object.hasOwn(element, '@import')),
  );
}
