import { parseBrokerProblem } from '../broker/broker-problem.js';
import { failureIn, type DeleteResult } from '../broker/batch-reply.js';
import type { PurgeScope } from '../run/context.js';
import { BrokerRefusedError } from '../errors.js';
import { givenUp } from '../deleting/given-up.js';
import { noSafePath } from '../proof/path-proof.js';
import { keyOf, type Item } from '../ledger/item-ledger.js';
import { datasetParameter, NO_DATASET } from './datasets.js';
import type { ListedResource } from '../listing/listed-resource.js';
import { ListedTooLongAgo } from '../requests/one-try.js';
import type { Settled } from '../requests/requester.js';
import { attributePath } from '../proof/resource-path.js';

/** The request that deletes an item within an entity. */
export interface ItemDelete {
  /** Undefined if no path is sure to mean the item. */
  readonly path: string | undefined;
  /** Completes "The broker did not …", e.g. "delete an attribute". */
  readonly operation: string;
  /** Whether it was listed too long ago. */
  readonly isStale: () => boolean;
  /** Called right before it is first sent. */
  readonly onSend?: (() => void) | undefined;
}

/**
 * Deletes an attribute, a dataset of it or an instance (clauses 5.6.5, 5.6.13 and 5.6.15). 404 is not a
 * failure: another client, or a delete whose answer was lost, may have come first.
 *
 * @throws BrokerRefusedError when the broker has no such operation
 */
export async function deleteItem(
  { requester, ledger }: Pick<PurgeScope, 'requester' | 'ledger'>,
  item: Item,
  { path, operation, isStale, onSend }: ItemDelete,
): Promise<DeleteResult> {
  if (path === undefined) return NOT_ADDRESSABLE;
  const onUnclear = () => ledger.markUnclear(item);
  let settled: Settled;
  try {
    settled = await requester.send({
      ...{ method: 'DELETE', path, operation, item: keyOf(item), deletes: 1 },
      isPart: true,
      isStale,
      onSend: () => {
        ledger.addOnce(item);
        onSend?.();
      },
      onUnclear,
    });
  } catch (error) {
    if (error instanceof ListedTooLongAgo) return { kind: 'unsent' };
    throw error;
  }
  if (settled.kind === 'gave-up') return givenUp(settled);
  const { reply } = settled;
  if (reply.status === 404) return { kind: 'absent' };
  if (reply.status < 300 && reply.status !== 207) return { kind: 'deleted' };
  const problem = parseBrokerProblem(reply);
  if (reply.status === 405 || reply.status === 501) throw new BrokerRefusedError(operation, problem);
  if (reply.status !== 207) return { kind: 'refused', problem };
  onUnclear();
  const failure = failureIn(reply);
  return failure === undefined || failure.kind === 'deleted' ? { kind: 'unclear', problem } : failure;
}

const NOT_ADDRESSABLE = noSafePath(
  'its id or name, or the id of its entity, contains a character that some servers treat as part of the path or query',
);

/** Where an attribute is deleted, and how to name the operation. */
export interface AttributeDelete {
  readonly collection: ListedResource['path'];
  /** Completes "The broker did not …". */
  readonly operation: string;
  /** Whether it was listed too long ago. */
  readonly isStale: () => boolean;
  /** Called right before it is first sent. */
  readonly onSend?: (() => void) | undefined;
}

/**
 * Deletes an attribute with all its instances (clauses 5.6.5 and 5.6.13), by deleteAll=true.
 *
 * Some brokers support deleteAll only for attributes with datasets, and answer 404 for all others (Orion-LD): then the
 * only instance is deleted without the parameter. This is learnt once.
 *
 * @param item with the datasets that the broker showed of the attribute
 * @throws BrokerRefusedError when the broker has no such operation
 */
export async function deleteWholeAttribute(
  scope: Pick<PurgeScope, 'requester' | 'capabilities' | 'ledger'>,
  item: Item,
  { collection, operation, isStale, onSend }: AttributeDelete,
): Promise<DeleteResult> {
  const { capabilities } = scope;
  const { entityId, attribute = '', datasets = [] } = item;
  const path = attributePath(collection, entityId, attribute);
  let hasBegun = false;
  const send = async (query: string | undefined): Promise<DeleteResult> => {
    const verdict = await deleteItem(scope, item, {
      path: path === undefined || query === undefined ? undefined : path + query,
      operation,
      // What is begun is finished: the rest of an attribute may not be listed again.
      isStale: () => !hasBegun && isStale(),
      onSend,
    });
    hasBegun = true;
    return verdict;
  };
  const hasDatasets = datasets.some((datasetId) => datasetId !== NO_DATASET);
  if (!hasDatasets && capabilities.deleteAllNeedsDatasets) return send('');

  const whole = await send('?deleteAll=true');
  if (whole.kind !== 'absent') return whole;
  if (!hasDatasets) {
    const single = await send('');
    // The attribute existed, and deleteAll did not find it.
    if (single.kind === 'deleted') capabilities.deleteAllNeedsDatasets = true;
    return single;
  }
  // Already gone, or deleteAll is not supported: deleting each dataset covers both.
  const verdicts: DeleteResult[] = [];
  for (const datasetId of datasets) verdicts.push(await send(datasetParameter(datasetId)));
  const isGone = ({ kind }: DeleteResult) => kind === 'deleted' || kind === 'absent';
  return (
    verdicts.find((verdict) => !isGone(verdict)) ?? verdicts.find(({ kind }) => kind === 'deleted') ?? whole
  );
}
