import { isSingleResourceDeletePath } from '../ngsi-ld/request-path.js';

const PLAIN = /^[A-Za-z][A-Za-z0-9_:-]*$/;

/**
 * The path of one entity, or of one attribute of it, below the API root, percent-encoded (RFC 3986 § 2.1).
 *
 * @returns undefined when a server could decode it to anything but that one resource (an id like `urn:x/..` may be
 *   resolved to the collection), or when it cannot be encoded at all
 */
export function resourcePath(entityId: string, attribute?: string): string | undefined {
  // Most ids are URNs of plain characters, in which no server finds anything to decode.
  if (PLAIN.test(entityId) && attribute === undefined) return `/entities/${encodeURIComponent(entityId)}`;
  let path: string;
  try {
    path = `/entities/${encodeURIComponent(entityId)}`;
    if (attribute !== undefined) path += `/attrs/${encodeURIComponent(attribute)}`;
  } catch {
    // Half a surrogate pair has no UTF-8 form.
    return undefined;
  }
  return isSingleResourceDeletePath(`/ngsi-ld/v1${path}`) ? path : undefined;
}
