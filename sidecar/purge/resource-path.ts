import { isSingleResourceDeletePath } from '../ngsi-ld/request-path.js';
import type { ListedResource } from './listed-resource.js';

const PLAIN = /^[A-Za-z][A-Za-z0-9_:-]*$/;

/**
 * The path of one entity, of one attribute of it, or of one attribute instance, below the API root, percent-encoded
 * (RFC 3986 § 2.1).
 *
 * @returns undefined when a server could decode it to anything but that one resource (an id like `urn:x/..` may be
 *   resolved to the collection), or when it cannot be encoded at all
 */
export function resourcePath(
  collection: ListedResource['path'],
  entityId: string,
  attribute?: string,
  instanceId?: string,
): string | undefined {
  const names = [entityId, attribute, instanceId].filter((name) => name !== undefined);
  let encoded: readonly string[];
  try {
    encoded = names.map(encodeURIComponent);
  } catch {
    // Half a surrogate pair has no UTF-8 form.
    return undefined;
  }
  const [entity = '', ...within] = encoded;
  const path = [`${collection}/${entity}`, ...(within.length === 0 ? [] : ['attrs', ...within])].join('/');
  // Most are made of plain characters, in which no server finds anything to decode.
  if (names.every((name) => PLAIN.test(name))) return path;
  // Decoded too early, it would be the path of an attribute.
  if (/\/attrs(?:\/|$)/.test(entityId)) return undefined;
  return isSingleResourceDeletePath(`/ngsi-ld/v1${path}`) ? path : undefined;
}
