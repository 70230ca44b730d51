import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { coreIriOf, coreVersionOf } from './core-context.js';

/** The meaning of a term, as a definition that depends on no other: an IRI, a keyword, or a map of absolute IRIs. */
export type TermMeaning = string | JsonObject;

/** The meanings of the terms of a context, sorted by code units; null for a term that the context removes. */
export type ContextTerms = ReadonlyMap<string, TermMeaning | null>;

/** Everything that a context says, except `@vocab` and `@base`. */
export interface ContextMeaning {
  readonly terms: ContextTerms;
  /** How strings are read if no term says more about them. */
  readonly defaults: Readonly<Partial<Record<'@language' | '@direction', string>>>;
}

/** The meaning of a term: its IRI, the rest of its definition as JSON with sorted members, and whether it is a prefix. */
export interface ComparableTerm {
  readonly iri: string;
  readonly coercion?: string;
  readonly isPrefix?: true;
}

/** The characters at the end of an IRI that turn a plain definition into a prefix (JSON-LD 1.1 API § 4.2.2). */
const DELIMITER = /[:/?#[\]@]$/;

/** Defaults of a context that change how strings are read (JSON-LD 1.1 § 9.15). */
const DEFAULTS = ['@language', '@direction'] as const;

/**
 * What the terms of a context mean, in a form that is equal for equal meanings. Terms of the core context are left
 * out, because it always takes precedence.
 */
export function comparableTerms({
  terms,
  defaults,
}: ContextMeaning): Readonly<Record<string, ComparableTerm>> {
  const found = [...terms].filter(([term]) => coreIriOf(term) === undefined);
  return Object.fromEntries([
    ...DEFAULTS.map((name) => [name, { iri: defaults[name] ?? 'nothing' }] as const),
    ...found.map(([term, meaning]) => [term, comparable(meaning)] as const),
  ]);
}

/**
 * The `@context` value of a model's context without the core context, which comes last and redefines no other term.
 *
 * @param text the document as stored
 */
export function withoutCore(text: string): readonly JsonValue[] {
  const document = parseWithDoubles(text) as JsonValue;
  const context = isObject(document) ? (document['@context'] ?? null) : null;
  return (isArray(context) ? context : [context]).filter(
    (element) => typeof element !== 'string' || coreVersionOf(element) === undefined,
  );
}

function comparable(meaning: TermMeaning | null): ComparableTerm {
  const plain = {
    iri: iriOf(meaning) ?? 'nothing',
    ...(isPrefixTerm(meaning) ? { isPrefix: true as const } : {}),
  };
  if (!isObject(meaning)) return plain;
  const said = Object.entries(meaning)
    .filter(([name]) => name !== '@id' && name !== '@prefix')
    .map(([name, value]) => [name, saidBy(name, value)] as const);
  if (said.length === 0) return plain;
  const inOrder = said.sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...plain, coercion: JSON.stringify(Object.fromEntries(inOrder)) };
}

/**
 * A member of a definition in comparable form: the IRI of `@reverse` is compared separately, and containers have no
 * order.
 */
function saidBy(name: string, value: JsonValue): JsonValue {
  if (name === '@reverse') return true;
  return name === '@container' && isArray(value) ? value.toSorted() : value;
}

/** The IRI that a term stands for; undefined if it stands for none. */
export function iriOf(meaning: TermMeaning | null | undefined): string | undefined {
  if (meaning === null || meaning === undefined) return undefined;
  const iri = typeof meaning === 'string' ? meaning : (meaning['@reverse'] ?? meaning['@id']);
  return typeof iri === 'string' ? iri : undefined;
}

/** Whether a term with this meaning can be the prefix of compact IRIs. */
export function isPrefixTerm(meaning: TermMeaning | null | undefined): boolean {
  if (typeof meaning === 'string') return DELIMITER.test(meaning);
  return isObject(meaning) && meaning['@prefix'] === true;
}

/** Whether a term means a property in the opposite direction. */
export function isReversed(meaning: TermMeaning | null | undefined): boolean {
  return isObject(meaning) && Object.hasOwn(meaning, '@reverse');
}
