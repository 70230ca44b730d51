import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/entity-members.js';
import { attributePathsOf, parseQ } from '../../ngsi-ld/q.js';
import { parseTypeSelector, typeNamesOf } from '../../ngsi-ld/type-selector.js';
import type { Parameter } from '../query/parameters.js';

/** Terms of the core @context that queries use; no other @context may give them another meaning (clause 5.5.7). */
const CORE_TERMS: ReadonlySet<string> = new Set([
  ...NO_OWN_ATTRIBUTES,
  ...['location', 'observationSpace', 'operationSpace', 'observedAt', 'unitCode', 'datasetId'],
]);

const IRI = /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/|urn:)/;

/**
 * Whether the @context of a request decides what a query means: it has a name that is neither an IRI nor a term of the core.
 *
 * @param removed attributes to drop or to keep
 */
export function dependsOnContext(selection: readonly Parameter[], removed: readonly string[] = []): boolean {
  const names = [...removed, ...selection.flatMap(namesIn)];
  return names.some((name) => !IRI.test(name) && !CORE_TERMS.has(name));
}

function namesIn({ name, value }: Parameter): readonly string[] {
  switch (name) {
    case 'type':
      return typeNamesOf(parseTypeSelector(value));
    case 'q':
      return attributePathsOf(parseQ(value)).flatMap(({ names }) => names);
    case 'attrs':
    case 'expandValues':
    case 'jsonKeys':
      return value.split(',');
    case 'geoproperty':
      return [value];
    default:
      return [];
  }
}

/** The link-values of a Link header with the relation of an @context (clause 6.3.5). */
const CONTEXT_LINK = /<([^<>]*)>((?:\s*;\s*[^\s;=,]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g;
const CONTEXT_RELATION = /;\s*rel\s*=\s*"?\s*http:\/\/www\.w3\.org\/ns\/json-ld#context\b/i;

/** The URL of the @context that a Link header names; undefined if it names none. */
export function contextOfLink(link: string | undefined): string | undefined {
  for (const [, url, parameters = ''] of link?.matchAll(CONTEXT_LINK) ?? [])
    if (CONTEXT_RELATION.test(parameters)) return url?.trim();
  return undefined;
}

/** The core @context, which every broker has and applies unasked. */
const CORE_CONTEXT =
  /^https?:\/\/uri\.etsi\.org\/ngsi-ld\/(?:v[\d.]+\/)?ngsi-ld-core-context[^/?#]*\.jsonld$/;

export function isCoreContext(url: string): boolean {
  return CORE_CONTEXT.test(url);
}
