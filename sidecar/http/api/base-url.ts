import type { IncomingMessage } from 'node:http';
import { refused } from '../errors.js';

/** The URL under which the client of a request reaches this service, without a trailing slash. */
export type BaseUrlOf = (request: IncomingMessage) => string;

/** Host and port of a URL (RFC 3986 § 3.2.2), without what no host name on a network has. */
const AUTHORITY = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Finds the base of links: the configured URL, else that of the request's `Host`. `X-Forwarded-*` fields do not count:
 * anybody can send them, and what they say would stay in caches that do not know of them.
 *
 * @returns a function that throws RequestRefusedError (400) for a `Host` that is none
 */
export function createBaseUrl(publicUrl: URL | undefined): BaseUrlOf {
  if (publicUrl !== undefined) {
    const base = publicUrl.href.replace(/\/+$/, '');
    return () => base;
  }
  // Nearly all requests have the same.
  let lastHost: string | undefined;
  return ({ headers: { host }, socket }) => {
    // HTTP/1.0 knows requests without a Host.
    if (host === undefined || host === '') return `http://${ownAuthority(socket)}`;
    if (host !== lastHost && (!AUTHORITY.test(host) || !URL.canParse(`http://${host}`)))
      throw refused('invalidRequest', 'The header Host names no host.');
    lastHost = host;
    return `http://${host}`;
  };
}

function ownAuthority({ localAddress = '127.0.0.1', localPort = 80 }: IncomingMessage['socket']): string {
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}
