import { isSingleResourceDeletePath } from '../../ngsi-ld/request-path.js';
import { interpretPath } from '../../ngsi-ld/path-interpretations.js';
import type { ListedResource } from '../listing/index.js';
import { parseJsonObject, type DeleteResult, ReplyTooLargeError, type BrokerReply } from '../broker/index.js';
import { problemTypeUri } from '../../shared/problem.js';
import { BrokerReplyError } from '../errors.js';
import { problemOfFailure } from '../ledger/index.js';
import type { Requester, RequestResult } from '../requests/index.js';

/** The path of one entity below the API root. */
export interface EntityPath {
  /** Percent-encoded (RFC 3986 § 2.1). */
  readonly path: string;
  /** Whether a server could read it as the path of another entity, so that the broker must prove that it does not. */
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
 * Returns the path of one entity.
 *
 * @returns undefined if a server could read it as a collection or as the path of an attribute (an id like `urn:x/..` or
 *   `urn:x/attrs/a`, decoded too early), or if the id cannot be encoded at all
 */
export function entityPath(collection: ListedResource['path'], id: string): EntityPath | undefined {
  const path = pathOf(collection, [id]);
  if (path === undefined) return undefined;
  if (PLAIN_ID.test(id)) return { path, needsProof: false };
  return leadsToAttribute(collection, path) ? undefined : { path, needsProof: true };
}

/**
 * Returns the path of an attribute of an entity, or of one instance of it.
 *
 * @returns undefined if a name has a character that some servers interpret: something else might be deleted, and no request
 *   could rule that out
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

/** Builds a path; undefined if a server could read it as a collection, or if it cannot be encoded. */
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
  return interpretPath(path).some(({ segments }) => segments.slice(inEntity).includes('attrs'));
}

/** The path by which an entity may be deleted, or the result if no path is safe. */
export type SafePath = { readonly path: string } | { readonly doubt: DeleteResult };

/** Maximum number of ids remembered as proven; others are proven again when they are retried. */
const MAX_PROVEN = 10_000;

/** Statuses of an answer with an entity; 206 if instances are missing (clause 6.3.10). */
const SHOWN: ReadonlySet<number> = new Set([200, 203, 206]);

/**
 * Finds the path of an entity, and proves that the broker reads it as that entity. Some servers decode a path before they split
 * it, or truncate it at a `;`, so an id with such characters may address another entity. A path that needs proof is safe only
 * if the broker has answered a GET of it with that very id.
 *
 * @param proven ids whose paths were proven before; this one is added
 */
export async function safePathOf(
  { requester, resource }: { readonly requester: Requester; readonly resource: Pick<ListedResource, 'path'> },
  id: string,
  proven: Set<string>,
): Promise<SafePath> {
  const found = entityPath(resource.path, id);
  if (found === undefined) return { doubt: noSafePath('its path, once decoded, leads to something else') };
  const { path, needsProof } = found;
  if (!needsProof || proven.has(id)) return { path };
  let settled: RequestResult;
  try {
    // Exactly the target of the DELETE; with a query string, it might be read in another way.
    const request = { method: 'GET', path, operation: 'show an entity', item: id, accepts403: true } as const;
    settled = await requester.send(request);
  } catch (error) {
    if (!(error instanceof ReplyTooLargeError || error instanceof BrokerReplyError)) throw error;
    const why = error.message.replace(/\.$/, '');
    return { doubt: noSafePath(`the answer to a GET of its path cannot be used: ${why}`) };
  }
  if (settled.kind === 'gave-up')
    return { doubt: { kind: 'retryable', problem: problemOfFailure(settled.failure) } };
  const { reply } = settled;
  const shown = SHOWN.has(reply.status) ? idOf(reply) : undefined;
  if (shown !== id) return { doubt: noSafePath(describe(reply, shown)) };
  if (proven.size < MAX_PROVEN) proven.add(id);
  return { path };
}

function idOf(reply: BrokerReply): string | undefined {
  const body = parseJsonObject(reply.body);
  const id = body?.['id'] ?? body?.['@id'];
  return typeof id === 'string' ? id : undefined;
}

function describe({ status }: BrokerReply, shown: string | undefined): string {
  if (shown !== undefined) return `the broker answers a GET of its path with ${shown.slice(0, 200)}`;
  return SHOWN.has(status)
    ? 'the broker answers a GET of its path with something other than an entity'
    : `the broker answers a GET of its path with status ${status}`;
}

/** Returns the result for an item that no request is sure to address. @param why completes "…, because …" */
export function noSafePath(why: string): DeleteResult {
  return {
    kind: 'refused',
    problem: {
      type: problemTypeUri('no-safe-path'),
      status: 501,
      title: 'No safe path',
      detail: `No path is certain to lead to it, because ${why}. Nothing was sent, to avoid deleting something else.`,
    },
  };
}
