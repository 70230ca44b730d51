import type { ItemVerdict } from '../batch-reply.js';
import type { PurgeScope } from '../context.js';
import { datasetParameter, NO_DATASET } from './datasets.js';
import { deleteItem } from './item-delete.js';
import type { ListedResource } from '../listing/listed-resource.js';
import { attributePath } from '../proof/resource-path.js';
import type { Item } from '../tally.js';

/** What of the broker is needed to delete an attribute. */
export interface AttributeDelete {
  readonly collection: ListedResource['path'];
  /** Completes "The broker did not …". */
  readonly operation: string;
}

/**
 * Deletes an attribute with all its instances (clauses 5.6.5 and 5.6.13), which is what deleteAll=true is for.
 *
 * Some brokers know deleteAll for attributes with datasets only, and answer 404 for all others (seen: Orion-LD): then the
 * default instance, which is all that those have, goes without the parameter. That is learnt once.
 *
 * @param item with the datasets that the broker showed of the attribute
 * @throws BrokerRefusedError when the broker has no such operation
 */
export async function deleteWholeAttribute(
  scope: Pick<PurgeScope, 'requester' | 'capabilities' | 'tally'>,
  item: Item,
  { collection, operation }: AttributeDelete,
): Promise<ItemVerdict> {
  const { capabilities } = scope;
  const { entityId, attribute = '', datasets = [] } = item;
  const path = attributePath(collection, entityId, attribute);
  const send = async (query: string | undefined): Promise<ItemVerdict> =>
    deleteItem(scope, item, {
      path: path === undefined || query === undefined ? undefined : path + query,
      operation,
    });
  const hasDatasets = datasets.some((datasetId) => datasetId !== NO_DATASET);
  if (!hasDatasets && capabilities.deleteAllNeedsDatasets) return send('');

  const whole = await send('?deleteAll=true');
  if (whole.kind !== 'absent') return whole;
  if (!hasDatasets) {
    const single = await send('');
    // It was there, and deleteAll did not find it.
    if (single.kind === 'claimed-gone') capabilities.deleteAllNeedsDatasets = true;
    return single;
  }
  // Gone already, or a broker that knows the parameter even less: dataset by dataset, both come to the same.
  const verdicts: ItemVerdict[] = [];
  for (const datasetId of datasets) verdicts.push(await send(datasetParameter(datasetId)));
  const isGone = ({ kind }: ItemVerdict) => kind === 'claimed-gone' || kind === 'absent';
  return (
    verdicts.find((verdict) => !isGone(verdict)) ??
    verdicts.find(({ kind }) => kind === 'claimed-gone') ??
    whole
  );
}
