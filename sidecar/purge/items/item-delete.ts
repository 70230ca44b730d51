import { parseBrokerProblem } from '../broker/broker-problem.js';
import type { ItemVerdict } from '../batch-reply.js';
import type { PurgeScope } from '../context.js';
import { BrokerRefusedError } from '../errors.js';
import { problemOfFailure } from './item-problem.js';
import { noSafePath } from '../proof/path-proof.js';
import { keyOf, type Item } from '../tally.js';

/** The request that deletes an item within an entity. */
export interface ItemDelete {
  /** Undefined where no path is sure to mean the item. */
  readonly path: string | undefined;
  /** Completes "The broker did not …", e.g. "delete an attribute". */
  readonly operation: string;
}

/**
 * Deletes an attribute, a dataset of it or an instance (clauses 5.6.5, 5.6.13 and 5.6.15). 404 is no failure: a delete
 * whose answer was lost, or another client, may have come before.
 *
 * @throws BrokerRefusedError when the broker has no such operation
 */
export async function deleteItem(
  { requester, tally }: Pick<PurgeScope, 'requester' | 'tally'>,
  item: Item,
  { path, operation }: ItemDelete,
): Promise<ItemVerdict> {
  if (path === undefined) return NOT_ADDRESSABLE;
  const onUnclear = () => tally.noteUnclear(item);
  const settled = await requester.send({
    ...{ method: 'DELETE', path, operation, item: keyOf(item), deletes: 1 },
    onUnclear,
  });
  if (settled.kind === 'gave-up') return { kind: 'retryable', problem: problemOfFailure(settled.failure) };
  const { reply } = settled;
  if (reply.status === 404) return { kind: 'absent' };
  if (reply.status < 300 && reply.status !== 207) return { kind: 'claimed-gone' };
  const problem = parseBrokerProblem(reply);
  if (reply.status === 405 || reply.status === 501) throw new BrokerRefusedError(operation, problem);
  if (reply.status !== 207) return { kind: 'refused', problem };
  onUnclear();
  return { kind: 'unclear', problem };
}

const NOT_ADDRESSABLE = noSafePath(
  'its id or name, or that of its entity, has a character that some servers take for a part of the path or the query',
);
