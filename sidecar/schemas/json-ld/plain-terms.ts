import { isObject, type JsonValue } from '../../shared/json/json.js';
import { prefixOf } from './context-safety.js';
import type { TermMeaning } from './term-meanings.js';

const ABSOLUTE_IRI = /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/;

const TYPES: ReadonlySet<JsonValue> = new Set(['@id', '@json', '@none', '@vocab']);

const CONTAINERS: ReadonlySet<JsonValue> = new Set([
  '@graph',
  '@id',
  '@index',
  '@language',
  '@list',
  '@set',
  '@type',
]);

/**
 * Whether the definition of a term is an absolute IRI with at most an `@type` and one `@container`. Among other such
 * terms, it is valid and means the same, unless its IRIs begin with one of them; see {@link prefixesIn}.
 */
export function isPlainTerm(term: string, meaning: TermMeaning): boolean {
  if (/[:/]/.test(term)) return false;
  const definition = isObject(meaning) ? meaning : { '@id': meaning };
  return Object.entries({ '@id': null, ...definition }).every(
    ([name, value]) =>
      ((name === '@id' || name === '@type') && typeof value === 'string' && ABSOLUTE_IRI.test(value)) ||
      (name === '@type' && TYPES.has(value)) ||
      (name === '@container' && CONTAINERS.has(value)),
  );
}

/**
 * The names that processors would read as prefixes in the IRIs of plain terms, if they were terms: `urn` in `urn:x:1`.
 */
export function prefixesIn(meanings: Iterable<TermMeaning>): ReadonlySet<string> {
  const prefixes = new Set<string>();
  for (const meaning of meanings)
    for (const text of isObject(meaning) ? [meaning['@id'], meaning['@type']] : [meaning]) {
      const prefix = typeof text === 'string' ? prefixOf(text) : undefined;
      if (prefix !== undefined) prefixes.add(prefix);
    }
  return prefixes;
}
