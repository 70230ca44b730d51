import {
  decodings,
  hasSingleIdentifiers,
  isPurgeable,
  isSingleResourceDeletePath,
  isUnderApi,
  type PathInterpretation,
  interpretPath,
} from './path-interpretations.js';

export { isSingleResourceDeletePath };

/** What a purge deletes: entities, or their temporal evolution. */
type PurgeTarget = 'entities' | 'temporal';

/** Why a request is refused before anything is forwarded. */
export type RefusalReason =
  /** A DELETE that can be read as one of the two purgeable collections, but is not spelled exactly that way. */
  | 'inexact-collection'
  /** Any other DELETE under /ngsi-ld that does not name exactly one resource in every reading. */
  | 'not-one-resource'
  /** A DELETE of one resource whose id is not a URI, or with a comma in an identifier. */
  | 'not-one-identifier'
  /** Another method, with a header or query that asks to treat it as a DELETE of more than one resource. */
  | 'method-override'
  /** A path with dot segments that lead out of /ngsi-ld. */
  | 'leaves-api'
  /** A request-target that is neither in origin form nor in absolute form (RFC 9112 § 3.2). */
  | 'malformed-target';

/** How to handle a request. */
type RequestClass =
  | { readonly kind: 'purge'; readonly target: PurgeTarget }
  | { readonly kind: 'refuse'; readonly status: 400; readonly reason: RefusalReason }
  /** Forwarded to the broker unchanged. */
  | { readonly kind: 'pass' }
  /** Not under /ngsi-ld in any reading: one of this service's own routes. */
  | { readonly kind: 'other' };

/** Purge Entities (clause 6.4.3.3), and its counterpart for temporal entities; the standard spells the paths both ways. */
const PURGE_PATHS: ReadonlyMap<string, PurgeTarget> = new Map([
  ['/ngsi-ld/v1/entities', 'entities'],
  ['/ngsi-ld/v1/entities/', 'entities'],
  ['/ngsi-ld/v1/temporal/entities', 'temporal'],
  ['/ngsi-ld/v1/temporal/entities/', 'temporal'],
]);

/** A path that leaves servers nothing to decode, fold or cut off. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9][A-Za-z0-9_.~:-]*)+$/;

const PASS: RequestClass = { kind: 'pass' };
const OTHER: RequestClass = { kind: 'other' };

/**
 * Decides how to handle a request, from its request line and headers as received. Ensures that no broker ever sees a
 * DELETE of a collection, however it is spelled: a DELETE passes only if its path names exactly one resource of a known
 * kind in every plausible reading.
 *
 * Other methods pass in any spelling, as long as no reading of their path leads out of /ngsi-ld.
 *
 * @param method request method; methods are case-sensitive (RFC 9110 § 9.1), so only `DELETE` purges
 * @param rawUrl request-target (RFC 9112 § 3.2) in any form, undecoded
 * @param rawHeaders alternating names and values, as in node:http; used only to find overrides of method and path
 */
export function classifyRequest(
  method: string,
  rawUrl: string,
  rawHeaders: readonly string[] = [],
): RequestClass {
  const exact = exactPath(rawUrl);
  const target = method === 'DELETE' && !rawUrl.includes('#') ? PURGE_PATHS.get(exact) : undefined;
  if (target !== undefined) return { kind: 'purge', target };
  if (PLAIN_PATH.test(exact)) {
    if (!/^\/ngsi-ld(?:\/|$)/i.test(exact)) return OTHER;
    if (method !== 'DELETE' && !becomesDelete(method, rawUrl, rawHeaders)) return PASS;
  }
  const path = pathOf(rawUrl);
  const ownInterpretations = interpretPath(path);
  const interpretations = [...ownInterpretations, ...lenientInterpretations(rawUrl)];
  if (!interpretations.some(isUnderApi)) return OTHER;
  if (method === 'DELETE') {
    if (isOneResource(rawUrl, rawHeaders)) return PASS;
    if (isSingleResourceDeletePath(rawUrl) && !hasSingleIdentifiers(rawUrl))
      return refuse('not-one-identifier');
    return refuse(interpretations.some(isPurgeable) ? 'inexact-collection' : 'not-one-resource');
  }
  if (becomesDelete(method, rawUrl, rawHeaders) && !isOneResource(rawUrl, rawHeaders))
    return refuse('method-override');
  if (interpretations.some((reading) => reading.escapesRoot)) return refuse('leaves-api');
  return path.startsWith('/') && ownInterpretations.some(isUnderApi) ? PASS : refuse('malformed-target');
}

/** Returns the request-target in origin form, including the query: without scheme and authority (RFC 9112 § 3.2.2). */
export function originForm(rawUrl: string): string {
  const rest = rawUrl.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  return rest === rawUrl || rest.startsWith('/') ? rest : `/${rest}`;
}

/** Whether a server could treat a request with another method as a DELETE. */
function becomesDelete(method: string, rawUrl: string, rawHeaders: readonly string[]): boolean {
  return /^\s*delete\s*$/i.test(method) || asksForDelete(rawUrl, rawHeaders);
}

function isOneResource(rawUrl: string, rawHeaders: readonly string[]): boolean {
  return [rawUrl, ...overridingPaths(rawHeaders).map(originForm)].every(
    (target) => !target.includes('#') && isSingleResourceDeletePath(target) && hasSingleIdentifiers(target),
  );
}

function pathOf(rawUrl: string): string {
  return exactPath(originForm(rawUrl));
}

/**
 * Reads an absolute target as some routers do, which take everything up to the first slash as the authority:
 * `http://host?x/ngsi-ld/v1/entities`.
 */
function lenientInterpretations(rawUrl: string): readonly PathInterpretation[] {
  return rawUrl.startsWith('/') ? [] : interpretPath(exactPath(rawUrl.replace(/^[^:/]*:\/\/[^/]*/, '')));
}

function exactPath(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

function refuse(reason: RefusalReason): RequestClass {
  return { kind: 'refuse', status: 400, reason };
}

/**
 * Ways for a client to make a framework behind the gateway see another method or path than that of the request line.
 * NGSI-LD defines none of them, but brokers are built on frameworks that have them.
 */

/** CGI-like gateways treat `_` and `-` in header names as equal. */
const METHOD_HEADER = /^(?:x[-_](?:http[-_])?method(?:[-_]override)?|http[-_]method[-_]override)$/i;
const PATH_HEADER = /^x[-_](?:original|rewrite)[-_]url$/i;

/**
 * Whether a header or the query asks to treat the request as a DELETE: `X-HTTP-Method-Override: DELETE` and similar
 * headers, in any case, or a query parameter `_method=delete`. A form field of that name in the body is not considered,
 * because bodies are streamed and NGSI-LD has no form bodies.
 *
 * @param rawUrl request-target
 * @param rawHeaders alternating names and values, as in node:http
 */
function asksForDelete(rawUrl: string, rawHeaders: readonly string[]): boolean {
  return (
    headerValues(rawHeaders, METHOD_HEADER).some((value) => /delete/i.test(value)) ||
    (mayNameMethod(rawUrl) && parametersOf(rawUrl).some(isMethodParameter))
  );
}

/**
 * Whether a header or the query asks to treat a request differently from its request line: with another method, or
 * under another path.
 */
export function isOverridden(method: string, rawUrl: string, rawHeaders: readonly string[]): boolean {
  return (
    headerValues(rawHeaders, METHOD_HEADER).some((value) => value.trim().toUpperCase() !== method) ||
    overridingPaths(rawHeaders).length > 0 ||
    (mayNameMethod(rawUrl) && parametersOf(rawUrl).some(namesMethod))
  );
}

/** A quick test: almost no request-target has a parameter that could name a method, however it is decoded. */
function mayNameMethod(rawUrl: string): boolean {
  return /method|%|[^\0-\x7f]/i.test(rawUrl);
}

function namesMethod(parameter: string): boolean {
  return decodings(parameter).some((text) => /^\s*_method(?:\[[^=]*\])?\s*=/i.test(text));
}

/** Returns the values of headers that make some frameworks route by another path than that of the request-target. */
function overridingPaths(rawHeaders: readonly string[]): readonly string[] {
  return headerValues(rawHeaders, PATH_HEADER);
}

function headerValues(rawHeaders: readonly string[], name: RegExp): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (name.test(rawHeaders[at] ?? '')) values.push(rawHeaders[at + 1] ?? '');
  return values;
}

function isMethodParameter(parameter: string): boolean {
  return decodings(parameter).some((text) => /^\s*_method(?:\[[^=]*\])?\s*=[^]*delete/i.test(text));
}

/** Returns the parameters of a query, which some servers also split at semicolons. */
function parametersOf(rawUrl: string): readonly string[] {
  const start = rawUrl.indexOf('?');
  return start === -1 ? [] : rawUrl.slice(start + 1).split(/[&;]/);
}
