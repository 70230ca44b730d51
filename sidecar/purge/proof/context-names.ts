import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/entity-members.js';
import { attributePathsOf, parseQ } from '../../ngsi-ld/q.js';
import { parseTypeSelector, typeNamesOf } from '../../ngsi-ld/type-selector.js';
import { QueryRefusedError } from '../errors.js';
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

/** The link-values of a Link header (RFC 8288), with their targets and parameters. */
const LINK_VALUE = /<([^<>]*)>((?:\s*;\s*[^\s;=,]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g;
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;
/** The relation of an @context (clause 6.3.5). */
const CONTEXT_RELATION = 'http://www.w3.org/ns/json-ld#context';

/** The URL of the first @context that a Link header names; undefined if it names none. */
export function contextOfLink(link: string | undefined): string | undefined {
  return contextsOfLink(link)[0];
}

/**
 * The URL of the @context of a request; undefined without a Link header.
 *
 * @throws QueryRefusedError for a Link that does not name exactly one: brokers would ignore it, or choose
 */
export function contextOfRequest(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const [url, another] = contextsOfLink(link);
  if (url !== undefined && another === undefined) return url;
  throw new QueryRefusedError(
    'invalidRequest',
    `The Link of a purge must name one @context, as in <https://models.example/context.jsonld>; rel="${CONTEXT_RELATION}"; type="application/ld+json". This one names ${url === undefined ? 'none' : 'several'}.`,
    'Link',
  );
}

function contextsOfLink(link = ''): readonly string[] {
  return [...link.matchAll(LINK_VALUE)].flatMap(([, url = '', parameters = '']) => {
    const [, quoted, bare = ''] = RELATION.exec(parameters) ?? [];
    const relations = (quoted ?? bare).toLowerCase().split(/\s+/);
    return relations.includes(CONTEXT_RELATION) ? [url.trim()] : [];
  });
}

/** The core @context, which every broker has and applies unasked. */
const CORE_CONTEXT =
  /^https?:\/\/uri\.etsi\.org\/ngsi-ld\/(?:v[\d.]+\/)?ngsi-ld-core-context[^/?#]*\.jsonld$/;

export function isCoreContext(url: string): boolean {
  return CORE_CONTEXT.test(url);
}
