import { isObject, type JsonValue, jsonEquals } from '../../shared/json/json.js';
import { isPlainTerm, prefixesIn } from './plain-terms.js';
import { CONTEXT_LIMITS } from './context-safety.js';
import { coreIriOf } from './core-context.js';
import { type ContextTerms, iriOf, isReversed, type TermMeaning } from './term-meanings.js';

/**
 * The part of a model's context that decides what its own terms mean: its own context, after the generated terms if it
 * may refer to one of them, as `{"@vocab": "https://example.com/", "pace": "speed"}` does.
 *
 * @param words those in the own context, and in all contexts that it names; undefined if they are not known
 */
export function decidingPart(
  generated: Readonly<Record<string, JsonValue>>,
  own: readonly JsonValue[],
  words: ReadonlySet<string> | undefined,
): readonly JsonValue[] {
  const mayRefer = words === undefined || Object.keys(generated).some((name) => words.has(name));
  return mayRefer ? [generated, ...own] : own;
}

/**
 * Adds the texts in a context that may refer to terms of contexts before it: values, and what may be a prefix. The
 * name of a term does not: it is defined anew.
 */
export function addWords(context: unknown, words: Set<string>): void {
  if (typeof context === 'string') {
    words.add(context);
    addPrefixes(context, words);
  } else if (Array.isArray(context)) {
    for (const item of context) addWords(item, words);
  } else if (isObject(context)) {
    for (const [name, value] of Object.entries(context)) {
      addPrefixes(name, words);
      addWords(value, words);
    }
  }
}

function addPrefixes(text: string, words: Set<string>): void {
  for (let at = text.indexOf(':'); at > 0; at = text.indexOf(':', at + 1)) words.add(text.slice(0, at));
}

/** What the names in a model mean. */
export interface ModelTerms {
  /** The model's name. */
  readonly model: string;
  /** The names in the model: its type, its attributes, and the members of their values. */
  readonly names: Iterable<string>;
  /** The IRIs generated for names. */
  readonly generated: ReadonlyMap<string, string>;
  /** The terms of its own context, if it has one; models with the same context share the same map. */
  readonly own: ContextTerms | undefined;
}

/** Something about the context of a domain that its users may not expect. */
export interface DomainContextWarning {
  /**
   * - `ambiguous-term`: the term is left out, because models give it different IRIs, because its definition is not plain
   * (see `isPlainTerm`), or because IRIs of other terms begin with its name and a colon
   * - `coercion-left-out`: models give the term the same IRI with different coercions, so it has none
   * - `unused-terms-left-out`: terms that no model uses in its schema are left out, because the context would be too
   * large
   * - `context-unavailable`: the context given with a model could not be used
   */
  readonly code: 'ambiguous-term' | 'coercion-left-out' | 'unused-terms-left-out' | 'context-unavailable';
  readonly term?: string;
  readonly detail: string;
  /** Names of the models concerned. */
  readonly models: readonly string[];
}

/** The terms for the context of a domain. */
export interface DomainTerms {
  /** Sorted by code units. */
  readonly terms: Readonly<Record<string, TermMeaning>>;
  readonly warnings: readonly DomainContextWarning[];
}

/** A meaning, and the models that have it. */
interface MeaningWithModels {
  readonly meaning: TermMeaning | null;
  readonly models: string[];
}

/** Maximum number of models that a warning names. */
const MAX_NAMED = 20;

/**
 * Makes the terms of one context for several models. A name with different meanings in the models is left out. Terms
 * of the models' own contexts that no model uses are included if they have a single meaning. Terms of the core
 * context are not included, because it defines them.
 */
export class DomainTermsBuilder {
  readonly #used = new Map<string, MeaningWithModels[]>();
  readonly #contexts = new Map<ContextTerms, string[]>();

  /** Adds a model. The order of models only affects the order of their names in warnings. */
  add({ model, names, generated, own }: ModelTerms): void {
    for (const name of names) {
      if (coreIriOf(name) !== undefined) continue;
      const meaning = own?.has(name) === true ? own.get(name) : generated.get(name);
      if (meaning !== undefined) addMeaning(this.#used, name, meaning, [model]);
    }
    if (own === undefined) return;
    const models = this.#contexts.get(own);
    if (models === undefined) this.#contexts.set(own, [model]);
    else models.push(model);
  }

  result(): DomainTerms {
    const unused = new Map<string, MeaningWithModels[]>();
    for (const [context, models] of this.#contexts)
      for (const [term, meaning] of context)
        if (!this.#used.has(term) && coreIriOf(term) === undefined) addMeaning(unused, term, meaning, models);
    const isTooMuch = this.#used.size + unused.size > CONTEXT_LIMITS.terms;
    const all = [...this.#used, ...(isTooMuch ? [] : unused)].sort(([a], [b]) => (a < b ? -1 : 1));
    const terms = new Map<string, TermMeaning>();
    const warnings: DomainContextWarning[] = [];
    const leaveOut = (term: string, detail: string): void => {
      const models = (this.#used.get(term) ?? unused.get(term) ?? []).flatMap((one) => one.models);
      warnings.push({ code: 'ambiguous-term', term, detail, models });
    };
    for (const [term, meanings] of all) {
      const { meaning, warning } = mergeMeanings(term, meanings);
      if (meaning !== undefined && !isPlainTerm(term, meaning)) {
        leaveOut(
          term,
          /[:/]/.test(term)
            ? `The name "${term}" has a colon or slash; it is left out.`
            : `The definition of "${term}" is not an absolute IRI with at most @type and one @container; it is left out.`,
        );
        continue;
      }
      if (meaning !== undefined) terms.set(term, meaning);
      if (warning !== undefined) warnings.push(warning);
    }
    for (const term of prefixesIn(terms.values()))
      if (terms.delete(term))
        leaveOut(
          term,
          `IRIs of other terms begin with "${term}:", which would be read as a prefix; it is left out.`,
        );
    if (isTooMuch) warnings.push(tooMuch(unused.size, [...this.#contexts.values()].flat()));
    return { terms: Object.fromEntries(terms), warnings };
  }
}

function addMeaning(
  meanings: Map<string, MeaningWithModels[]>,
  term: string,
  meaning: TermMeaning | null,
  models: readonly string[],
): void {
  const known = meanings.get(term);
  const same = known?.find((one) => jsonEquals(one.meaning, meaning));
  if (known === undefined) meanings.set(term, [{ meaning, models: [...models] }]);
  else if (same === undefined) known.push({ meaning, models: [...models] });
  else same.models.push(...models);
}

interface MergedMeaning {
  /** Undefined for a term that is left out. */
  readonly meaning?: TermMeaning | undefined;
  readonly warning?: DomainContextWarning;
}

function mergeMeanings(term: string, meanings: readonly MeaningWithModels[]): MergedMeaning {
  const [first] = meanings;
  if (first === undefined) return {};
  if (meanings.length === 1) return { meaning: first.meaning ?? undefined };
  const models = meanings.flatMap((one) => one.models);
  const [without, ...others] = meanings.map(({ meaning }) => withoutCoercion(meaning));
  if (without !== undefined && others.every((other) => jsonEquals(other ?? null, without))) {
    const detail = `Models mean ${named(without)} by "${term}", with different coercions; it has none here.`;
    return { meaning: without, warning: { code: 'coercion-left-out', term, detail, models } };
  }
  const said = meanings.map(({ meaning, models: some }) => `${named(meaning)} (${listed(some)})`);
  const detail = `Models mean different things by "${term}": ${said.join(', ')}; it is left out.`;
  return { warning: { code: 'ambiguous-term', term, detail, models } };
}

/** A reversed property stays reversed: in the other direction, its IRI means something else. */
function withoutCoercion(meaning: TermMeaning | null): TermMeaning | undefined {
  const iri = iriOf(meaning);
  return iri !== undefined && isReversed(meaning) ? { '@reverse': iri } : iri;
}

function named(meaning: TermMeaning | null): string {
  return `${isReversed(meaning) ? 'the reverse of ' : ''}${iriOf(meaning) ?? 'nothing'}`;
}

function tooMuch(count: number, models: readonly string[]): DomainContextWarning {
  const detail =
    `${count} terms of the models' own contexts that no model has in its ` +
    `schema are left out: a context may have at most ${CONTEXT_LIMITS.terms} terms.`;
  return { code: 'unused-terms-left-out', detail, models };
}

function listed(models: readonly string[]): string {
  const more = models.length - MAX_NAMED;
  return [...models.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
