import { originForm } from '../ngsi-ld/request-path.js';

/** Where requests are forwarded to. */
export interface BrokerBase {
  /** Scheme and authority, e.g. `http://orion:1026`. */
  readonly origin: string;
  /** Path prefix without a trailing slash; empty when there is none. */
  readonly prefix: string;
}

/**
 * Takes a broker's base URL apart.
 * @throws TypeError when it is not http(s) or has credentials, a query or a fragment, which could not be honoured
 */
export function brokerBase(url: URL): BrokerBase {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`The broker's URL must be http or https, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError("The broker's URL must not have credentials, a query or a fragment.");
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

/**
 * The request-target for the broker: its prefix, then path and query of the request byte for byte. A target in absolute
 * form loses scheme and authority, as a server must ignore them in favour of its own (RFC 9112 § 3.2.2).
 *
 * @returns undefined when the target cannot be sent on: another form, or a character that no request line may hold
 */
export function brokerTarget(base: BrokerBase, rawUrl: string): string | undefined {
  const target = originForm(rawUrl);
  return /^\/[\x21-\x7e\x80-\xff]*$/.test(target) ? base.prefix + target : undefined;
}
