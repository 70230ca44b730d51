import { isObject } from '../../shared/json/json.js';
import { coreIriOf } from './core-context.js';

/** What a term means: its IRI, and what else its definition says, as JSON with members in order. */
export interface TermMeaning {
  readonly iri: string;
  readonly coercion?: string;
}

/** Keywords of a context that change what names mean which have no term. */
const DEFAULTS = ['@vocab', '@language'];

/**
 * What the terms of a model's context mean: the maps in `@context` one after the other, prefixes and `@vocab` resolved. Terms
 * of the core context are left out, as it always wins; so are contexts that stand there as URLs.
 *
 * @param document a context document, as it is served
 */
export function termMeanings(document: unknown): Readonly<Record<string, TermMeaning>> {
  const context = isObject(document) ? document['@context'] : undefined;
  const maps: readonly unknown[] = Array.isArray(context) ? context : [context];
  const definitions = new Map(maps.filter(isObject).flatMap((map) => Object.entries(map)));
  const found: [string, TermMeaning][] = [];
  for (const [term, definition] of definitions) {
    if (DEFAULTS.includes(term)) found.push([term, { iri: JSON.stringify(definition) }]);
    else if (!term.startsWith('@') && coreIriOf(term) === undefined) {
      const meaning = meaningOf(term, definition, definitions);
      if (meaning !== undefined) found.push([term, meaning]);
    }
  }
  return Object.fromEntries(found);
}

function meaningOf(
  term: string,
  definition: unknown,
  definitions: ReadonlyMap<string, unknown>,
): TermMeaning | undefined {
  if (typeof definition === 'string') return { iri: expanded(definition, definitions) };
  // A term that is null stands for nothing.
  if (!isObject(definition)) return { iri: '' };
  const { '@id': id = term, ...rest } = definition;
  const iri = typeof id === 'string' ? expanded(id, definitions) : '';
  const others = Object.entries(rest)
    .map(
      ([keyword, value]) =>
        [
          keyword,
          keyword === '@type' && typeof value === 'string' ? expanded(value, definitions) : value,
        ] as const,
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return others.length === 0 ? { iri } : { iri, coercion: JSON.stringify(Object.fromEntries(others)) };
}

/** Prefixes may be built on others, though never in a circle. */
const MAX_PREFIXES = 8;

/** The IRI of a name in a definition: compact, a term or relative to `@vocab`. */
function expanded(name: string, definitions: ReadonlyMap<string, unknown>, depth = 0): string {
  if (name.startsWith('@') || depth > MAX_PREFIXES) return name;
  const colon = name.indexOf(':');
  if (colon === -1) {
    const vocabulary = definitions.get('@vocab');
    return typeof vocabulary === 'string' ? vocabulary + name : name;
  }
  const prefix = idOf(definitions.get(name.slice(0, colon)));
  const rest = name.slice(colon + 1);
  if (prefix === undefined || rest.startsWith('//')) return name;
  return expanded(prefix, definitions, depth + 1) + rest;
}

function idOf(definition: unknown): string | undefined {
  const id = isObject(definition) ? definition['@id'] : definition;
  return typeof id === 'string' ? id : undefined;
}
