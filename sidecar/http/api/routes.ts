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
    /** A POST that changes nothing: its answer has no ETag. */
    readonly isComputation?: boolean;
    /** Its answers are true of the moment: they have no ETag, and there is no 304. */
    readonly isVolatile?: boolean;
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

/** Whether a path, raw, belongs to the API. */
export function isApiPath(rawPath: string): boolean {
  return rawPath === API_PATH || rawPath.startsWith(`${API_PATH}/`);
}
