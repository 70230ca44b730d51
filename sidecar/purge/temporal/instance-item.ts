import type { BrokerProblem } from '../broker/broker-problem.js';
import { ownType } from '../../ngsi-ld/problem.js';
import type { DeleteResult } from '../broker/batch-reply.js';
import type { PurgeScope } from '../run/context.js';
import { NO_DATASET } from '../attributes/datasets.js';
import { deleteItem, type ItemDelete } from '../attributes/item-delete.js';
import { attributePath } from '../proof/resource-path.js';
import type { Item } from '../ledger/item-ledger.js';
import type { AttributeInstance } from './instances.js';
import type { TimeFilter } from './time-filter.js';

/** An instance as an item of a purge. */
export function toItem(
  entityId: string,
  attribute: string,
  { instanceId, digest, datasetId, time, createdAt }: AttributeInstance,
  { property }: TimeFilter,
): Item {
  const times = {
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(time === undefined ? {} : { [property]: time }),
  };
  return {
    entityId,
    attribute,
    ...(instanceId === undefined ? {} : { instanceId }),
    ...(digest === undefined ? {} : { digest }),
    ...(datasetId === NO_DATASET ? {} : { datasetId }),
    ...(Object.keys(times).length === 0 ? {} : { time: times }),
  };
}

/** For an attribute with remaining instances that the query may include but does not show. */
export const OUT_OF_SIGHT: BrokerProblem = {
  type: ownType('instances-out-of-sight'),
  status: 501,
  title: 'Instances out of sight',
  detail:
    'The broker shows only some of the instances in the interval, and it is unclear whether the query matches the others. Purge them by id and time.',
};

/**
 * Deletes one instance (clause 6.22.3.2). Refuses, without a request, an instance that has no instanceId or no time.
 *
 * @throws BrokerRefusedError when the broker has no such operation
 */
export async function removeInstance(
  scope: Pick<PurgeScope, 'requester' | 'ledger'>,
  item: Item,
  { property }: TimeFilter,
  timing: Pick<ItemDelete, 'isStale' | 'onSend'>,
): Promise<DeleteResult> {
  const { entityId, attribute, instanceId, time } = item;
  if (instanceId === undefined) {
    return refused(
      ownType('instance-without-id'),
      'Instance without instanceId',
      'The broker shows no instanceId, so this instance cannot be deleted alone; a wider delete would remove others too.',
    );
  }
  if (time?.[property] === undefined) {
    return refused(
      ownType('instance-without-time'),
      `Instance without ${property}`,
      `The broker shows the instance without ${property}, so it may lie outside the interval.`,
    );
  }
  return deleteItem(scope, item, {
    path: attributePath('/temporal/entities', entityId, attribute ?? '', instanceId),
    operation: 'delete an attribute instance',
    ...timing,
  });
}

function refused(type: string, title: string, detail: string): DeleteResult {
  return { kind: 'refused', problem: { type, status: 501, title, detail } };
}
