import { allPages, ApiClient, type Page, pageParams } from '../../sidecar/client/client.js';
import type { Schemas } from '../../sidecar/client/operations.js';
import { ApiError, type Problem, UnreachableError } from '../../sidecar/client/errors.js';
import { urlOf } from './url.js';
import { accessToken, endSession, refreshSignIn } from './sign-in.js';
import { askForToken, token } from './token.js';

export { urlOf, allPages, ApiError, UnreachableError, type Page, type Problem, pageParams, type Schemas };
export { ifMatch, type WithETag } from '../../sidecar/client/client.js';

export type Purge = Schemas['Purge'];
export type PurgePreview = Schemas['PurgePreview'];
export type Status = Schemas['Status'];
export type RetentionPolicy = Schemas['RetentionPolicy'];
export type RetentionSettings = Schemas['RetentionPolicySettings'];
export type RetentionPreview = Schemas['RetentionPreview'];

/**
 * Types of the problems with which the gateway asks for a token, or for another one. Brokers and other gateways may also answer
 * 401.
 */
const TOKEN_PROBLEMS = ['unauthorized', 'token-refused'].map((name) => `urn:ngsi-ld-gateway:problem:${name}`);

const TOKEN = 'x-gateway-token';
const AUTHORIZATION = 'authorization';

/**
 * Sends requests with the access token of the signed-in user, or otherwise with the gateway token of this tab. If the gateway
 * refuses a request because the token is missing or wrong, the user is asked for one and the request is sent again; this is
 * safe, because such a refusal means that nothing was done. If another token was given while the request was in progress, the
 * user is not asked.
 */
export const api = new ApiClient({
  baseUrl: () => urlOf(''),
  // Answers are only valid at the time of the request.
  init: { cache: 'no-store' },
  headers(): Readonly<Record<string, string>> {
    const signedIn = accessToken();
    if (signedIn !== undefined) return { [AUTHORIZATION]: `Bearer ${signedIn}` };
    const given = token();
    return given === undefined ? {} : { [TOKEN]: given };
  },
  shouldRetry: async (error, headers) => {
    if (!needsToken(error)) return false;
    const signedIn = accessToken();
    if (signedIn !== undefined) {
      if (headers[AUTHORIZATION] !== `Bearer ${signedIn}` || (await refreshSignIn())) return true;
      endSession();
    }
    return (token() !== undefined && token() !== headers[TOKEN]) || askForToken();
  },
});

/** Whether a request was refused because a token is missing or was not accepted. */
export function needsToken(error: unknown): boolean {
  return error instanceof ApiError && TOKEN_PROBLEMS.includes(error.problem.type ?? '');
}

/** Whether the resource was changed elsewhere since it was read (412): nothing was done. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.problem.status === 412;
}

/** Which data of the broker is meant: the tenant, and the @context of the names. */
export interface DataScope {
  readonly tenant?: string | undefined;
  /** A Link header that names the @context. */
  readonly link?: string | undefined;
}

/** Returns the header fields that say which data a request is about. */
export function headersOf({ tenant = '', link = '' }: DataScope): Readonly<Record<string, string>> {
  return {
    ...(tenant.trim() === '' ? {} : { 'ngsild-tenant': tenant.trim() }),
    ...(link.trim() === '' ? {} : { link: link.trim() }),
  };
}

/** Returns the URL of a resource of the API, for links. @param segments not encoded */
export function apiUrl(segments: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const params = new URLSearchParams(query).toString();
  const path = segments.map(encodeURIComponent).join('/');
  return urlOf(`api/v2/${path}${params === '' ? '' : `?${params}`}`);
}
