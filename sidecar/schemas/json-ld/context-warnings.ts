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

/** A member of a map of terms, with what the checks need to know about it. */
interface Member {
  readonly term: string;
  readonly definition: unknown;
  /** What the definition maps the term to, as written; undefined if it does not map it explicitly. */
  readonly id: unknown;
  /** `id` expanded to an IRI or a keyword. */
  readonly iri: string | undefined;
  /** What the core context maps the term to. */
  readonly coreIri: string | undefined;
  /** The defined names, and whether each can be a prefix; undefined if other contexts may define further ones. */
  readonly prefixes: Prefixes | undefined;
}

type Prefixes = ReadonlyMap<string, boolean>;

type Check = (member: Member) => readonly [ContextWarningCode, string] | undefined;

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

function mapWarnings(
  map: JsonObject,
  pointer: string,
  prefixes: Prefixes | undefined,
): readonly ContextWarning[] {
  return Object.entries(map).flatMap(([term, definition]) => {
    const written = isObject(definition) ? member(definition, '@id') : definition;
    const id = written === undefined && term.includes(':') ? term : written;
    const iri = typeof id === 'string' ? expandIn(map, id) : undefined;
    const found = { term, definition, id, iri, coreIri: coreIriOf(term), prefixes };
    const checks = term.startsWith('@') ? KEYWORD_CHECKS : TERM_CHECKS;
    return checks.flatMap((check) => {
      const warning = check(found);
      return warning === undefined
        ? []
        : [{ code: warning[0], pointer: pointerTo(pointer, term), detail: warning[1] }];
    });
  });
}

/** Members of a context that are not terms (JSON-LD 1.1 § 9.15). */
const CONTEXT_KEYWORDS: ReadonlySet<string> = new Set(
  'base direction import language propagate protected type version vocab'
    .split(' ')
    .map((name) => `@${name}`),
);

const KEYWORD_CHECKS: readonly Check[] = [
  ({ term }) =>
    term === '@vocab'
      ? ['vocab', '@vocab has no effect in NGSI-LD: the @vocab of the core context overrides it.']
      : undefined,
  ({ term, definition }) =>
    ['@language', '@direction'].includes(term) && definition !== null
      ? [
          'coercion',
          `${term} applies to every text, not only to the values of LanguageProperties: brokers may store and return each as an object with @value and ${term}.`,
        ]
      : undefined,
  ({ term }) =>
    CONTEXT_KEYWORDS.has(term)
      ? undefined
      : ['reserved-term', `"${term}" looks like a keyword: JSON-LD processors may ignore it.`],
];

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

const TERM_CHECKS: readonly Check[] = [
  ({ term, iri, coreIri }) =>
    coreIri === undefined || coreIri === iri
      ? undefined
      : [
          'core-term',
          `"${term}" is a term of the NGSI-LD core context, which takes precedence: it means ${coreIri}.`,
        ],
  ({ term, id, iri, coreIri }) => {
    const isIri = id !== null && (iri === undefined || iri === coreIri || !/^(?:@|_:)/.test(iri));
    return isIri
      ? undefined
      : ['no-iri', `"${term}" is mapped to ${iri ?? 'null'}, which cannot name an attribute or a type.`];
  },
  ({ term, definition }) =>
    isObject(definition) && Object.hasOwn(definition, '@reverse')
      ? [
          'no-iri',
          `"${term}" means a property in the opposite direction (@reverse), which no attribute can be.`,
        ]
      : undefined,
  ({ id, prefixes }) => {
    const prefix = typeof id === 'string' ? prefixOf(id) : undefined;
    if (prefix === undefined || prefixes === undefined || prefixes.get(prefix) === true) return undefined;
    const why = prefixes.has(prefix)
      ? `The term "${prefix}" is no prefix, because its IRI does not end with / or #, or its definition lacks "@prefix": true`
      : `The prefix "${prefix}" is not defined here`;
    return coreIriOf(prefix) !== undefined || KNOWN_SCHEMES.has(prefix.toLowerCase())
      ? undefined
      : ['undefined-prefix', `${why}: "${String(id)}" is read as a complete IRI.`];
  },
  ({ term, definition, iri, coreIri }) =>
    isObject(definition) &&
    (coreIri === undefined || iri !== coreIri) &&
    ['@type', '@container'].some((name) => Object.hasOwn(definition, name))
      ? [
          'coercion',
          `"${term}" has a coercion (@type or @container), which applies to the attribute as ` +
            'a whole: brokers such as Orion-LD answer 400 to normalized attributes with one.',
        ]
      : undefined,
  ({ definition }) =>
    hasScopedContext(definition)
      ? [
          'scoped-context',
          'NGSI-LD does not allow scoped contexts (ETSI GS CIM 009 V1.9.1, clause 5.5.7): brokers may answer 400.',
        ]
      : undefined,
];

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
