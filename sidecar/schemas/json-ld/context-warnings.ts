import { isObject, type JsonObject, member, pointerTo } from '../../shared/json/json.js';
import { coreIriOf, coreVersionOf } from './core-context.js';
import { hasScopedContext } from './context-form.js';
import { prefixOf } from './context-safety.js';
import { isPrefixTerm, type TermMeaning } from './term-meanings.js';

/** Kinds of problems for which a context is not rejected, although it may not do what its author expects. */
type ContextWarningCode =
  | 'coercion'
  | 'core-context-not-last'
  | 'core-term'
  | 'no-iri'
  | 'reserved-term'
  | 'scoped-context'
  | 'undefined-prefix'
  | 'vocab';

/** A problem for which a context is not rejected, and its place. */
export interface ContextWarning {
  readonly code: ContextWarningCode;
  /** JSON pointer (RFC 6901) into what was submitted. */
  readonly pointer: string;
  readonly detail: string;
}

/** The defined names, and whether each can be a prefix. */
type Prefixes = ReadonlyMap<string, boolean>;

/** Finds the warnings about a valid context. @param pointer the position of its value */
export function contextWarnings(value: unknown, pointer: string): readonly ContextWarning[] {
  if (!Array.isArray(value))
    return isObject(value) ? mapWarnings(value, pointer, new Map(prefixesIn(value))) : [];
  const elements: readonly unknown[] = value;
  const namesOthers = elements.some((item) => typeof item === 'string' && coreVersionOf(item) === undefined);
  const prefixes = namesOthers ? undefined : new Map(elements.filter(isObject).flatMap(prefixesIn));
  return elements.flatMap((element, index) => {
    const at = pointerTo(pointer, index);
    if (isObject(element)) return mapWarnings(element, at, prefixes);
    const isCore = typeof element === 'string' && coreVersionOf(element) !== undefined;
    return isCore && index < elements.length - 1 ? [coreNotLast(at)] : [];
  });
}

function prefixesIn(map: JsonObject): readonly (readonly [string, boolean])[] {
  return Object.entries(map).map(([term, definition]) => {
    const isPlain = typeof definition === 'string';
    return [term, isPrefixTerm(isPlain ? expandIn(map, definition) : (definition as TermMeaning))];
  });
}

function coreNotLast(pointer: string): ContextWarning {
  const detail = 'Brokers apply the core context last, wherever it stands. Put it last.';
  return { code: 'core-context-not-last', pointer, detail };
}

/** @param prefixes undefined if other contexts may define further ones */
function mapWarnings(
  map: JsonObject,
  pointer: string,
  prefixes: Prefixes | undefined,
): readonly ContextWarning[] {
  return Object.entries(map).flatMap(([term, definition]) => {
    const warnings = term.startsWith('@')
      ? keywordWarnings(term, definition)
      : termWarnings(term, definition, map, prefixes);
    return [...warnings].map(([code, detail]) => ({ code, pointer: pointerTo(pointer, term), detail }));
  });
}

/** Members of a context that are not terms (JSON-LD 1.1 § 9.15). */
const CONTEXT_KEYWORDS: ReadonlySet<string> = new Set(
  'base direction import language propagate protected type version vocab'
    .split(' ')
    .map((name) => `@${name}`),
);

type Warnings = Iterable<readonly [ContextWarningCode, string]>;

function* keywordWarnings(keyword: string, value: unknown): Warnings {
  if (keyword === '@vocab')
    yield ['vocab', '@vocab has no effect in NGSI-LD: the @vocab of the core context overrides it.'];
  if (['@language', '@direction'].includes(keyword) && value !== null)
    yield [
      'coercion',
      `${keyword} applies to every text, not only to the values of LanguageProperties: ` +
        `brokers may store and return each as an object with @value and ${keyword}.`,
    ];
  if (!CONTEXT_KEYWORDS.has(keyword))
    yield ['reserved-term', `"${keyword}" looks like a keyword: JSON-LD processors may ignore it.`];
}

/** Schemes that IRIs of terms have; any other word before a colon is probably an undefined prefix. */
const KNOWN_SCHEMES: ReadonlySet<string> = new Set([
  'did',
  'http',
  'https',
  'ni',
  'oid',
  'tag',
  'urn',
  'uuid',
  '_',
]);

function* termWarnings(
  term: string,
  definition: unknown,
  map: JsonObject,
  prefixes: Prefixes | undefined,
): Warnings {
  const has = (name: string) => isObject(definition) && Object.hasOwn(definition, name);
  const written = isObject(definition) ? member(definition, '@id') : definition;
  /** What the term is mapped to, as written; undefined if it is not mapped explicitly. */
  const id = written === undefined && term.includes(':') ? term : written;
  const iri = typeof id === 'string' ? expandIn(map, id) : undefined;
  const coreIri = coreIriOf(term);
  if (coreIri !== undefined && coreIri !== iri)
    yield [
      'core-term',
      `"${term}" is a term of the NGSI-LD core context, which takes precedence: it means ${coreIri}.`,
    ];
  if (id === null || (iri !== undefined && iri !== coreIri && /^(?:@|_:)/.test(iri)))
    yield ['no-iri', `"${term}" is mapped to ${iri ?? 'null'}, which cannot name an attribute or a type.`];
  if (has('@reverse'))
    yield [
      'no-iri',
      `"${term}" means a property in the opposite direction (@reverse), which no attribute can be.`,
    ];
  const prefix = typeof id === 'string' ? prefixOf(id) : undefined;
  if (prefix !== undefined && prefixes !== undefined && isUnknown(prefix, prefixes)) {
    const why = prefixes.has(prefix)
      ? `The term "${prefix}" is no prefix, because its IRI does not end with / or #, or its definition lacks "@prefix": true`
      : `The prefix "${prefix}" is not defined here`;
    yield ['undefined-prefix', `${why}: "${String(id)}" is read as a complete IRI.`];
  }
  if ((coreIri === undefined || iri !== coreIri) && (has('@type') || has('@container')))
    yield [
      'coercion',
      `"${term}" has a coercion (@type or @container), which applies to the attribute as ` +
        'a whole: brokers such as Orion-LD answer 400 to normalized attributes with one.',
    ];
  if (hasScopedContext(definition))
    yield [
      'scoped-context',
      'NGSI-LD does not allow scoped contexts (ETSI GS CIM 009 V1.9.1, clause 5.5.7): brokers may answer 400.',
    ];
}

function isUnknown(prefix: string, prefixes: Prefixes): boolean {
  const isKnown = prefixes.get(prefix) === true || coreIriOf(prefix) !== undefined;
  return !isKnown && !KNOWN_SCHEMES.has(prefix.toLowerCase());
}

/** The IRI that a text in a map expands to, with the terms of the map and of the core context. */
function expandIn(map: JsonObject, text: string): string {
  if (text.startsWith('@')) return text;
  const prefix = prefixOf(text);
  if (prefix === undefined) return text.includes(':') ? text : (iriOfTerm(map, text) ?? text);
  const base = iriOfTerm(map, prefix);
  return base === undefined ? text : base + text.slice(prefix.length + 1);
}

function iriOfTerm(map: JsonObject, term: string): string | undefined {
  const definition = member(map, term);
  const id = isObject(definition) ? member(definition, '@id') : definition;
  // A term that is mapped to itself gets its IRI from elsewhere; valid contexts have no longer cycles.
  return typeof id === 'string' && id !== term ? expandIn(map, id) : coreIriOf(term);
}
