import {
  decodings,
  hasSingleIdentifiers,
  isPurgeable,
  isSingleResourceDeletePath,
  isUnderApi,
  type Reading,
  readingsOf,
} from './request-path-readings.js';

export { isSingleResourceDeletePath };

/** What a purge removes: entities, or their temporal evolution. */
type PurgeTarget = 'entities' | 'temporal';

/** Why a request is refused before anything is forwarded. */
export type RefusalReason =
  /** A DELETE that can be read as one of the two purgeable collections, but is not spelled exactly so. */
  | 'inexact-collection'
  /** Any other DELETE under /ngsi-ld that does not name exactly one resource in every reading. */
  | 'not-one-resource'
  /** A DELETE of one resource whose identifier is not a URI without a comma. */
  | 'not-one-identifier'
  /** Another method that asks, by header or query, to be treated as a DELETE of more than one resource. */
  | 'method-override'
  /** A path with dot segments that lead out of /ngsi-ld. */
  | 'leaves-api'
  /** A request-target that is neither in origin form nor in absolute form (RFC 9112 § 3.2). */
  | 'malformed-target';

/** How a request is handled. */
type RequestClass =
  | { readonly kind: 'purge'; readonly target: PurgeTarget }
  | { readonly kind: 'refuse'; readonly status: 400; readonly reason: RefusalReason }
  /** For the broker, unchanged. */
  | { readonly kind: 'pass' }
  /** Not under /ngsi-ld, however it is read: this service's own routes. */
  | { readonly kind: 'other' };

/** Purge Entities (clause 6.4.3.3), and the same for temporal entities; the standard writes both ways. */
const PURGE_PATHS: ReadonlyMap<string, PurgeTarget> = new Map([
  ['/ngsi-ld/v1/entities', 'entities'],
  ['/ngsi-ld/v1/entities/', 'entities'],
  ['/ngsi-ld/v1/temporal/entities', 'temporal'],
  ['/ngsi-ld/v1/temporal/entities/', 'temporal'],
]);

/** A path in which no server finds anything to decode, to fold or to cut off. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9][A-Za-z0-9_.~:-]*)+$/;

const PASS: RequestClass = { kind: 'pass' };
const OTHER: RequestClass = { kind: 'other' };

/**
 * Decides what a request is, from its request line and headers as they are on the wire. Holds the invariant that no
 * broker ever sees a DELETE of a collection, however it is spelled: a DELETE passes only when its path names exactly
 * one resource of a known kind in every plausible reading.
 *
 * Other methods pass in any spelling as long as no reading of their path leads out of /ngsi-ld.
 *
 * @param method request method; methods are case-sensitive (RFC 9110 § 9.1), so only `DELETE` purges
 * @param rawUrl request-target (RFC 9112 § 3.2) in any form, undecoded
 * @param rawHeaders names and values in turn, as node:http gives them; read for overrides of method and path only
 */
export function classifyRequest(
  method: string,
  rawUrl: string,
  rawHeaders: readonly string[] = [],
): RequestClass {
  const given = exactPath(rawUrl);
  const target = method === 'DELETE' && !rawUrl.includes('#') ? PURGE_PATHS.get(given) : undefined;
  if (target !== undefined) return { kind: 'purge', target };
  if (PLAIN_PATH.test(given)) {
    if (!/^\/ngsi-ld(?:\/|$)/i.test(given)) return OTHER;
    if (method !== 'DELETE' && !becomesDelete(method, rawUrl, rawHeaders)) return PASS;
  }
  const path = pathOf(rawUrl);
  const ownReadings = readingsOf(path);
  const readings = [...ownReadings, ...carelessReadings(rawUrl)];
  if (!readings.some(isUnderApi)) return OTHER;
  if (method === 'DELETE') {
    if (isOneResource(rawUrl, rawHeaders)) return PASS;
    if (isSingleResourceDeletePath(rawUrl) && !hasSingleIdentifiers(rawUrl))
      return refuse('not-one-identifier');
    return refuse(readings.some(isPurgeable) ? 'inexact-collection' : 'not-one-resource');
  }
  if (becomesDelete(method, rawUrl, rawHeaders) && !isOneResource(rawUrl, rawHeaders))
    return refuse('method-override');
  if (readings.some((reading) => reading.climbs)) return refuse('leaves-api');
  return path.startsWith('/') && ownReadings.some(isUnderApi) ? PASS : refuse('malformed-target');
}

/** The request-target without scheme and authority, where it has them: origin form, query included (RFC 9112 § 3.2.2). */
export function originForm(rawUrl: string): string {
  const rest = rawUrl.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  return rest === rawUrl || rest.startsWith('/') ? rest : `/${rest}`;
}

/** True for another method that a server could take for DELETE. */
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

/** Routers are known to take everything up to the first slash for the authority: `http://host?x/ngsi-ld/v1/entities`. */
function carelessReadings(rawUrl: string): readonly Reading[] {
  return rawUrl.startsWith('/') ? [] : readingsOf(exactPath(rawUrl.replace(/^[^:/]*:\/\/[^/]*/, '')));
}

function exactPath(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

function refuse(reason: RefusalReason): RequestClass {
  return { kind: 'refuse', status: 400, reason };
}

/**
 * Ways for a client to make a framework behind the gateway see another method or path than the request line has.
 * NGSI-LD has none of them, but brokers are built on frameworks that do.
 */

/** CGI-like gateways treat `_` and `-` in header names alike. */
const METHOD_HEADER = /^(?:x[-_](?:http[-_])?method(?:[-_]override)?|http[-_]method[-_]override)$/i;
const PATH_HEADER = /^x[-_](?:original|rewrite)[-_]url$/i;

/**
 * True when a header or the query asks to treat the request as a DELETE: `X-HTTP-Method-Override: DELETE` and its
 * relatives, in any case, or a query parameter `_method=delete`. A form field of that name in a body is not read:
 * bodies are streamed, and NGSI-LD has no form bodies.
 *
 * @param rawUrl request-target
 * @param rawHeaders names and values in turn, as node:http gives them
 */
function asksForDelete(rawUrl: string, rawHeaders: readonly string[]): boolean {
  return (
    headerValues(rawHeaders, METHOD_HEADER).some((value) => /delete/i.test(value)) ||
    (mayNameMethod(rawUrl) && queryOf(rawUrl).split('&').some(isMethodParameter))
  );
}

/**
 * Whether a header or the query asks to treat a request as another than its request line says: by another method, or under
 * another path.
 */
export function isOverridden(method: string, rawUrl: string, rawHeaders: readonly string[]): boolean {
  return (
    headerValues(rawHeaders, METHOD_HEADER).some((value) => value.trim().toUpperCase() !== method) ||
    overridingPaths(rawHeaders).length > 0 ||
    (mayNameMethod(rawUrl) && queryOf(rawUrl).split(/[&;]/).some(namesMethod))
  );
}

/** Nearly no request-target has a parameter that names a method, however it is decoded. */
function mayNameMethod(rawUrl: string): boolean {
  return /method|%|[^\0-\x7f]/i.test(rawUrl);
}

function namesMethod(parameter: string): boolean {
  return decodings(parameter).some((text) => /^\s*_method(?:\[[^=]*\])?\s*=/i.test(text));
}

/** Values of the headers that make some frameworks route by another path than the request-target's. */
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

function queryOf(rawUrl: string): string {
  const start = rawUrl.indexOf('?');
  return start === -1 ? '' : rawUrl.slice(start + 1);
}
