/** What each operation of the API takes and answers, by its method and its path. */
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

type QueryOf<Op> = Op extends { readonly query: infer Query } ? Loose<Query> : never;

/** The same, but optional members may also be undefined. */
type Loose<Value> = {
  readonly [Name in keyof Value]: object extends Pick<Value, Name> ? Value[Name] | undefined : Value[Name];
};

/** What stands in braces in a path. */
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

type PathPart<Path> = [NamesIn<Path>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<NamesIn<Path>, string | number>> };

type BodyOf<Op> = Op extends { readonly body: infer Body } ? Body : never;

/** The document with which an operation answers where it succeeds. */
export type DocumentOf<M extends Method, Path extends PathOf<M>> =
  Operation<M, Path> extends { readonly answer: infer Answer } ? Answer : never;

/** A body that is sent unchanged: it is JSON already, or its media type is in the headers. */
type RawBody = string | Uint8Array<ArrayBuffer> | Blob | FormData;

/** A request as it is sent; the operation says what it may hold. */
export interface AnyRequest {
  readonly path?: object | undefined;
  /** If it is a text: an encoded query string. */
  readonly query?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** The request changes nothing, whatever its method is. */
  readonly isRead?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a request is made of, besides its method and its path. */
export type RequestOf<M extends Method, Path extends PathOf<M>> = Omit<
  AnyRequest,
  'path' | 'query' | 'body'
> &
  PathPart<Path> & {
    readonly query?: QueryOf<Operation<M, Path>> | string | undefined;
    readonly body?: Loose<BodyOf<Operation<M, Path>>> | RawBody | undefined;
  };

/** The last argument of a request, which is optional if the operation needs nothing. */
export type Given<M extends Method, Path extends PathOf<M>> =
  Partial<RequestOf<M, Path>> extends RequestOf<M, Path> ? [RequestOf<M, Path>?] : [RequestOf<M, Path>];
