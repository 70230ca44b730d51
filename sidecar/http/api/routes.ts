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
import type { Preconditions } from './answer.js';

/** The path of the API, below the base URL of this service. */
export const API_PATH = '/api/v2';

/** The absolute URL of a resource of the API. @param segments path segments, not encoded */
export function apiUrl(baseUrl: string, ...segments: readonly string[]): string {
  return [`${baseUrl}${API_PATH}`, ...segments.map(encodeURIComponent)].join('/');
}

/** The Fastify scope of the API. The schemas of a route determine the types of parameters and body in its handler. */
export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  /** What an operation of the API declares in addition to its schemas. */
  interface FastifyContextConfig {
    /** A POST that changes nothing. Its answers have no ETag. */
    readonly isComputation?: boolean;
    /** The answers show a momentary state: they have no ETag, and are never 304. */
    readonly isVolatile?: boolean;
    /** A write that supports If-Match. */
    readonly isConditional?: boolean;
    /** A read that scripts on any web page may send (CORS). */
    readonly isCrossOrigin?: boolean;
    /** The answers name the record of a purge in `Purge-Id`. */
    readonly namesPurge?: boolean;
    /** A write that deletes nothing, or whose service enforces a policy of dry runs only. */
    readonly isForDryRuns?: boolean;
    /** Media types of bodies that the handler reads itself. Their size limit is IMPORT_LIMIT_BYTES. */
    readonly upload?: Readonly<Record<string, TSchema>>;
  }

  interface FastifyRequest {
    /** For requests to the API: the URL under which the client reaches this service, without a trailing slash. */
    baseUrl: string;
    /** For writes of the API: the state that the write expects. */
    conditions: Preconditions;
  }
}

export interface ApiRoute {
  readonly method: string;
  /** With API_PATH and `:name` parameters. */
  readonly url: string;
  readonly schema: FastifySchema;
  readonly config: FastifyContextConfig;
}

/** Whether a raw path belongs to the API. */
export function isApiPath(rawPath: string): boolean {
  return rawPath === API_PATH || rawPath.startsWith(`${API_PATH}/`);
}
