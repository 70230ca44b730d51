import { isArray, isObject, type JsonValue, member } from '../../shared/json/json.js';
import { referencesOf } from '../json-ld/context-form.js';
import { parseJson } from '../../shared/json/lossless-json.js';
import { documentUri } from '../json-schema/uri.js';
import { targetOf } from './urls.js';

/**
 * Returns the names of other contexts in a context: in arrays, in `@import`, and in scoped contexts (JSON-LD 1.1
 * § 4.1.8).
 *
 * @param context the value of an `@context`, of bounded depth
 * @returns the names as written, so that they may be relative, without duplicates
 */
export function contextNamesIn(context: JsonValue | undefined): readonly string[] {
  return [...new Set(referencesOf(context).map(({ url }) => url))];
}

/**
 * Returns the same context with its relative names resolved to absolute URLs.
 *
 * @param context of bounded depth
 * @param base a URL
 */
function withAbsoluteNames(context: JsonValue, base: string): JsonValue {
  const visit = (value: JsonValue): JsonValue => {
    if (typeof value === 'string')
      return isRelative(value) ? (targetOf({ target: value, within: [] }, base) ?? value) : value;
    if (isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([term, definition]) => [term, visitTerm(term, definition)]),
    );
  };
  const visitTerm = (term: string, definition: JsonValue): JsonValue => {
    if (term === '@import' || term === '@context') return visit(definition);
    const scoped = isObject(definition) ? member(definition, '@context') : undefined;
    return isObject(definition) && scoped !== undefined
      ? { ...definition, '@context': visit(scoped) }
      : definition;
  };
  return visit(context);
}

/** Whether the name of a context is relative, so that its meaning depends on its place. */
export function isRelative(name: string): boolean {
  return documentUri(name) === undefined;
}

/**
 * Returns the context in a file: its `@context`, or the whole file if it is not an object with one.
 *
 * @param base the URL against which relative names of other contexts are resolved
 */
export function contextIn(text: string, base?: string): JsonValue {
  const document = parseJson(text) as JsonValue;
  const context = isObject(document) ? (member(document, '@context') ?? null) : document;
  return base === undefined ? context : withAbsoluteNames(context, base);
}
