import { isMap, memberOf, type JsonMap } from './json.js';

/**
 * For each term of a map, the other terms of the same map that its definition is expanded with: a term it is mapped
 * to, or the prefixes of compact IRIs (JSON-LD 1.1 API § 4.2).
 */
export function termDependencies(map: JsonMap): ReadonlyMap<string, readonly string[]> {
  const terms = Object.keys(map).filter((name) => !name.startsWith('@'));
  return new Map(
    terms.map((term) => {
      const mentioned = [...iriTexts(term, memberOf(map, term)), term].flatMap((text) =>
        text === term ? [prefixOf(text)] : [text, prefixOf(text)],
      );
      const names = mentioned.filter((name) => name !== undefined && Object.hasOwn(map, name)) as string[];
      return [term, [...new Set(names)]] as const;
    }),
  );
}

/** The terms of a map, each after those it depends on. For maps without long chains of them. */
export function dependenciesFirst(map: JsonMap): readonly string[] {
  const dependencies = termDependencies(map);
  const ordered = new Set<string>();
  const visit = (term: string, trail: readonly string[]): void => {
    if (ordered.has(term) || trail.includes(term)) return;
    for (const name of dependencies.get(term) ?? []) visit(name, [...trail, term]);
    ordered.add(term);
  };
  for (const term of dependencies.keys()) visit(term, []);
  return [...ordered];
}

/** The strings of a definition that are expanded as IRIs when the term is defined. */
function iriTexts(term: string, definition: unknown): readonly string[] {
  const texts = isMap(definition)
    ? ['@id', '@type', '@reverse'].map((member) => memberOf(definition, member))
    : [definition];
  return texts.filter((text): text is string => typeof text === 'string' && text !== term);
}

/** What stands before the first colon of a compact IRI; IRIs with an authority have no prefix. */
export function prefixOf(text: string): string | undefined {
  const colon = text.indexOf(':');
  return colon <= 0 || text.startsWith('//', colon + 1) ? undefined : text.slice(0, colon);
}
