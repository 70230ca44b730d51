import type { IncomingMessage } from 'node:http';
import { refused } from '../errors.js';

/** The URL under which the client of a request reaches this service, without a trailing slash. */
export type BaseUrlOf = (request: IncomingMessage) => string;

/** Host and port of a URL (RFC 3986 § 3.2.2), with the characters of host names on networks only. */
const AUTHORITY = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Finds the base of links: the configured URL, else that of the request's `Host`. `X-Forwarded-*` fields do not count:
 * any client can send them, and caches that ignore these fields would keep the links.
 *
 * @returns a function that throws RequestRefusedError (400) for a `Host` that is not a host name
 */
export function createBaseUrl(publicUrl: URL | undefined): BaseUrlOf {
  if (publicUrl !== undefined) {
    const base = publicUrl.href.replace(/\/+$/, '');
    return () => base;
  }
  // Nearly all requests have the same Host.
  let lastHost: string | undefined;
  return ({ headers: { host }, socket }) => {
    // HTTP/1.0 allows requests without a Host.
    if (host === undefined || host === '') return `http://${ownAuthority(socket)}`;
    if (host !== lastHost && (!AUTHORITY.test(host) || !URL.canParse(`http://${host}`)))
      throw refused(
        'invalidRequest',
        'The header Host must be a host name or an IP address, with or without a port.',
      );
    lastHost = host;
    return `http://${host}`;
  };
}

function ownAuthority({ localAddress = '127.0.0.1', localPort = 80 }: IncomingMessage['socket']): string {
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}
