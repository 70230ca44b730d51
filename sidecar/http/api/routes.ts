import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyInstance,
  FastifySchema,
  RawServerDefault,
} from 'fastify';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TSchema } from 'typebox';
import type { ProblemKind } from '../../shared/errors.js';
import type { Conditions } from './answer.js';

/** Where the API is, below the base URL of this service. */
export const API_PATH = '/api/v2';

/** The absolute URL of a resource of the API. @param segments not encoded */
export function apiUrl(baseUrl: string, ...segments: readonly string[]): string {
  return [`${baseUrl}${API_PATH}`, ...segments.map(encodeURIComponent)].join('/');
}

/** The scope of Fastify in which the API is: the schemas of a route give its handler the types of parameters and body. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  /** What an operation of the API declares beside its schemas. */
  interface FastifyContextConfig {
    /** Problems beyond those that follow from method, path and body. */
    readonly problems?: readonly ProblemKind[];
    /** A POST that changes nothing: it needs no token, and its answer has no ETag. */
    readonly isComputation?: boolean;
    /** Its answers are true of the moment: they have no ETag, and there is no 304. */
    readonly isVolatile?: boolean;
    /** A read that needs the gateway token, where there is one. */
    readonly isPrivate?: boolean;
    /** A write that honours If-Match. */
    readonly isConditional?: boolean;
    /** A read that scripts of any web page may send (CORS). */
    readonly isCrossOrigin?: boolean;
    /** It is answered whatever becomes of the store. */
    readonly isStatic?: boolean;
    /** Its answers name the record of a purge in `Purge-Id`. */
    readonly namesPurge?: boolean;
    /** Bodies of these media types, which the handler reads itself; IMPORT_LIMIT_BYTES is their limit. */
    readonly upload?: Readonly<Record<string, TSchema>>;
  }

  interface FastifyRequest {
    /** Of a request to the API: where the client reaches this service, without a trailing slash. */
    baseUrl: string;
    /** Of a write of the API: the state that it expects. */
    conditions: Conditions;
  }
}

/** A route as it was registered. */
export interface ApiRoute {
  readonly method: string;
  /** With API_PATH and `:name` parameters. */
  readonly url: string;
  readonly schema: FastifySchema;
  readonly config: FastifyContextConfig;
}

/** Whether a request may change something, and so needs the gateway token where there is one. */
export function isWrite(method: string, { isComputation = false }: FastifyContextConfig): boolean {
  return !isComputation && !['GET', 'HEAD', 'OPTIONS'].includes(method);
}

/** Whether a request needs the gateway token, where there is one. */
export function needsToken(method: string, operation: FastifyContextConfig): boolean {
  return operation.isPrivate === true || isWrite(method, operation);
}

/** The methods of the routes that a path matches; for GET routes, HEAD as well. */
export function allowedMethods(
  routes: readonly Pick<ApiRoute, 'method' | 'url'>[],
  path: string,
): readonly string[] {
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
  const [segments, given] = [url.split('/'), rawPath.split('/')];
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
