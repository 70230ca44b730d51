import { parseJsonObject } from '../broker/broker-problem.js';
import { ReplyTooLargeError } from '../broker/errors.js';
import type { BrokerReply } from '../broker/failure.js';
import { ownType } from '../../ngsi-ld/problem.js';
import type { DeleteResult } from '../broker/batch-reply.js';
import { BrokerReplyError } from '../errors.js';
import { problemOfFailure } from '../ledger/item-problem.js';
import type { ListedResource } from '../listing/listed-resource.js';
import type { Requester, Settled } from '../requests/requester.js';
import { entityPath } from './resource-path.js';

/** The path by which an entity may be deleted, or the result if no path is safe. */
export type SafePath = { readonly path: string } | { readonly doubt: DeleteResult };

/** Finds the path of an entity and proves that the broker reads it as that entity. */
export interface EntityPaths {
  /**
   * Some servers decode a path before they split it, or truncate it at a `;`, so an id with such characters may address
   * another entity. Its path is safe only once the broker has answered a GET of it with that very id.
   */
  safePathOf(id: string): Promise<SafePath>;
}

/** Ids remembered as proven; others are proven again for their final retry. */
const MAX_PROVEN = 10_000;

/** Statuses of an answer with an entity; 206 if instances are missing (clause 6.3.10). */
const SHOWN: ReadonlySet<number> = new Set([200, 203, 206]);

export function createEntityPaths(requester: Requester, collection: ListedResource['path']): EntityPaths {
  const proven = new Set<string>();

  async function prove(id: string, path: string): Promise<SafePath> {
    let settled: Settled;
    try {
      // The very target of the DELETE: with a query, it might be read in another way.
      const request = { method: 'GET', path, operation: 'show an entity', item: id } as const;
      settled = await requester.send(request, { allow403: true });
    } catch (error) {
      if (!(error instanceof ReplyTooLargeError || error instanceof BrokerReplyError)) throw error;
      return {
        doubt: noSafePath(
          `the answer to a GET of its path cannot be used: ${error.message.replace(/\.$/, '')}`,
        ),
      };
    }
    if (settled.kind === 'gave-up')
      return { doubt: { kind: 'retryable', problem: problemOfFailure(settled.failure) } };
    const { reply } = settled;
    const shown = SHOWN.has(reply.status) ? idOf(reply) : undefined;
    if (shown !== id) return { doubt: noSafePath(describe(reply, shown)) };
    if (proven.size < MAX_PROVEN) proven.add(id);
    return { path };
  }

  return {
    async safePathOf(id) {
      const found = entityPath(collection, id);
      if (found === undefined)
        return { doubt: noSafePath('its path, once decoded, leads to something else') };
      const { path, needsProof } = found;
      return !needsProof || proven.has(id) ? { path } : prove(id, path);
    },
  };
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

/** The result for an item that no request is sure to address. @param why completes "…, because …" */
export function noSafePath(why: string): DeleteResult {
  return {
    kind: 'refused',
    problem: {
      type: ownType('no-safe-path'),
      status: 501,
      title: 'No safe path',
      detail: `No path is sure to lead to it, because ${why}. Nothing was sent, to avoid deleting something else.`,
    },
  };
}
