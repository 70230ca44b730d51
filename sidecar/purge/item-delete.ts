import { parseBrokerProblem } from '../broker/broker-problem.js';
import type { ItemVerdict } from './batch-reply.js';
import { BrokerRefusedError } from './errors.js';
import { problemOfFailure } from './item-problem.js';
import type { Requester } from './requester.js';
import { keyOf, type Item } from './tally.js';

/** The request that deletes an item within an entity. */
export interface ItemDelete {
  /** Undefined when the item's names could be read as another path. */
  readonly path: string | undefined;
  /** Completes "The broker did not …", e.g. "delete an attribute". */
  readonly operation: string;
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
  { path, operation }: ItemDelete,
): Promise<ItemVerdict> {
  if (path === undefined) return NOT_ADDRESSABLE;
  const settled = await requester.send({ method: 'DELETE', path, operation, item: keyOf(item) });
  if (settled.kind === 'gave-up') return { kind: 'retryable', problem: problemOfFailure(settled.failure) };
  const { reply } = settled;
  if (reply.status === 404 || (reply.status < 300 && reply.status !== 207)) return { kind: 'claimed-gone' };
  const problem = parseBrokerProblem(reply);
  if (reply.status === 405 || reply.status === 501) throw new BrokerRefusedError(operation, problem);
  return { kind: reply.status === 207 ? 'unclear' : 'refused', problem };
}

const NOT_ADDRESSABLE: ItemVerdict = {
  kind: 'refused',
  problem: {
    status: 400,
    title: 'Attribute not addressable',
    detail:
      'Decoded, the entity id, the attribute name or the instance id resolves to another path, so it is not sent in one.',
  },
};
