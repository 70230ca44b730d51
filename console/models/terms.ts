/** A term of a context, before its meaning is known. */
export interface NamedTerm {
  readonly term: string;
  /** How the context coerces its values, such as `@id` or `@list`. */
  readonly coercion: string | undefined;
}

/** A part of a context: terms, or the URL of another context. Later parts take precedence. */
export type ContextPart = { readonly terms: readonly NamedTerm[] } | { readonly url: string };

/** A term with its meaning. */
export interface Term extends NamedTerm {
  /** Undefined if it has no meaning, so that its values are dropped. */
  readonly iri: string | undefined;
}

/** Maximum number of terms shown for one context. */
export const MAX_TERMS = 2000;

/** Returns the maps and URLs of a context, in order. @param document with `@context`, or the value of one */
export function partsOf(document: unknown): readonly ContextPart[] {
  if (typeof document === 'string') return [{ url: document }];
  if (Array.isArray(document)) return document.slice(0, 1000).flatMap((one) => partsOf(one));
  if (typeof document !== 'object' || document === null) return [];
  const inner = '@context' in document ? partsOf(document['@context']) : [];
  const terms = Object.entries(document)
    .filter(([term]) => !term.startsWith('@'))
    .map(([term, definition]) => ({ term, coercion: coercionOf(definition) }));
  return terms.length === 0 ? inner : [...inner, { terms }];
}

function coercionOf(definition: unknown): string | undefined {
  if (typeof definition !== 'object' || definition === null) return undefined;
  const { '@type': type, '@container': container } = definition as Readonly<Record<string, unknown>>;
  const said = [type, container].flat().filter((one) => typeof one === 'string');
  return said.length === 0 ? undefined : said.join(', ');
}

/** Marks the value of a term, so that it can be found wherever expansion puts it. */
const MARK = 'urn:console:term:';

/**
 * Returns a document whose expansion shows the IRI of each term. This way the gateway itself resolves the terms, including
 * prefixes and other contexts.
 */
export function probeOf(terms: readonly NamedTerm[]): Readonly<Record<string, string>> {
  return Object.fromEntries(terms.map(({ term }, index) => [term, `${MARK}${index}`]));
}

/** Reads the IRIs of the terms from the expansion of {@link probeOf}. */
export function readProbe(terms: readonly NamedTerm[], expanded: unknown): readonly Term[] {
  const iris = new Map<number, string>();
  for (const node of Array.isArray(expanded) ? expanded : [expanded])
    if (typeof node === 'object' && node !== null)
      for (const [iri, value] of Object.entries(node as Record<string, unknown>)) note(iris, iri, value);
  return terms.map((term, index) => ({ ...term, iri: iris.get(index) }));
}

function note(iris: Map<number, string>, iri: string, value: unknown): void {
  if (typeof value === 'string') {
    if (value.startsWith(MARK)) iris.set(Number(value.slice(MARK.length)), iri);
  } else if (Array.isArray(value)) for (const one of value) note(iris, iri, one);
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value)) note(iris, name.startsWith('@') ? iri : name, one);
}

/** Whether an IRI may be followed as a link. */
export function isLink(iri: string): boolean {
  return /^https?:\/\//i.test(iri);
}
