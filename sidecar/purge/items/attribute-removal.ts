import { attributesToRemove, checkNames } from './attribute-items.js';
import type { PurgeContext } from '../context.js';
import { datasetsOf } from './datasets.js';
import type { Preview } from '../dry-run.js';
import { TooManyMatchesError } from '../errors.js';
import { IdLedger } from '../id-ledger.js';
import { removeItems } from './item-removal.js';
import { countItems, type ItemKind } from './item-walk.js';
import type { AttributeRemoval } from '../query/query.js';
import { deleteWholeAttribute } from './whole-attribute.js';

const SAMPLE_MAX = 100;

/** Counts the attributes that a removal would reach; `sample` names their entities. */
export async function previewAttributes(context: PurgeContext, removal: AttributeRemoval): Promise<Preview> {
  await checkNames(context, removal);
  const sample = new Set<string>();
  const kind = attributeKind(context, removal);
  const seen = new IdLedger();
  await countItems(context, kind, seen, (items) => {
    for (const { entityId } of items) if (sample.size < SAMPLE_MAX) sample.add(entityId);
  });
  return { matched: seen.size, sample: [...sample] };
}

/**
 * Removes attributes from every match, all their instances (clause 5.6.5).
 *
 * @param total matches that the broker counted before, where it did
 * @returns attributes of matches that arrived meanwhile and were left
 * @throws TooManyMatchesError before the first removal when more attributes would go than may be affected
 * @throws BrokerReplyError when the broker counts matches that it does not list
 */
export async function removeAttributes(
  context: PurgeContext,
  removal: AttributeRemoval,
  total: number | undefined,
): Promise<number> {
  const { maxAffected } = context.limits;
  await checkNames(context, removal);
  const kind = attributeKind(context, removal);
  if (maxAffected !== undefined) {
    await countItems(context, kind, new IdLedger(), (_items, counted) => {
      if (counted > maxAffected) throw new TooManyMatchesError(counted, maxAffected, false);
    });
  }
  return removeItems(context, kind, total);
}

/** Attributes of entities, each with all its instances (clause 6.7.3.2). */
function attributeKind(context: PurgeContext, removal: AttributeRemoval): ItemKind {
  return {
    *read(page, indexes) {
      const items = indexes.flatMap((index) => {
        const entityId = page.ids[index] ?? '';
        const entity = page.entities[index] ?? {};
        return attributesToRemove(entity, removal).map((attribute) => ({
          entityId,
          attribute,
          datasets: datasetsOf(entity[attribute]),
        }));
      });
      yield { items };
    },
    remove: async (item) =>
      deleteWholeAttribute(context, item, { collection: '/entities', operation: 'delete an attribute' }),
    stillThere: {
      status: 409,
      title: 'Attribute still listed',
      detail: 'The broker answered two deletes as done, and still shows the attribute.',
    },
  };
}
