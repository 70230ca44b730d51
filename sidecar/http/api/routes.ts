import type { Endpoint } from './endpoint.js';

/** Where the API is, below the base URL of this service. */
export const API_PATH = '/api/v2';

/** The absolute URL of a resource of the API. @param segments not encoded */
export function apiUrl(baseUrl: string, ...segments: readonly string[]): string {
  return [`${baseUrl}${API_PATH}`, ...segments.map(encodeURIComponent)].join('/');
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for routes of the API. */
    readonly endpoint?: Endpoint;
  }
}

/** A route as it was registered. */
export interface ApiRoute {
  readonly method: string;
  /** With API_PATH and `:name` parameters. */
  readonly url: string;
  readonly endpoint: Endpoint;
}

/** The methods of the routes that a path matches; for GET routes, HEAD as well. */
export function allowedMethods(routes: readonly ApiRoute[], path: string): readonly string[] {
  const methods = routes.filter(({ url }) => matches(url, path)).map(({ method }) => method);
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) =>
    methods.includes(method),
  );
}

/**
 * Whether a raw path spells a route exactly: its fixed segments byte for byte, and each parameter one segment that is
 * not empty. Routers decode before they compare; here, a path must mean what other servers on the way took it for.
 *
 * @param url of the route, with `:name` parameters
 */
export function matches(url: string, rawPath: string): boolean {
  return spells(url.split('/'), rawPath);
}

/** See {@link matches}. @param segments of the route's URL */
export function spells(segments: readonly string[], rawPath: string): boolean {
  const given = rawPath.split('/');
  return (
    segments.length === given.length &&
    segments.every((segment, index) =>
      segment.startsWith(':') ? isParameter(given[index] ?? '') : segment === given[index],
    )
  );
}

/** Whether a segment can be a name: not a dot segment, and without anything that some servers take for a separator. */
function isParameter(segment: string): boolean {
  return segment !== '' && !NOT_A_NAME.test(segment);
}

const NOT_A_NAME = /^(?:\.|%2e){1,2}$|%2f|%5c|[\\#;]/i;

/** Whether a path, raw, belongs to the API. */
export function isApiPath(rawPath: string): boolean {
  return rawPath === API_PATH || rawPath.startsWith(`${API_PATH}/`);
}
