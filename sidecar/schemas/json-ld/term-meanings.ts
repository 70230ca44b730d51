import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import { isArray, isObject, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { coreIriOf, coreVersionOf } from './core-context.js';

/** What a term means in the end, as a definition that needs no other: an IRI, a keyword, or a map of absolute IRIs. */
export type TermMeaning = string | JsonObject;

/** The meanings of the terms of a context; null for a term that it takes away. In the order of their code units. */
export type ContextTerms = ReadonlyMap<string, TermMeaning | null>;

/** All that a context says, but for `@vocab` and `@base`. */
export interface ContextMeaning {
  readonly terms: ContextTerms;
  /** What strings are read as that no term says more about. */
  readonly defaults: Readonly<Partial<Record<'@language' | '@direction', string>>>;
}

/** What a term means: its IRI, and what else its definition says, as JSON with members in order. */
export interface ComparableTerm {
  readonly iri: string;
  readonly coercion?: string;
}

/** Defaults of a context that change how strings are read (JSON-LD 1.1 § 9.15). */
const DEFAULTS = ['@language', '@direction'] as const;

/**
 * What the terms of a context mean, in a form that is the same for the same meaning. Terms of the core context are left out, as
 * it always wins.
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
 * The value of the `@context` of a model's context without the core context, which comes last and redefines no other term.
 *
 * @param text of the document, as it is stored
 */
export function withoutCore(text: string): readonly JsonValue[] {
  const document = parseWithDoubles(text) as JsonValue;
  const context = isObject(document) ? (document['@context'] ?? null) : null;
  return (isArray(context) ? context : [context]).filter(
    (element) => typeof element !== 'string' || coreVersionOf(element) === undefined,
  );
}

function comparable(meaning: TermMeaning | null): ComparableTerm {
  const iri = iriOf(meaning) ?? 'nothing';
  if (!isObject(meaning)) return { iri };
  const said = Object.entries(meaning)
    .filter(([name]) => name !== '@id')
    .map(([name, value]) => [name, saidBy(name, value)] as const);
  if (said.length === 0) return { iri };
  const inOrder = said.sort(([one], [other]) => (one < other ? -1 : 1));
  return { iri, coercion: JSON.stringify(Object.fromEntries(inOrder)) };
}

/** The IRI of `@reverse` is told apart, and a container has no order. */
function saidBy(name: string, value: JsonValue): JsonValue {
  if (name === '@reverse') return true;
  return name === '@container' && isArray(value) ? value.toSorted() : value;
}

/** The IRI that a term stands for; undefined where it stands for none. */
export function iriOf(meaning: TermMeaning | null | undefined): string | undefined {
  if (meaning === null || meaning === undefined) return undefined;
  const iri = typeof meaning === 'string' ? meaning : (meaning['@reverse'] ?? meaning['@id']);
  return typeof iri === 'string' ? iri : undefined;
}
