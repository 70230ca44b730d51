import { isMap, pointerTo, type JsonMap } from './json.js';

/** A context URL that a context names. */
export interface ContextReference {
  readonly url: string;
  /** Where it stands in the context. */
  readonly pointer: string;
  /** Whether it is the value of `@import`. */
  readonly isImport: boolean;
}

/**
 * The URLs that processing a context loads: those in its arrays, of `@import`, and of scoped contexts
 * (JSON-LD 1.1 API § 4.1.2). Recursive: for contexts whose depth was checked.
 */
export function referencesOf(context: unknown, pointer = ''): readonly ContextReference[] {
  if (typeof context === 'string') return [{ url: context, pointer, isImport: false }];
  if (Array.isArray(context)) {
    return context.flatMap((item, index) => referencesOf(item, pointerTo(pointer, index)));
  }
  if (!isMap(context)) return [];
  return Object.entries(context).flatMap(([term, definition]) => {
    const at = pointerTo(pointer, term);
    if (term === '@import')
      return typeof definition === 'string' ? [{ url: definition, pointer: at, isImport: true }] : [];
    // Processors look into a map that wraps another context.
    if (term === '@context') return referencesOf(definition, at);
    return hasScopedContext(definition)
      ? referencesOf(definition['@context'], pointerTo(at, '@context'))
      : [];
  });
}

/** Whether a term definition has a context of its own (JSON-LD 1.1 § 4.1.8). */
export function hasScopedContext(definition: unknown): definition is JsonMap {
  return isMap(definition) && Object.hasOwn(definition, '@context');
}
