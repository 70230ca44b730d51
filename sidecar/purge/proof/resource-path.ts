import { isSingleResourceDeletePath } from '../../ngsi-ld/request-path.js';
import { readingsOf } from '../../ngsi-ld/request-path-readings.js';
import type { ListedResource } from '../listing/listed-resource.js';

/** The path of one entity below the API root. */
export interface EntityPath {
  /** Percent-encoded (RFC 3986 § 2.1). */
  readonly path: string;
  /** A server could read it as the path of another entity, so the broker must prove that it does not. */
  readonly needsProof: boolean;
}

/**
 * Unreserved characters (RFC 3986 § 2.3) and the colon, without a trailing dot: nothing that a server could decode, split,
 * truncate, trim or fold.
 */
const PLAIN_ID = /^[A-Za-z0-9](?:[A-Za-z0-9_.:~-]*[A-Za-z0-9_:~-])?$/;

/**
 * Letters, and the characters of a path segment (RFC 3986 § 3.3) except those that some servers interpret: `%`, `;`, `,` (a
 * list), `+` (a space), `*`, and a trailing dot.
 */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}_.~:@!$&'()=-]*[\p{L}\p{M}\p{N}_~:@!$&'()=-]$/u;

/**
 * The path of one entity.
 *
 * @returns undefined when a server could read it as a collection or as the path of an attribute (an id like `urn:x/..` or
 *   `urn:x/attrs/a`, decoded too early), or when the id cannot be encoded at all
 */
export function entityPath(collection: ListedResource['path'], id: string): EntityPath | undefined {
  const path = pathOf(collection, [id]);
  if (path === undefined) return undefined;
  if (PLAIN_ID.test(id)) return { path, needsProof: false };
  return leadsToAttribute(collection, path) ? undefined : { path, needsProof: true };
}

/**
 * The path of an attribute of an entity, or of one instance of it.
 *
 * @returns undefined when a name has a character that some servers interpret: something else might be deleted, and no
 *   request could rule that out
 */
export function attributePath(
  collection: ListedResource['path'],
  entityId: string,
  attribute: string,
  instanceId?: string,
): string | undefined {
  const names = [entityId, attribute, ...(instanceId === undefined ? [] : [instanceId])];
  // Some servers fold full-width and other compatibility characters.
  const isPlain = names.every((name) => PLAIN_NAME.test(name) && name === name.normalize('NFKC'));
  return isPlain ? pathOf(collection, names) : undefined;
}

/** Undefined when a server could read the path as a collection, or it cannot be encoded. */
function pathOf(collection: ListedResource['path'], names: readonly string[]): string | undefined {
  let encoded: readonly string[];
  try {
    encoded = names.map(encodeURIComponent);
  } catch {
    // Half a surrogate pair has no UTF-8 form.
    return undefined;
  }
  const [entity = '', ...within] = encoded;
  const path = [`${collection}/${entity}`, ...(within.length === 0 ? [] : ['attrs', ...within])].join('/');
  // A shortcut for most names.
  const isPlain = names.every((name) => PLAIN_ID.test(name));
  return isPlain || isSingleResourceDeletePath(`/ngsi-ld/v1${path}`) ? path : undefined;
}

function leadsToAttribute(collection: ListedResource['path'], path: string): boolean {
  const inEntity = collection.split('/').length;
  return readingsOf(path).some(({ segments }) => segments.slice(inEntity).includes('attrs'));
}
