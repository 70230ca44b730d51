import type { FastifyRequest } from 'fastify';
import type { CancelSignal } from '../../shared/cancel-signal.js';
import type { ProblemName } from '../problem-kinds.js';
import type { Answer } from './answer.js';
import type { Conditions } from './conditions.js';
import type { ParametersSchema } from './parameters.js';
import type { JsonSchema, ParametersOf, TypeOf } from './schema-types.js';

/** One operation of the API: its request, its answers, and the function between. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Below /api/v2, with `:name` for parameters. */
  readonly path: string;
  /** Names the operation in the API's OpenAPI document. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: ParametersSchema;
  readonly body?: JsonSchema;
  /** Instead of `body`: the handler gets the text of the body unparsed, and this schema is for the documentation only. */
  readonly bodyText?: JsonSchema;
  /** Instead of `body`: bodies of these media types, for the handler to read; IMPORT_LIMIT_BYTES holds for them. */
  readonly upload?: Readonly<Record<string, JsonSchema>>;
  /** Its body is small; else BODY_LIMIT_BYTES holds alone. */
  readonly bodyMaxBytes?: number;
  /** A POST that changes nothing: it needs no token, and its answer has no ETag. */
  readonly isComputation?: boolean;
  /** Its answers are true of the moment: they have no ETag, and there is no 304. */
  readonly isVolatile?: boolean;
  /** A read that needs the gateway token, where there is one. */
  readonly isPrivate?: boolean;
  /** Its success answers by status. */
  readonly answers: Readonly<Record<number, AnswerSchema>>;
  /** Problems beyond those that follow from method, path and body. */
  readonly problems?: readonly ProblemName[];
  /** A write that honours If-Match. */
  readonly isConditional?: boolean;
  /** A read that scripts of any web page may send (CORS). */
  readonly isCrossOrigin?: boolean;
  /** It is answered whatever becomes of the store. */
  readonly isStatic?: boolean;
  handle(call: Call<Readonly<Record<string, string>>, unknown, unknown>): Promise<Answer>;
}

/** The content of a success answer. */
export interface AnswerSchema {
  readonly description: string;
  /** By media type; nothing for an answer without a body. */
  readonly content?: Readonly<Record<string, JsonSchema>>;
  /** It is one page of a list. */
  readonly isPage?: boolean;
  /** It answers a purge, and names its record in `Purge-Id`. */
  readonly namesPurge?: boolean;
}

/** A request, checked and read. */
export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Of an endpoint with `bodyText`; else empty. */
  readonly text: string;
  /** Of an endpoint with `bodyText`: aborts when the client disconnects. */
  readonly signal: CancelSignal | undefined;
  readonly conditions: Conditions;
  readonly request: FastifyRequest;
  /** Aborts when the client disconnects before the end of its answer. */
  readonly disconnected: () => AbortSignal;
  /** Where the client reaches this service, without a trailing slash. */
  readonly baseUrl: string;
}

/** The parameters in a path: `/domains/:domain` has `domain`. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Readonly<Record<Name, string>>
    : unknown;

interface TypedEndpoint<Path extends string, Query, Body> extends Omit<Endpoint, 'handle'> {
  readonly path: Path;
  readonly query?: Query & ParametersSchema;
  readonly body?: Body & JsonSchema;
  handle(call: Call<ParamsOf<Path>, ParametersOf<Query>, TypeOf<Body>>): Promise<Answer>;
}

/** An endpoint whose handler gets parameters and body by the types of their schemas. */
export function endpoint<const Path extends string, const Query, const Body>(
  typed: TypedEndpoint<Path, Query, Body>,
): Endpoint {
  // The body and the parameters are checked against the schemas before the handler is called.
  return typed as unknown as Endpoint;
}
