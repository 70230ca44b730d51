import { noteDate } from '../shared/gateway-clock.js';
import { askForToken, token } from './token.js';
import type { components } from './types.js';
import { parseJson, writeJson } from '../../sidecar/shared/json/lossless-json.js';

export type Purge = components['schemas']['Purge'];
export type PurgePreview = components['schemas']['PurgePreview'];
export type Status = components['schemas']['Status'];
export type RetentionPolicy = components['schemas']['RetentionPolicy'];
export type RetentionSettings = components['schemas']['RetentionPolicySettings'];
export type RetentionPreview = components['schemas']['RetentionPreview'];

/** What a problem (RFC 9457) says; members beyond these are shown as they are. */
export interface Problem {
  readonly type?: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly [member: string]: unknown;
}

/** The gateway answered with a problem. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly problem: Problem,
    /** Seconds after which it may be tried again, as the gateway said. */
    readonly retryAfter: string | undefined,
  ) {
    super(problem.detail ?? problem.title);
  }
}

/** The gateway could not be reached. */
export class OfflineError extends Error {
  override readonly name = 'OfflineError';

  constructor(
    /** The request would have changed something, and may have arrived: only its answer may be missing. */
    readonly mayHaveArrived: boolean,
    cause: unknown,
  ) {
    super('The gateway cannot be reached.', { cause });
  }
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A body that is sent as it is; its media type is in the headers, unless it has one itself. */
  readonly body?: string | Blob | FormData;
  /** It changes nothing, whatever its method is. */
  readonly isRead?: boolean;
  readonly signal?: AbortSignal;
}

/** The type of the problem with which the gateway asks for its token. Others answer 401 as well: brokers, and gateways in front. */
const TOKEN_WANTED = 'urn:ngsi-ld-gateway:problem:unauthorized';

/** Whether a request was refused for want of the gateway token. */
export function isTokenWanted(error: unknown): boolean {
  return error instanceof ApiError && error.problem.type === TOKEN_WANTED;
}

/** Whether the thing was changed elsewhere since it was read (412): nothing was done. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && error.problem.status === 412;
}

/**
 * The address of a path of the gateway, which is reached where this page came from, a path of a gateway in front included.
 *
 * @param path without a leading slash
 */
export function addressOf(path: string): string {
  return new URL(path, new URL('../', document.baseURI)).href;
}

/**
 * Sends a request with the token of this tab. Where it is missing or wrong, it is asked for, and the request is sent again:
 * that refusal says that nothing was done. It may also come late, when another token was given meanwhile: then it is not asked for.
 *
 * @param path without a leading slash
 * @throws ApiError, OfflineError; an AbortError when the signal was aborted
 */
export async function call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  for (;;) {
    const given = token();
    const response = await send(method, path, options, given);
    noteDate(response.headers.get('date'));
    if (response.ok) return response;
    const error = new ApiError(await problemOf(response), response.headers.get('retry-after') ?? undefined);
    const isNewer = token() !== undefined && token() !== given;
    if (isTokenWanted(error) && (isNewer || (await askForToken()))) continue;
    throw error;
  }
}

/** The body of an answer. Numbers that no double holds stay as they are, so that schemas can be edited and sent again. */
async function jsonOf(response: Response): Promise<unknown> {
  return parseJson(await response.text());
}

/** The same, for an answer of JSON. */
export async function callJson<Value>(method: string, path: string, options?: CallOptions): Promise<Value> {
  return (await jsonOf(await call(method, path, options))) as Value;
}

/** One page of a list, and how many there are in all. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** A document, and the ETag of what was read: a write with it replaces nothing else. */
export interface Tagged<Value> {
  readonly value: Value;
  readonly etag: string;
}

/** Sends a request for a document with its ETag. */
export async function callTagged<Value>(
  method: string,
  path: string,
  options?: CallOptions,
): Promise<Tagged<Value>> {
  const response = await call(method, path, options);
  return { value: (await jsonOf(response)) as Value, etag: response.headers.get('etag') ?? '' };
}

/** Reads one page of a list. */
export async function callPage<Item>(path: string, signal: AbortSignal): Promise<Page<Item>> {
  const response = await call('GET', path, { signal });
  const items = (await jsonOf(response)) as readonly Item[];
  return { items, total: Number(response.headers.get('x-total-count') ?? items.length) };
}

async function send(
  method: string,
  path: string,
  { headers, json, body, isRead, signal }: CallOptions,
  given: string | undefined,
): Promise<Response> {
  try {
    return await fetch(addressOf(path), {
      method,
      // The answers are true of the moment.
      cache: 'no-store',
      headers: {
        ...headers,
        ...(given === undefined ? {} : { 'x-gateway-token': given }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: writeJson(json) }),
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new OfflineError(method !== 'GET' && isRead !== true && !/[?&]dryRun=true$/.test(path), error);
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text().catch(() => '');
  try {
    const json = JSON.parse(text) as Partial<Problem> | null;
    if (typeof json === 'object' && typeof json?.title === 'string')
      return { ...json, title: json.title, status: response.status };
  } catch {
    // Something in between answered, in words of its own.
  }
  const detail = text.slice(0, 500);
  return { title: response.statusText, status: response.status, ...(detail === '' ? {} : { detail }) };
}
