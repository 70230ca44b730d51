import { parseBrokerProblem } from '../broker/broker-problem.js';
import type { ItemVerdict } from './batch-reply.js';
import { BrokerRefusedError } from './errors.js';
import { problemOfFailure } from './item-problem.js';
import { noSafePath } from './path-proof.js';
import type { Requester } from './requester.js';
import { keyOf, type Item } from './tally.js';

/** The request that deletes an item within an entity. */
export interface ItemDelete {
  /** Undefined where no path is sure to mean the item. */
  readonly path: string | undefined;
  /** Completes "The broker did not …", e.g. "delete an attribute". */
  readonly operation: string;
}

/** What became of an item, and whether the broker said that there is no such thing. */
export interface ItemTried {
  readonly verdict: ItemVerdict;
  readonly wasMissing: boolean;
}

/**
 * Deletes an attribute, a dataset of it or an instance (clauses 5.6.5, 5.6.13 and 5.6.15). 404 counts as claimed gone,
 * since a lost answer or another client may have come before.
 *
 * @throws BrokerRefusedError when the broker has no such operation
 */
export async function deleteItem(
  requester: Requester,
  item: Item,
  request: ItemDelete,
): Promise<ItemVerdict> {
  return (await tryDelete(requester, item, request)).verdict;
}

/** The same, for those to whom a 404 says more. @throws BrokerRefusedError when the broker has no such operation */
export async function tryDelete(
  requester: Requester,
  item: Item,
  { path, operation }: ItemDelete,
): Promise<ItemTried> {
  const tried = (verdict: ItemVerdict): ItemTried => ({ verdict, wasMissing: false });
  if (path === undefined) return tried(NOT_ADDRESSABLE);
  const settled = await requester.send({ method: 'DELETE', path, operation, item: keyOf(item) });
  if (settled.kind === 'gave-up')
    return tried({ kind: 'retryable', problem: problemOfFailure(settled.failure) });
  const { reply } = settled;
  if (reply.status === 404) return { verdict: { kind: 'claimed-gone' }, wasMissing: true };
  if (reply.status < 300 && reply.status !== 207) return tried({ kind: 'claimed-gone' });
  const problem = parseBrokerProblem(reply);
  if (reply.status === 405 || reply.status === 501) throw new BrokerRefusedError(operation, problem);
  return tried({ kind: reply.status === 207 ? 'unclear' : 'refused', problem });
}

const NOT_ADDRESSABLE = noSafePath(
  'its id or name, or that of its entity, has a character that some servers take for a part of the path or the query',
);
