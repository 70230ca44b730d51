/** The request and the answer of each operation of the API, by method and path. */
import type { components, paths } from './types.js';

export type Schemas = components['schemas'];

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** The paths of the API that have a method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Readonly<Record<M, object>> ? Path : never;
}[keyof paths];

type Operation<M extends Method, Path extends PathOf<M>> = paths[Path][M];

type QueryOf<Op> = Op extends { readonly parameters: { readonly query?: infer Query } }
  ? OptionalUndefined<NonNullable<Query>>
  : never;

/** The same type, except that optional members may also be undefined. */
type OptionalUndefined<Value> = {
  readonly [Name in keyof Value]: object extends Pick<Value, Name> ? Value[Name] | undefined : Value[Name];
};

type PathPart<Op> = Op extends { readonly parameters: { readonly path: infer Names } }
  ? { readonly path: Readonly<Record<keyof Names, string | number>> }
  : { readonly path?: undefined };

type BodyOf<Op> = Op extends { readonly requestBody?: { readonly content: infer Content } }
  ? Content extends { readonly 'application/json': infer Body }
    ? Body
    : Content[keyof Content]
  : never;

/** The document that an operation answers with on success. */
export type DocumentOf<M extends Method, Path extends PathOf<M>> =
  Operation<M, Path> extends { readonly responses: infer Responses }
    ? ContentOf<Responses[keyof Responses & (200 | 201 | 202 | 207)]>
    : never;

type ContentOf<Response> = Response extends { content: infer Content } ? Content[keyof Content] : never;

/** A body that is sent unchanged: it is JSON already, or its media type is in the headers. */
type RawBody = string | Uint8Array<ArrayBuffer> | Blob | FormData;

/** A request of any operation; the types of the operation restrict its members. */
export interface ApiRequest {
  readonly path?: object | undefined;
  /** A string is an encoded query string. */
  readonly query?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Whether the request changes nothing, whatever its method. */
  readonly isReadOnly?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The parts of a request, besides method and path. */
export type RequestOf<M extends Method, Path extends PathOf<M>> = Omit<
  ApiRequest,
  'path' | 'query' | 'body'
> &
  PathPart<Operation<M, Path>> & {
    readonly query?: QueryOf<Operation<M, Path>> | string | undefined;
    readonly body?: OptionalUndefined<BodyOf<Operation<M, Path>>> | RawBody | undefined;
  };

/** The last argument of a request; optional if the operation requires nothing. */
export type RequestArguments<M extends Method, Path extends PathOf<M>> =
  Partial<RequestOf<M, Path>> extends RequestOf<M, Path> ? [RequestOf<M, Path>?] : [RequestOf<M, Path>];
