import createClient from 'openapi-fetch';
import { parseJson } from '../shared/json/lossless-json.js';
import { ApiError, NotJsonError, readApiError, unreachableError } from './errors.js';
import type { ApiRequest, DocumentOf, RequestArguments, Method, PathOf } from './operations.js';

/** A document and its ETag. A write with the ETag fails if the document has changed since it was read. */
export interface WithETag<Value> {
  readonly value: Value;
  /** Empty if the gateway sends none. */
  readonly etag: string;
}

/** Returns the precondition of a write. @param etag of the resource to replace; undefined if it must not exist yet */
export function ifMatch(etag: string | undefined): Readonly<Record<string, string>> {
  return etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };
}

/** One page of a list, and the number of items in the whole list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

export interface ApiClientOptions {
  /**
   * Base URL of the gateway, with a slash at its end. It is a function because a web page only knows the URL once it is shown.
   */
  readonly baseUrl: () => string;
  /** Header fields for each request, unless the request sets them itself. */
  readonly headers: () => Readonly<Record<string, string>>;
  readonly init?: RequestInit;
  /** Called with the headers of each answer. */
  readonly onResponse?: (headers: Headers) => void;
  /** Decides whether to send a refused request again. @param headers with which it was sent */
  readonly shouldRetry?: (error: ApiError, headers: Readonly<Record<string, string>>) => Promise<boolean>;
}

/** The API as openapi-fetch sees it here. The methods of the client check their arguments more strictly. */
type AnyPaths = Record<
  string,
  Record<
    Method,
    {
      readonly parameters: { readonly path?: object | undefined; readonly query?: object | undefined };
      readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
      readonly responses: { readonly 200: { readonly content: Readonly<Record<string, unknown>> } };
    }
  >
>;

/**
 * Sends requests to the API with openapi-fetch. The client reads the answers itself, because openapi-fetch would change numbers
 * that a double cannot hold.
 *
 * All methods throw an ApiError for a status other than 2xx, an UnreachableError if there was no answer, and the abort reason
 * if the signal was aborted.
 */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #client = createClient<AnyPaths>();

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.baseUrl();
  }

  /** Resolves with the answer as soon as its headers have arrived; the caller reads the body. */
  async request<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    ...given: RequestArguments<M, Path>
  ): Promise<Response> {
    return this.#request(method, path, given[0]);
  }

  /** Sends a request and returns the text of the answer. */
  async text<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    ...given: RequestArguments<M, Path>
  ): Promise<string> {
    return (await this.#read(method, path, given[0])).text;
  }

  /** Sends a request and returns the document in the answer. @throws NotJsonError */
  async json<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    ...given: RequestArguments<M, Path>
  ): Promise<DocumentOf<M, Path>> {
    return (await this.answer(method, path, ...given)).value;
  }

  /** Sends a request and returns the document in the answer, with status, headers and ETag. @throws NotJsonError */
  async answer<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    ...given: RequestArguments<M, Path>
  ) {
    const { text, status, headers } = await this.#read(method, path, given[0]);
    // An answer without content has no document.
    const value = (text === '' ? undefined : parsed(text)) as DocumentOf<M, Path>;
    return { value, status, headers, etag: headers.get('etag') ?? '' };
  }

  /** Reads one page of a list. @throws NotJsonError, also if the answer is not a list */
  async page<Path extends PathOf<'get'>>(
    path: Path,
    ...given: RequestArguments<'get', Path>
  ): Promise<Page<ItemOf<DocumentOf<'get', Path>>>> {
    const { value, headers } = await this.answer('get', path, ...given);
    if (!Array.isArray(value))
      throw new NotJsonError('The gateway did not answer with a list: check its URL.');
    const items = value as readonly ItemOf<DocumentOf<'get', Path>>[];
    return { items, total: Number(headers.get('x-total-count') ?? items.length) };
  }

  async #read(method: Method, path: string, request: ApiRequest = {}) {
    const response = await this.#request(method, path, request);
    const text = await response.text().catch((error: unknown) => {
      throw this.#failure(error, method, request);
    });
    return { text, status: response.status, headers: response.headers };
  }

  async #request(method: Method, path: string, request: ApiRequest = {}): Promise<Response> {
    for (;;) {
      const headers = this.#options.headers();
      try {
        return await this.#sent(method, path, { ...request, headers: { ...headers, ...request.headers } });
      } catch (error) {
        if (!(error instanceof ApiError) || (await this.#options.shouldRetry?.(error, headers)) !== true)
          throw error;
      }
    }
  }

  /** Sends the request once. */
  async #sent(method: Method, path: string, request: ApiRequest): Promise<Response> {
    const { path: names, query, headers, body, signal } = request;
    const { baseUrl, init, onResponse } = this.#options;
    const { response } = await this.#client.request(method, path, {
      ...init,
      baseUrl: path.startsWith('/ngsi-ld/') ? baseUrl() : `${baseUrl()}api/v2`,
      params: { path: names, query: typeof query === 'string' ? {} : query },
      ...(typeof query === 'string' ? { querySerializer: () => query } : {}),
      ...(body === undefined ? {} : { body, bodySerializer: serialized }),
      ...(signal === undefined ? {} : { signal }),
      ...(headers === undefined ? {} : { headers }),
      // The answer is read here, to keep exact numbers.
      parseAs: 'stream',
      fetch: async (sent) => {
        const answer = await fetch(sent).catch((error: unknown) => {
          throw this.#failure(error, method, request);
        });
        onResponse?.(answer.headers);
        if (answer.ok) return answer;
        throw await readApiError(answer);
      },
    });
    return response;
  }

  #failure(error: unknown, method: Method, { isReadOnly, query, signal }: ApiRequest): unknown {
    if (signal?.aborted === true) return error;
    const isDry =
      typeof query === 'string'
        ? /(?:^|&)dryRun=true$/.test(query)
        : query !== undefined && 'dryRun' in query && query.dryRun === true;
    return unreachableError(this.#options.baseUrl(), error, method === 'get' || isReadOnly === true || isDry);
  }
}

/** Returns the parameters for one page of a list. @param page from 1 */
export function pageParams(page: number, size: number) {
  return { limit: size, offset: (page - 1) * size };
}

const MAX_PAGE_SIZE = 1000;

/** Reads all pages of a list, or up to the page that has an item for which `isLast` is true. @param load reads a page */
export async function allPages<Item>(
  load: (params: ReturnType<typeof pageParams>) => Promise<Page<Item>>,
  isLast: (item: Item) => boolean = () => false,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  for (let page = 1; ; page += 1) {
    const { items } = await load(pageParams(page, MAX_PAGE_SIZE));
    all.push(...items);
    if (items.length < MAX_PAGE_SIZE || items.some(isLast)) return all;
  }
}

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

function serialized(body: unknown): unknown {
  const isRaw =
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    body instanceof Blob ||
    body instanceof FormData;
  return isRaw ? body : JSON.stringify(body);
}

/** Parses JSON. @throws NotJsonError */
export function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new NotJsonError('The gateway answered with something that is not JSON: check its URL.', { cause });
  }
}
