import { isMap, pointerTo, type JsonMap } from './json.js';

/** A context URL that a context names. */
export interface ContextReference {
  readonly url: string;
  /** Where it stands in the context. */
  readonly pointer: string;
}

/**
 * The URLs that processing a context loads: those in its arrays, of `@import`, and of scoped contexts
 * (JSON-LD 1.1 API § 4.1.2). Recursive: for contexts whose depth was checked.
 */
export function referencesOf(context: unknown, pointer = ''): readonly ContextReference[] {
  if (typeof context === 'string') return [{ url: context, pointer }];
  if (Array.isArray(context)) {
    return context.flatMap((item, index) => referencesOf(item, pointerTo(pointer, index)));
  }
  if (!isMap(context)) return [];
  return Object.entries(context).flatMap(([term, definition]) => {
    const at = pointerTo(pointer, term);
    if (term === '@import') return typeof definition === 'string' ? [{ url: definition, pointer: at }] : [];
    return hasScopedContext(definition)
      ? referencesOf(definition['@context'], pointerTo(at, '@context'))
      : [];
  });
}

/** The same context with other URLs in the places that {@link referencesOf} finds. */
export function replaceReferences(context: unknown, replace: (url: string) => string): unknown {
  if (typeof context === 'string') return replace(context);
  if (Array.isArray(context)) return context.map((item) => replaceReferences(item, replace));
  if (!isMap(context)) return context;
  const members = Object.entries(context).map(([term, definition]): [string, unknown] => {
    if (term === '@import') return [term, typeof definition === 'string' ? replace(definition) : definition];
    if (!hasScopedContext(definition)) return [term, definition];
    return [term, { ...definition, '@context': replaceReferences(definition['@context'], replace) }];
  });
  return Object.fromEntries(members);
}

/** Whether a term definition has a context of its own (JSON-LD 1.1 § 4.1.8). */
export function hasScopedContext(definition: unknown): definition is JsonMap {
  return isMap(definition) && Object.hasOwn(definition, '@context');
}
