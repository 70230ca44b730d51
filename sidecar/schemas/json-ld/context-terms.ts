import type { JsonValue } from '../../shared/json/json.js';
import { createProcessor, type DocumentLoader, type TermMapping } from './processor.js';
import { type ContextMeaning, isPrefixTerm, type TermMeaning } from './term-meanings.js';

/**
 * Determines what the terms of a context mean: with prefixes expanded, later definitions replacing earlier ones, and
 * other contexts included (JSON-LD 1.1 API § 4). The result depends only on the context and the contexts loaded.
 *
 * @param context the value of an `@context` that was found valid
 * @param load loads the contexts that it names
 * @throws the errors of the processor and of the loader
 */
export async function contextMeaning(context: unknown, load: DocumentLoader): Promise<ContextMeaning> {
  // Uses a new processor, because contexts cached by URL may have changed since.
  const active = await createProcessor().activeContext(context, { documentLoader: load });
  const { mappings, '@language': language, '@direction': direction } = active;
  const terms = [...mappings].filter(([term]) => !term.startsWith('@')).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    terms: new Map(terms.map(([term, found]) => [term, meaningOf(found)])),
    defaults: {
      ...(typeof language === 'string' ? { '@language': language } : {}),
      ...(typeof direction === 'string' ? { '@direction': direction } : {}),
    },
  };
}

/** Members of definitions that are copied unchanged (JSON-LD 1.1 § 9.15). */
const COPIED_MEMBERS = ['@type', '@language', '@direction', '@nest', '@index', '@context'] as const;

function meaningOf(found: TermMapping | null): TermMeaning | null {
  const iri = found?.['@id'] ?? null;
  if (found === null || iri === null) return null;
  const rest: Record<string, JsonValue> = {};
  for (const name of COPIED_MEMBERS) if (found[name] !== undefined) rest[name] = found[name] as JsonValue;
  const { '@container': container = [], reverse = false, _prefix: isPrefix = false } = found;
  if (container.length > 0)
    rest['@container'] = container.length === 1 ? (container[0] ?? '') : [...container];
  if (reverse) return { '@reverse': iri, ...rest };
  if (Object.keys(rest).length === 0 && isPrefix === isPrefixTerm(iri)) return iri;
  return { '@id': iri, ...rest, ...(isPrefix ? { '@prefix': true } : {}) };
}
