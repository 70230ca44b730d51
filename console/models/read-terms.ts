import { api, ApiError } from '../api/client.js';
import { expandWith, findContext, readContext } from './contexts-api.js';
import { MAX_TERMS, partsOf, probeOf, readProbe, type NamedTerm, type Term } from './terms.js';

/** A term, and the context that defines it. */
interface SourcedTerm extends Term {
  /** Undefined for the context itself; otherwise the URL of the context that it refers to. */
  readonly from: string | undefined;
}

export interface ContextTerms {
  readonly terms: readonly SourcedTerm[];
  /** Whether there are more terms than are shown. */
  readonly isCut: boolean;
  /** Contexts that it refers to, but whose terms are not shown: the core context, and those that cannot be read here. */
  readonly others: readonly string[];
}

/** Maximum number of documents to read for one context. */
const MAX_DOCUMENTS = 20;

/**
 * Reads the terms of a context, including those of stored contexts that it refers to, with their IRIs as expanded by the
 * gateway.
 *
 * @param document with `@context`
 * @param isCore whether it is the core context itself, whose terms are otherwise omitted
 */
export async function readTerms(
  document: unknown,
  isCore: boolean,
  signal: AbortSignal,
): Promise<ContextTerms> {
  const found = new Map<string, NamedTerm & { from: string | undefined }>();
  const others: string[] = [];
  const seen = new Set<string>();
  const visit = async (value: unknown, from: string | undefined): Promise<void> => {
    for (const part of partsOf(value)) {
      if ('terms' in part) for (const term of part.terms) found.set(term.term, { ...term, from });
      else if (!seen.has(part.url)) {
        seen.add(part.url);
        const isShown = !isCoreUrl(part.url) && seen.size <= MAX_DOCUMENTS;
        const named = isShown ? await storedAt(part.url, signal) : undefined;
        if (named === undefined) others.push(part.url);
        else await visit(named, part.url);
      }
    }
  };
  await visit(document, undefined);
  const all = [...found.values()].sort((a, b) => (a.term < b.term ? -1 : 1));
  const shown = all.slice(0, MAX_TERMS);
  const iris = await irisOf(document, shown, signal);
  const terms = shown.map((term, index) => ({ ...term, iri: iris[index]?.iri }));
  return { terms, isCut: all.length > shown.length, others: isCore ? [] : others };
}

async function irisOf(document: unknown, terms: readonly NamedTerm[], signal: AbortSignal) {
  if (terms.length === 0) return [];
  const context = (document as { '@context'?: unknown } | null)?.['@context'];
  const { result } = await expandWith(context, probeOf(terms), signal);
  return readProbe(terms, result);
}

function isCoreUrl(url: string): boolean {
  return /\/ngsi-ld-core-context(?:-v[\d.]+)?(?:\.jsonld)?$/.test(url);
}

/** The URL of a context on a gateway; names need no encoding. */
const OWN = /^(.*\/api\/v2\/contexts\/([\w.~-]+))(?:\?version=(\d+))?$/;

/** Reads the context that the gateway has under a URL, either its own or a reference document. Undefined if there is none. */
async function storedAt(url: string, signal: AbortSignal): Promise<unknown> {
  const [, address, name, version] = OWN.exec(url) ?? [];
  try {
    // Other gateways use the same paths.
    if (name !== undefined && (await findContext(name, signal))?.url === address)
      return (await readContext(name, signal, version === undefined ? undefined : Number(version))).value;
    return await api.json('get', '/references', { query: { uri: url }, signal });
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
