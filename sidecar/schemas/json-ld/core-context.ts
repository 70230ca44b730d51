import { createRequire } from 'node:module';
import { defined } from '../../shared/defined.js';
import {
  CORE_CONTEXT_VERSIONS,
  CORE_TERM_GROUPS,
  type CoreContextVersion,
  type CoreTermGroup,
} from './core-context-data.js';

export { CORE_CONTEXT_VERSIONS, type CoreContextVersion } from './core-context-data.js';

/** The version of the core context that is used in everything this product generates. */
export const NEWEST_CORE_VERSION: CoreContextVersion = '1.9';

/** A context document: the answer to a GET of a context's URL (JSON-LD 1.1 § 3.1). */
export interface ContextDocument {
  readonly '@context': unknown;
}

const CORE_URL_BASE = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context';

/**
 * The core @context of a version. It is built anew on each call, because JSON-LD processors modify what they are
 * given.
 *
 * Members are in a fixed order: keywords, terms by name, `@vocab` last.
 */
export function coreContext(version: CoreContextVersion): ContextDocument {
  const has = ({ since, until }: { since: CoreContextVersion; until?: CoreContextVersion }) =>
    isAtMost(since, version) && isAtMost(version, until ?? NEWEST_CORE_VERSION);
  const terms = CORE_TERM_GROUPS.filter(has).flatMap(definitionsOf);
  if (has({ since: '1.9' })) terms.push(['ngsildproof', proofTerm()]);
  return {
    '@context': {
      ...(has({ since: '1.8' }) && { '@version': 1.1, '@protected': true }),
      ...Object.fromEntries(terms.sort(([a], [b]) => (a < b ? -1 : 1))),
      '@vocab': 'https://uri.etsi.org/ngsi-ld/default-context/',
    },
  };
}

/** The term with a scoped context, which refers to the data integrity context of the W3C. */
function proofTerm(): object {
  const sealed = {
    entityIdSealed: 'ngsi-ld:entityIdSealed',
    entityTypeSealed: { '@id': 'ngsi-ld:entityTypeSealed', '@type': '@vocab' },
  };
  return { '@id': 'ngsi-ld:ngsildproof', '@context': [sealed, DATA_INTEGRITY_URL] };
}

/** The context that the core context 1.9 needs for `ngsildproof`. */
const DATA_INTEGRITY_URL = 'https://w3id.org/security/data-integrity/v2';

/** The canonical URL of a version. */
export function coreContextUrl(version: CoreContextVersion = NEWEST_CORE_VERSION): string {
  return `${CORE_URL_BASE}-v${version}.jsonld`;
}

/**
 * The version that a URL names; undefined for URLs of other contexts.
 *
 * Each URL is also known with http, which old payloads use. The URL without a version stands for the newest one:
 * brokers apply their own core context, whichever is named (ETSI GS CIM 009 V1.9.1, clause 4.4).
 */
export function coreVersionOf(url: string): CoreContextVersion | undefined {
  return CORE_VERSION_BY_URL.get(url);
}

/** Every URL under which the core context of a version is known, the canonical one first. */
export function coreContextUrls(version: CoreContextVersion): readonly string[] {
  const https = [
    coreContextUrl(version),
    ...(version === NEWEST_CORE_VERSION ? [`${CORE_URL_BASE}.jsonld`] : []),
  ];
  return [...https, ...https.map((url) => url.replace('https:', 'http:'))];
}

/**
 * The IRI that the newest core context gives to a term; undefined for other names.
 *
 * @returns a keyword for `id` and `type`
 */
export function coreIriOf(term: string): string | undefined {
  return CORE_IRIS.get(term);
}

const CORE_VERSION_BY_URL: ReadonlyMap<string, CoreContextVersion> = new Map(
  CORE_CONTEXT_VERSIONS.flatMap((version) => coreContextUrls(version).map((url) => [url, version] as const)),
);

const CORE_IRIS: ReadonlyMap<string, string> = readCoreIris();

function readCoreIris(): ReadonlyMap<string, string> {
  const definitions = Object.entries(coreContext(NEWEST_CORE_VERSION)['@context'] as Record<string, unknown>);
  const ids = new Map<string, string>();
  for (const [term, definition] of definitions) {
    if (!term.startsWith('@')) ids.set(term, idOf(definition));
  }
  return new Map([...ids].map(([term, id]) => [term, expand(id, ids)]));
}

function idOf(definition: unknown): string {
  return typeof definition === 'string' ? definition : (definition as { '@id': string })['@id'];
}

/** Expands an IRI of the core context. It is absolute, a keyword, or compact with one of two prefixes. */
function expand(id: string, ids: ReadonlyMap<string, string>): string {
  const colon = id.indexOf(':');
  const prefix = colon === -1 ? undefined : ids.get(id.slice(0, colon));
  return prefix === undefined ? id : prefix + id.slice(colon + 1);
}

function definitionsOf(group: CoreTermGroup): [string, unknown][] {
  const coercion = defined({ '@type': group['@type'], '@container': group['@container'] });
  const isPlain = Object.keys(coercion).length === 0;
  return group.terms
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const [term = '', iri = `:${term}`] = entry.split(/=(.*)/s);
      const id = iri.startsWith(':') ? `ngsi-ld${iri}` : iri;
      return [term, isPlain ? id : { '@id': id, ...coercion }];
    });
}

function isAtMost(a: CoreContextVersion, b: CoreContextVersion): boolean {
  return CORE_CONTEXT_VERSIONS.indexOf(a) <= CORE_CONTEXT_VERSIONS.indexOf(b);
}

// The package has no types; it exports its contexts as a map from URL to document.
const { contexts } = createRequire(import.meta.url)('@digitalbazaar/data-integrity-context') as {
  contexts: ReadonlyMap<string, ContextDocument>;
};

/** Whether a URL names a bundled context, which comes with this product and never changes. */
export function isBundledContext(url: string): boolean {
  return coreVersionOf(url) !== undefined || url === DATA_INTEGRITY_URL;
}

/** A copy of a bundled context, which the caller may modify; undefined for other URLs. */
export function bundledContext(url: string): ContextDocument | undefined {
  const version = coreVersionOf(url);
  if (version !== undefined) return coreContext(version);
  const document = url === DATA_INTEGRITY_URL ? contexts.get(url) : undefined;
  return document === undefined ? undefined : structuredClone(document);
}
