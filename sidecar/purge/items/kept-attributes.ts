import { ownAttributesOf } from '../../ngsi-ld/entity-members.js';
import { countMatches } from '../bound.js';
import type { PurgeContext } from '../context.js';
import { firstPage } from '../entity-purge.js';
import { entities } from '../listing/listed-resource.js';
import type { ListedPage } from '../listing/listing.js';
import type { AttributeRemoval } from '../query/query.js';
import { refusedData } from '../query/selection.js';

/**
 * Checks that some match has an attribute that `keep` names. Where none has, every attribute would go, and the name is
 * misspelled more often than not.
 *
 * @param first the first page of matches, with their attributes
 * @throws QueryRefusedError
 */
export async function checkKept(
  context: PurgeContext,
  { kind, names }: AttributeRemoval,
  first: ListedPage,
): Promise<void> {
  if (kind === 'drop' || first.ids.length === 0) return;
  if (first.entities.some((entity) => names.some((name) => Object.hasOwn(entity, name)))) return;
  const attrs = { name: 'attrs', value: names.join(',') };
  const selection = [...context.selection, attrs];
  if (await showsAny(context.open({ resource: entities('attributes'), selection }))) return;
  const shown = names.slice(0, 5).join(', ');
  throw refusedData(
    'keep',
    `No match has an attribute that is to be kept (${shown}), so that every attribute would go: check the spelling and the @context, or delete the entities themselves.`,
  );
}

async function showsAny(context: PurgeContext): Promise<boolean> {
  const page = await firstPage(context, { limit: 1 });
  if (page.entities.some((entity) => ownAttributesOf(entity).length > 0)) return true;
  if (context.paging.stride === undefined) return false;
  return (await countMatches(context, page, () => false)).listed > 0;
}
