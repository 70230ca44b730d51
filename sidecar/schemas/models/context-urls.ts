/** The path of contexts below the base URL of this service. */
const CONTEXTS_PATH = '/api/v2/contexts';

/** A context of this service, and its version where the URL names one. */
export interface NamedContext {
  readonly name: string;
  readonly version: number | undefined;
}

/**
 * The URL by which clients and brokers name a context.
 *
 * @param baseUrl of this service, without a trailing slash
 * @param version its content never changes; the current one when not given
 */
export function contextUrl(baseUrl: string, name: string, version?: number): string {
  return `${baseUrl}${CONTEXTS_PATH}/${name}${version === undefined ? '' : `?version=${version}`}`;
}

/**
 * Stands in stored contexts for the base URL of this service: brokers and clients reach it by different ones. No host has
 * such a name (RFC 2606), and no other context can be under it.
 */
export const INTERNAL_BASE = 'http://gateway.invalid';

/** Replaces stored URLs of this service's contexts with those by which clients reach them. */
export function withBaseUrl(text: string, baseUrl: string): string {
  return text.replaceAll(`${INTERNAL_BASE}${CONTEXTS_PATH}/`, `${baseUrl}${CONTEXTS_PATH}/`);
}

const LAST_SEGMENT = /\/api\/v2\/contexts\/([^/]+)$/;

/** The context that a URL would name if it were a URL of this service; undefined when it could not be one. */
export function namedContext(url: string): NamedContext | undefined {
  if (!URL.canParse(url)) return undefined;
  const { pathname, search, hash } = new URL(url);
  const segment = LAST_SEGMENT.exec(pathname)?.[1]?.replaceAll(/%7E/gi, '~');
  if (segment === undefined || hash !== '' || !/^[A-Za-z0-9_.~-]+$/.test(segment)) return undefined;
  if (search === '') return { name: segment, version: undefined };
  const version = /^\?version=([1-9]\d{0,8})$/.exec(search)?.[1];
  return version === undefined ? undefined : { name: segment, version: Number(version) };
}

/** Whether a URL lies below a base URL. */
export function isBelow(url: string, baseUrl: string): boolean {
  return url.startsWith(`${baseUrl}/`);
}
