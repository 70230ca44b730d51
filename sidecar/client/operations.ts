/** The request and the answer of each operation of the API, by method and path. */
import type { components } from './types.js';

export type Schemas = components['schemas'];

type Paths = Schemas['Paths'];

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** The paths of the API that have a method. */
export type PathOf<M extends Method> = {
  [Path in keyof Paths]: M extends keyof Paths[Path] ? Path : never;
}[keyof Paths];

type Operation<M extends Method, Path extends PathOf<M>> =
  Paths[Path] extends Readonly<Record<M, infer Found>> ? Found : never;

type QueryOf<Op> = Op extends { readonly query: infer Query } ? OptionalUndefined<Query> : never;

/** The same type, except that optional members may also be undefined. */
type OptionalUndefined<Value> = {
  readonly [Name in keyof Value]: object extends Pick<Value, Name> ? Value[Name] | undefined : Value[Name];
};

/** The names in braces in a path. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

type PathPart<Path> = [NamesIn<Path>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<NamesIn<Path>, string | number>> };

type BodyOf<Op> = Op extends { readonly body: infer Body } ? Body : never;

/** The document that an operation answers with on success. */
export type DocumentOf<M extends Method, Path extends PathOf<M>> =
  Operation<M, Path> extends { readonly answer: infer Answer } ? Answer : never;

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
  PathPart<Path> & {
    readonly query?: QueryOf<Operation<M, Path>> | string | undefined;
    readonly body?: OptionalUndefined<BodyOf<Operation<M, Path>>> | RawBody | undefined;
  };

/** The last argument of a request; optional if the operation requires nothing. */
export type RequestArguments<M extends Method, Path extends PathOf<M>> =
  Partial<RequestOf<M, Path>> extends RequestOf<M, Path> ? [RequestOf<M, Path>?] : [RequestOf<M, Path>];
