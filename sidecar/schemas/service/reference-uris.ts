import { isArray, isObject, member, type JsonValue } from '../../shared/json/json.js';
import { documentUri, resolveUri } from '../json-schema/uri.js';
import { ReferenceUriError } from './errors.js';

const LONGEST_URI = 2048;

/**
 * The normal form of a URI under which a document is stored.
 *
 * @throws ReferenceUriError
 */
export function referenceUri(text: string): string {
  const uri = documentUri(text);
  if (uri === undefined || !/^(?:https?|urn):/.test(uri))
    throw new ReferenceUriError('is no absolute http, https or urn URI');
  if (text.includes('#')) throw new ReferenceUriError('has a fragment, and documents are named without');
  if (uri.length > LONGEST_URI) throw new ReferenceUriError(`has more than ${LONGEST_URI} characters`);
  const { username, password } = new URL(uri);
  if (username !== '' || password !== '') throw new ReferenceUriError('has credentials in it');
  return uri;
}

const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];

/**
 * The URIs of other documents that a document names by `$ref` and the like, wherever they stand.
 *
 * @param document of bounded depth
 * @param uri against which it resolves, whatever its own `$id` says
 */
export function urisNamedIn(document: JsonValue, uri: string): ReadonlySet<string> {
  const named = new Set<string>();
  const own = new Set([uri]);
  const visit = (value: JsonValue, base: string): void => {
    if (isArray(value)) for (const item of value) visit(item, base);
    if (!isObject(value)) return;
    const id = value === document ? undefined : member(value, '$id');
    const inner = (typeof id === 'string' ? resolveUri(id, base)?.uri : undefined) ?? base;
    own.add(inner);
    for (const keyword of REFERENCES) {
      const reference = member(value, keyword);
      const target = typeof reference === 'string' ? resolveUri(reference, inner)?.uri : undefined;
      if (target !== undefined) named.add(target);
    }
    for (const item of Object.values(value)) visit(item, inner);
  };
  visit(document, uri);
  return new Set([...named].filter((target) => !own.has(target)));
}
