import { isObject, type JsonObject, member } from '../../shared/json/json.js';
import { parseWithDoubles } from '../../shared/json/lossless-json.js';
import type { ContextContent } from './context-cache.js';
import { prefixOf } from './context-safety.js';
import { coreIriOf, coreVersionOf } from './core-context.js';
import { absoluteReference } from './context-resolver.js';
import type { ActiveContext } from './processor.js';

/**
 * Why brokers may read names in different ways. JSON-LD 1.1 uses the last of several definitions of a term, Orion-LD the first.
 * Orion-LD and processors of JSON-LD 1.0, as in Scorpio, take any term for a prefix, and do not know `@import`
 * and `@propagate`.
 */
export interface NameDoubts {
  /** A keyword in the context that only some brokers know. */
  readonly newKeyword?: string | undefined;
  /**
   * Terms that have another IRI in one reading than in another. What one URL leads to counts as one definition: the contexts
   * of this service put the terms of a model before the context that it names.
   */
  readonly disputed: ReadonlySet<string>;
}

/**
 * Finds the doubts about a context. Terms of the core context have none, because it takes precedence everywhere.
 *
 * @param contents the documents that the context leads to, by their URLs
 * @param active the active context in the end
 * @param process returns the active context after each of some maps
 */
export async function findDoubts(
  context: unknown,
  contents: ReadonlyMap<string, ContextContent>,
  active: ActiveContext,
  process: (maps: readonly JsonObject[]) => Promise<readonly ActiveContext[]>,
): Promise<NameDoubts> {
  const found = [...termMaps(context, '', new Map(contents))];
  const maps = found.map(({ map }) => map);
  const newKeyword = NEW_KEYWORDS.find((keyword) => maps.some((map) => Object.hasOwn(map, keyword)));
  if (newKeyword !== undefined) return { newKeyword, disputed: new Set() };
  const disputed = new Set<string>();
  const iris = new Map<string, { readonly iri: string | null | undefined; readonly from: object }>();
  const prefixes: (readonly [term: string, prefix: string])[] = [];
  const defined = new Set(maps.flatMap((map) => Object.keys(map)));
  const steps = maps.length === 1 ? [active] : await process(maps);
  for (const [index, { map, from }] of found.entries())
    for (const [term, definition] of Object.entries(map)) {
      if (term.startsWith('@') || coreIriOf(term) !== undefined) continue;
      const iri = steps[index]?.mappings.get(term)?.['@id'];
      const before = iris.get(term);
      const written = isObject(definition) ? member(definition, '@id') : definition;
      const prefix = typeof written === 'string' ? prefixOf(written) : undefined;
      if (prefix !== undefined) prefixes.push([term, prefix]);
      const isPrefixUnclear = prefix !== undefined && iri === written && defined.has(prefix);
      const isRedefined = before !== undefined && before.iri !== iri && before.from !== from;
      if (isPrefixUnclear || isRedefined) disputed.add(term);
      iris.set(term, { iri, from });
    }
  // A term whose prefix is disputed is disputed as well.
  for (let before = -1; before !== disputed.size;) {
    before = disputed.size;
    for (const [term, prefix] of prefixes) if (disputed.has(prefix)) disputed.add(term);
  }
  return { disputed };
}

/** Keywords of JSON-LD 1.1 by which the terms of a context are others, or do not apply within attributes. */
const NEW_KEYWORDS = ['@import', '@propagate'];

/** A map of a context, and what it comes from: a context that is named by URL, or the map itself. */
interface TermMap {
  readonly map: JsonObject;
  readonly from: object;
}

/** The maps of a context, in order, without the core context; those of a document once. */
function* termMaps(
  context: unknown,
  base: string,
  contents: Map<string, ContextContent>,
  from?: object,
): Iterable<TermMap> {
  for (const element of [context].flat())
    if (isObject(element)) yield { map: element, from: from ?? element };
    else if (typeof element === 'string') {
      const url = absoluteReference(base, element);
      const content = coreVersionOf(url) === undefined ? contents.get(url) : undefined;
      if (content === undefined) continue;
      contents.delete(url);
      const document = parseWithDoubles(content.text);
      const inner = isObject(document) ? member(document, '@context') : undefined;
      yield* termMaps(inner, content.documentUrl, contents, from ?? content);
    }
}
