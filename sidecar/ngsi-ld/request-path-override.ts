import { decodings } from './request-path-readings.js';

/**
 * Ways for a client to make a framework behind the gateway see another method or path than the request line has.
 * NGSI-LD has none of them, but brokers are built on frameworks that do.
 */

const METHOD_HEADERS = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-method',
  'http-method-override',
]);

const PATH_HEADERS = new Set(['x-original-url', 'x-rewrite-url']);

/**
 * True when a header or the query asks to treat the request as a DELETE: `X-HTTP-Method-Override: DELETE` and its
 * relatives, in any case, or a query parameter `_method=delete`. A form field of that name in a body is not read:
 * bodies are streamed, and NGSI-LD has no form bodies.
 *
 * @param rawUrl request-target
 * @param rawHeaders names and values in turn, as node:http gives them
 */
export function asksForDelete(rawUrl: string, rawHeaders: readonly string[]): boolean {
  return (
    headerValues(rawHeaders, METHOD_HEADERS).some((value) => /delete/i.test(value)) ||
    queryOf(rawUrl).split('&').some(isMethodParameter)
  );
}

/** Values of the headers that make some frameworks route by another path than the request-target's. */
export function overridingPaths(rawHeaders: readonly string[]): readonly string[] {
  return headerValues(rawHeaders, PATH_HEADERS);
}

function headerValues(rawHeaders: readonly string[], names: ReadonlySet<string>): readonly string[] {
  // CGI-like gateways treat `_` and `-` in header names alike.
  return rawHeaders.filter(
    (_text, index) =>
      index % 2 === 1 && names.has((rawHeaders[index - 1] ?? '').toLowerCase().replaceAll('_', '-')),
  );
}

function isMethodParameter(parameter: string): boolean {
  return decodings(parameter).some((text) => /^\s*_method(?:\[[^=]*\])?\s*=[^]*delete/i.test(text));
}

function queryOf(rawUrl: string): string {
  const start = rawUrl.indexOf('?');
  return start === -1 ? '' : rawUrl.slice(start + 1);
}
