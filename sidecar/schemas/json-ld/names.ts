import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import { quoted } from '../../shared/format-value.js';
import { coreContextUrl, coreIriOf, coreVersionOf } from './core-context.js';
import { formFaults, referencesOf } from './context-form.js';
import { prefixOf, safetyFaults } from './context-safety.js';
import { findDoubts, type NameDoubts } from './name-doubts.js';
import { ContextCache, MAX_CONTEXTS, SuppliedContexts } from './context-cache.js';
import { absoluteReference } from './context-resolver.js';
import { type ActiveContext, createProcessor, type TermMapping } from './processor.js';
import type { Needs, ContextResults } from './errors.js';

const { expandIri } = createRequire(import.meta.url)('jsonld/lib/context.js') as {
  expandIri: (active: ActiveContext, name: string, relativeTo: object, options: object) => string | null;
};

/** The meanings of names in a context. */
export interface Names {
  /** The IRI of a type or an attribute, or a keyword such as `@type`; undefined for a name that is dropped. */
  iriOf(name: string): string | undefined;
  /** Whether the name has a meaning of its own: an IRI, a name with a prefix, or a term that is not in the core context. */
  isDefined(name: string): boolean;
  /** The names for an IRI: itself, terms, names with a prefix, and one without a definition. */
  namesOf(iri: string): readonly string[];
  /** Whether the type has a scoped context, which applies to the attributes of its entities (JSON-LD 1.1 § 4.1.8). */
  isScoped(type: string): boolean;
  /** Why brokers may read the name of a type or an attribute in different ways; undefined if they do not. */
  doubtOf(name: string): string | undefined;
  /** Whether brokers that expand ids may take an id for another one, by a prefix or the base of the context. */
  mayChangeId(id: string): boolean;
}

/** The names of a context, why it cannot be used, or the contexts that are needed first. */
export type NamesOutcome =
  /** `isFixed` is set if no other document can change the meanings. */
  { readonly names: Names; readonly isFixed: boolean } | { readonly unusable: string } | Needs;

/** Maximum number of contexts whose names are kept. */
const MAX_KEPT = 300;
/** Maximum number of names that are remembered for one context. */
const MAX_REMEMBERED = 5000;

/**
 * Reads the meanings of names in contexts, followed by the core context as in brokers (ETSI GS CIM 009 V1.9.1, clause
 * 4.4).
 */
export class NameReader {
  readonly #known = new ContextCache();
  readonly #kept = new LRUCache<string, Names>({ max: MAX_KEPT });
  #core: Names | undefined;

  /** Whether the core context has been read, which takes a while. */
  get isReady(): boolean {
    return this.#core !== undefined;
  }

  /**
   * Reads the names of a context.
   *
   * @param given a value of `@context`; undefined, or an empty array, for the core context alone
   * @param stamp changes whenever a URL may have another meaning
   */
  async read(given: unknown, stamp: string, supplied: ContextResults): Promise<NamesOutcome> {
    const context = Array.isArray(given) && given.length === 0 ? undefined : given;
    if (context === undefined && this.#core !== undefined) return { names: this.#core, isFixed: true };
    const key = context === undefined ? '' : JSON.stringify(context);
    if (context !== undefined && !(typeof context === 'string' && this.#kept.has(`${key} ${stamp}`))) {
      const [fault] = [...safetyFaults(context), ...formFaults(context, '')];
      if (fault !== undefined) return { unusable: fault.detail };
    }
    const urls = new Set(
      referencesOf(context ?? [])
        .map(({ url }) => absoluteReference('', url))
        .filter((url) => coreVersionOf(url) === undefined),
    );
    const isFixed = urls.size === 0;
    const name = isFixed ? key : `${key} ${stamp}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) return { names: kept, isFixed };
    const gathered = this.#known.gather(urls, stamp, supplied);
    if (gathered.isTooMuch) return { unusable: `It leads to more than ${MAX_CONTEXTS} others.` };
    if (gathered.missing.length > 0) return { needs: { urls: gathered.missing } };
    const [failure] = gathered.failures.values();
    if (failure !== undefined) return { unusable: failure.detail };
    try {
      const processor = createProcessor();
      const options = { documentLoader: new SuppliedContexts(supplied, this.#known, stamp).load };
      const active = await processor.activeContext([...[context ?? []].flat(), coreContextUrl()], options);
      const doubts = await findDoubts(context, gathered.contents, active, (maps) =>
        processor.activeContexts(maps, options),
      );
      const names = namesIn(active, doubts);
      if (context === undefined) this.#core = names;
      else this.#kept.set(name, names);
      return { names, isFixed };
    } catch (error) {
      return { unusable: error instanceof Error ? error.message : 'It cannot be processed.' };
    }
  }
}

/** Whether the value of a term is not the attribute itself: the term is reversed or nested, or its value is a map or JSON. */
function hasOtherForm(term: TermMapping | null | undefined): boolean {
  if (term === undefined || term === null) return false;
  const { reverse, '@type': type, '@nest': nest, '@container': containers = [] } = term;
  return (
    reverse === true ||
    type === '@json' ||
    nest !== undefined ||
    containers.some((one) => one !== '@list' && one !== '@set')
  );
}

/** The terms of a context by their IRIs, and what names with a prefix, or without a definition, begin with instead of IRIs. */
function namedBy({ mappings, '@vocab': vocab }: ActiveContext) {
  const terms = new Map<string, string[]>();
  const beginnings: (readonly [iri: string, name: string])[] = vocab ? [[vocab, '']] : [];
  for (const [name, term] of mappings) {
    const iri = term?.['@id'];
    if (typeof iri !== 'string') continue;
    terms.set(iri, [...(terms.get(iri) ?? []), name]);
    if (term?._prefix === true) beginnings.push([iri, `${name}:`]);
  }
  return { terms, beginnings };
}

/** Remembers what was found out about names. */
function remembering<Found>(find: (name: string) => Found): (name: string) => Found {
  const known = new Map<string, { readonly found: Found }>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before.found;
    const found = find(name);
    if (known.size < MAX_REMEMBERED) known.set(name, { found });
    return found;
  };
}

function namesIn(active: ActiveContext, { newKeyword, disputed }: NameDoubts): Names {
  let named: ReturnType<typeof namedBy> | undefined;
  const isUnclearPrefix = (term: string): boolean => {
    const { '@id': iri, _prefix: isPrefix } = active.mappings.get(term) ?? {};
    return typeof iri === 'string' && isPrefix !== true && coreIriOf(term) === undefined;
  };
  return {
    iriOf: remembering((name) => expandIri(active, name, { vocab: true }, {}) ?? undefined),
    isDefined: (name) => name.includes(':') || (active.mappings.has(name) && coreIriOf(name) === undefined),
    namesOf(iri) {
      const { terms, beginnings } = (named ??= namedBy(active));
      const shortened = beginnings
        .filter(([beginning]) => iri.startsWith(beginning))
        .map(([beginning, name]) => name + iri.slice(beginning.length));
      return [iri, ...(terms.get(iri) ?? []), ...shortened];
    },
    isScoped: (type) => active.mappings.get(type)?.['@context'] !== undefined,
    doubtOf: remembering((name) => {
      if (coreIriOf(name) !== undefined) return undefined;
      if (hasOtherForm(active.mappings.get(name)))
        return `brokers differ in how they read ${quoted(name, 200)}, for which the @context defines more than an IRI`;
      if (newKeyword !== undefined) return `only some brokers know the ${newKeyword} of the @context`;
      const prefix = prefixOf(name) ?? name;
      const term = [name, prefix].find((one) => disputed.has(one));
      if (term !== undefined) return `brokers differ in which definition of ${quoted(term, 200)} they use`;
      return prefix !== name && isUnclearPrefix(prefix)
        ? `brokers differ in whether ${quoted(prefix, 200)} is a prefix`
        : undefined;
    }),
    mayChangeId(id) {
      const prefix = prefixOf(id);
      return (
        expandIri(active, id, { base: true }, {}) !== id || (prefix !== undefined && isUnclearPrefix(prefix))
      );
    },
  };
}
