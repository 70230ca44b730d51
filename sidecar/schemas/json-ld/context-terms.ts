import type { JsonValue } from '../../shared/json/json.js';
import { createProcessor, type DocumentLoader, type TermMapping } from './processor.js';
import type { ContextMeaning, TermMeaning } from './term-meanings.js';

/**
 * What the terms of a context mean in the end: prefixes expanded, later definitions over earlier ones, other contexts included
 * (JSON-LD 1.1 API § 4). It depends on nothing but the context and what is loaded.
 *
 * @param context the value of an `@context` that was found valid
 * @param load gives the contexts that it names
 * @throws the errors of the processor and of the loader
 */
export async function contextMeaning(context: unknown, load: DocumentLoader): Promise<ContextMeaning> {
  // A processor of its own: what is cached by URL may have changed since.
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

/** Members of definitions that are taken over as they are (JSON-LD 1.1 § 9.15). */
const TAKEN = ['@type', '@language', '@direction', '@nest', '@index', '@context'] as const;

/** What may be at the end of the IRI of a prefix, and makes any plain definition one (JSON-LD 1.1 API § 4.2.2). */
const DELIMITER = /[:/?#[\]@]$/;

function meaningOf(found: TermMapping | null): TermMeaning | null {
  const iri = found?.['@id'] ?? null;
  if (found === null || iri === null) return null;
  const rest: Record<string, JsonValue> = {};
  for (const name of TAKEN) if (found[name] !== undefined) rest[name] = found[name] as JsonValue;
  const { '@container': container = [], reverse = false, _prefix: isPrefix = false } = found;
  if (container.length > 0)
    rest['@container'] = container.length === 1 ? (container[0] ?? '') : [...container];
  if (reverse) return { '@reverse': iri, ...rest };
  const looksLikePrefix = DELIMITER.test(iri);
  if (isPrefix && !looksLikePrefix) rest['@prefix'] = true;
  return Object.keys(rest).length === 0 && isPrefix === looksLikePrefix ? iri : { '@id': iri, ...rest };
}
