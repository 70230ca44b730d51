import { ownAttributesOf } from '../ngsi-ld/entity-members.js';
import type { PurgeContext } from './context.js';
import type { ListedPage } from './listing.js';
import type { AttributeRemoval } from './query.js';
import { refusedData } from './selection.js';

/**
 * Checks that some match has an attribute that `keep` names. Where none has, every attribute would go, and the name is
 * misspelled more often than not.
 *
 * @param first the first page of matches, with their attributes
 * @throws QueryRefusedError
 */
export async function checkKept(
  { selection, lister }: PurgeContext,
  { kind, names }: AttributeRemoval,
  first: ListedPage,
): Promise<void> {
  if (kind === 'drop' || first.ids.length === 0) return;
  if (first.entities.some((entity) => names.some((name) => Object.hasOwn(entity, name)))) return;
  const attrs = { name: 'attrs', value: names.join(',') };
  const { entities } = await lister.page({ selection: [...selection, attrs], limit: 1 });
  if (entities.some((entity) => ownAttributesOf(entity).length > 0)) return;
  const shown = names.slice(0, 5).join(', ');
  throw refusedData(
    'keep',
    `No match has an attribute that is to be kept (${shown}), so that every attribute would go: check the spelling and the @context, or delete the entities themselves.`,
  );
}
