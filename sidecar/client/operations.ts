/** What each operation of the API takes and answers, by its method and its path. */
import type { components, paths } from './types.js';

export type Schemas = components['schemas'];

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** The paths of the API that have a method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Readonly<Record<M, object>> ? Path : never;
}[keyof paths];

type Operation<M extends Method, Path extends PathOf<M>> =
  paths[Path] extends Readonly<Record<M, infer Found>> ? Found : never;

type QueryOf<Op> = Op extends { readonly parameters: { readonly query?: infer Query } }
  ? Loose<Query>
  : never;

/** The same, but optional members may also be undefined. */
type Loose<Value> = {
  readonly [Name in keyof Value]: object extends Pick<Value, Name> ? Value[Name] | undefined : Value[Name];
};

type PathPart<Op> = Op extends { readonly parameters: { readonly path: infer Path extends object } }
  ? { readonly path: Path }
  : { readonly path?: undefined };

type BodyOf<Op> = Op extends { readonly requestBody?: { readonly content: infer Content } }
  ? Content[keyof Content]
  : never;

type ContentOf<Answer> = Answer extends { readonly content: infer Content } ? Content[keyof Content] : never;

/** The document with which an operation answers where it succeeds. */
export type DocumentOf<M extends Method, Path extends PathOf<M>> =
  Operation<M, Path> extends { readonly responses: infer Answers }
    ? ContentOf<Answers[keyof Answers]>
    : never;

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
  PathPart<Operation<M, Path>> & {
    readonly query?: QueryOf<Operation<M, Path>> | string | undefined;
    readonly body?: Loose<BodyOf<Operation<M, Path>>> | RawBody | undefined;
  };

/** The last argument of a request, which is optional if the operation needs nothing. */
export type Given<M extends Method, Path extends PathOf<M>> =
  Partial<RequestOf<M, Path>> extends RequestOf<M, Path> ? [RequestOf<M, Path>?] : [RequestOf<M, Path>];
