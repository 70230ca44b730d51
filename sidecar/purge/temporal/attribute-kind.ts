import { entitiesIn } from '../listing/index.js';
import type { PurgeScope } from '../run/index.js';
import { datasetParameter, deleteItem, deleteWholeAttribute } from '../attributes/index.js';
import type { ItemKind } from '../deleting/index.js';
import { attributePath } from '../proof/index.js';
import type { Item } from '../ledger/index.js';
import { type InstanceGuard, instanceListsOf } from './instances.js';

/** Entities per page when all their instances are shown. */
const BARE_LIMIT = 10;

/**
 * Returns the kind of items for attributes of temporal evolutions, with all their instances or with one dataset (clause
 * 5.6.13).
 *
 * @param datasetId the dataset to delete, `@none` for instances without one; undefined for all instances
 */
export function temporalAttributeKind(
  scope: PurgeScope,
  guard: InstanceGuard,
  datasetId: string | undefined,
): ItemKind {
  // With lastN=1, some brokers pick the newest instance before they filter by dataset.
  let isBare = false;
  const what = datasetId === undefined ? 'Attribute' : 'Dataset';
  return {
    *read(page, indexes) {
      const items: Item[] = [];
      for (const index of indexes) {
        const entityId = page.ids[index] ?? '';
        for (const { attribute, instances } of instanceListsOf(entitiesIn(page)[index] ?? {}, 'observedAt')) {
          guard.checkAttribute(entityId, attribute);
          for (const instance of instances) guard.checkInstance(entityId, attribute, instance);
          if (instances.length === 0) continue;
          const datasets = [...new Set(instances.map((instance) => instance.datasetId))];
          const [createdAt] = instances.flatMap((instance) => instance.createdAt ?? []).sort();
          items.push({
            entityId,
            attribute,
            ...(datasetId === undefined ? { datasets } : { datasetId }),
            ...(createdAt === undefined ? {} : { time: { createdAt } }),
          });
        }
      }
      yield { items };
    },
    shape: () => (isBare ? { isBare, limit: BARE_LIMIT } : {}),
    beginSecondWalk() {
      const isDue = datasetId !== undefined && !isBare;
      isBare = isDue;
      return isDue;
    },
    mayComeBack: true,
    remove: async (item, isStale, onSend) =>
      datasetId === undefined
        ? deleteWholeAttribute(scope, item, {
            collection: '/temporal/entities',
            operation: 'delete an attribute of a temporal entity',
            isStale,
            onSend,
          })
        : deleteItem(scope, item, {
            path: datasetPath(item, datasetId),
            operation: 'delete a dataset of an attribute',
            isStale,
            onSend,
          }),
    stillThere: {
      status: 409,
      title: `${what} still listed`,
      detail: `The broker answered that the ${what.toLowerCase()} is gone, but still shows it.`,
    },
  };
}

function datasetPath({ entityId, attribute = '' }: Item, datasetId: string): string | undefined {
  const path = attributePath('/temporal/entities', entityId, attribute);
  const query = datasetParameter(datasetId);
  return path === undefined || query === undefined ? undefined : path + query;
}
