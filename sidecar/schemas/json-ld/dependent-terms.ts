import { isArray, isObject, type JsonValue, sameJson } from '../../shared/json/json.js';
import { coreIriOf } from './core-context.js';
import { type ContextTerms, iriOf, isPrefixTerm, isReversed, type TermMeaning } from './term-meanings.js';

type Terms = ReadonlyMap<string, TermMeaning>;

/**
 * Finds the terms whose definitions would be invalid, or mean something else, in a context that has exactly these
 * terms. The time is linear in the size of the contexts.
 *
 * @param terms the terms of the context, in its order
 * @param contexts the contexts from which the terms come
 */
export function dependentTerms(terms: Terms, contexts: Iterable<ContextTerms>): ReadonlySet<string> {
  const unfit = new Set<string>();
  const needs = new Map<string, ReadonlySet<string>>();
  const dependents = new Map<string, string[]>();
  for (const [term, meaning] of terms) {
    const needed = new NeededNames(meaning);
    if (needed.names.size > 0) needs.set(term, needed.names);
    const prefix = isCheckedAsIri(term, meaning) ? prefixOf(term) : undefined;
    for (const name of prefix === undefined ? needed.names : [prefix, ...needed.names]) {
      const known = dependents.get(name);
      if (known === undefined) dependents.set(name, [term]);
      else known.push(term);
    }
    // Processors check a scoped context when only the terms before it are defined.
    const isDefined = (name: string) => name < term && terms.has(name);
    if (needed.needsVocabulary || ![...needed.terms].every(isDefined) || !hasSameIris(term, meaning, terms))
      unfit.add(term);
  }
  for (const context of contexts)
    for (const [term, meaning] of context) {
      const names = needs.get(term);
      if (names === undefined || unfit.has(term) || !sameJson(meaning, terms.get(term))) continue;
      if (![...names].every((name) => isSame(name, context, terms))) unfit.add(term);
    }
  // The loop includes the terms that it adds.
  for (const term of unfit) for (const dependent of dependents.get(term) ?? []) unfit.add(dependent);
  return unfit;
}

/** Whether a name means the same in two contexts. The core context comes after both, and takes precedence. */
function isSame(name: string, one: ContextTerms, other: Terms): boolean {
  if (coreIriOf(name) !== undefined) return true;
  const [first, second] = [one.get(name), other.get(name)];
  return iriOf(first) === iriOf(second) && isPrefixTerm(first) === isPrefixTerm(second);
}

/** The part of a compact IRI before its colon; undefined for texts that cannot be compact IRIs. */
function prefixOf(text: string): string | undefined {
  const end = text.indexOf(':');
  return end > 0 && !text.startsWith('//', end + 1) ? text.slice(0, end) : undefined;
}

/** Whether processors compare the IRI of a definition with its term, because the term looks like an IRI. */
function isCheckedAsIri(term: string, meaning: TermMeaning): boolean {
  return !isReversed(meaning) && /\/|:[^:]/.test(term);
}

/**
 * Whether a processor reads the IRIs of a definition unchanged, and accepts it for a term that looks like an IRI
 * (JSON-LD 1.1 API § 4.2.2).
 */
function hasSameIris(term: string, meaning: TermMeaning, terms: Terms): boolean {
  const iri = iriOf(meaning);
  const type = isObject(meaning) ? meaning['@type'] : undefined;
  for (const text of [iri, type])
    if (typeof text === 'string' && expanded(text, terms) !== text) return false;
  if (isReversed(meaning)) return true;
  if (iri !== term) return !isCheckedAsIri(term, meaning) || expanded(term, terms) === iri;
  // An IRI that equals its term is ignored, and any term is used as a prefix.
  const end = term.indexOf(':');
  const prefix = end > 0 ? iriOf(terms.get(term.slice(0, end))) : undefined;
  return prefix === undefined || prefix + term.slice(end + 1) === term;
}

function expanded(text: string, terms: Terms): string {
  const prefix = prefixOf(text);
  const meaning = prefix === undefined ? undefined : terms.get(prefix);
  if (prefix === undefined || !isPrefixTerm(meaning)) return text;
  return `${iriOf(meaning) ?? ''}${text.slice(prefix.length + 1)}`;
}

/** What is defined around a part of a scoped context. */
interface Scope {
  readonly isDefined: (name: string) => boolean;
  /** Whether the default vocabulary of the context outside does not matter. */
  readonly hasVocabulary: boolean;
}

const OUTSIDE: Scope = { isDefined: () => false, hasVocabulary: false };

/** After null, nothing outside matters. */
const AFTER_NULL: Scope = { isDefined: () => true, hasVocabulary: true };

/**
 * The names that a definition needs in addition to its IRIs: terms and prefixes in the members that are copied from
 * its context unchanged.
 */
class NeededNames {
  /** Names that must mean the same as in its context, if they mean anything there. */
  readonly names = new Set<string>();
  /** Those of them that must be terms, because they are used as IRIs. */
  readonly terms = new Set<string>();
  /** Whether it also needs a default vocabulary. */
  needsVocabulary = false;

  constructor(meaning: TermMeaning) {
    if (!isObject(meaning)) return;
    for (const name of ['@nest', '@index']) this.#name(meaning[name], OUTSIDE);
    if (meaning['@context'] !== undefined) this.#context(meaning['@context'], OUTSIDE);
  }

  #context(context: JsonValue, outer: Scope): void {
    let scope = outer;
    for (const part of isArray(context) ? context : [context]) {
      if (part === null) scope = AFTER_NULL;
      if (!isObject(part)) continue;
      const { isDefined, hasVocabulary } = scope;
      const vocabulary = part['@vocab'];
      this.#name(vocabulary, scope);
      scope = {
        isDefined: (name) => Object.hasOwn(part, name) || isDefined(name),
        // A relative one is appended to the one outside.
        hasVocabulary:
          hasVocabulary ||
          vocabulary === null ||
          (typeof vocabulary === 'string' && vocabulary.includes(':')),
      };
      for (const [term, definition] of Object.entries(part))
        if (!term.startsWith('@'))
          this.#definition(term, isObject(definition) ? definition : { '@id': definition }, scope);
    }
  }

  #definition(term: string, definition: Readonly<Record<string, JsonValue>>, scope: Scope): void {
    this.#name(prefixOf(term), scope);
    const iri = definition['@reverse'] ?? definition['@id'];
    if (iri !== undefined && iri !== term) this.#iri(iri, scope);
    else if (!scope.hasVocabulary && term.indexOf(':') <= 0) this.needsVocabulary = true;
    this.#iri(definition['@type'], scope);
    for (const name of ['@nest', '@index']) this.#name(definition[name], scope);
    if (definition['@context'] !== undefined) this.#context(definition['@context'], scope);
  }

  #iri(value: JsonValue | undefined, scope: Scope): void {
    this.#name(value, scope);
    if (typeof value !== 'string' || value.startsWith('@') || value.indexOf(':') > 0) return;
    if (!scope.hasVocabulary && !scope.isDefined(value)) this.terms.add(value);
  }

  #name(value: JsonValue | undefined, scope: Scope): void {
    if (typeof value !== 'string' || value.startsWith('@')) return;
    for (const name of [value, prefixOf(value)])
      if (name !== undefined && !scope.isDefined(name)) this.names.add(name);
  }
}
