import { itemTexts } from '../../archive/index.js';
import type { ArchivedPart } from '../archiving/index.js';
import type { JsonValue } from '../../shared/json/json.js';
import { type ListedPage, pagesUpTo } from '../listing/index.js';
import { keyOf } from '../ledger/index.js';
import type { PurgeContext } from '../run/index.js';
import { type ItemBatch, portionsOf, withIds } from './items.js';

/** Adds entities of a page to the archive of the purge, as a whole. Does nothing if there is no archive. */
export async function keepEntities(
  context: PurgeContext,
  page: ListedPage,
  ids: readonly string[],
): Promise<void> {
  const { archiving, selection } = context;
  if (archiving === undefined || ids.length === 0) return;
  const others = selection.filter(({ name }) => name !== 'attrs');
  // With `attrs`, the broker shows no other attributes, so the entities are queried again without it.
  if (others.length === selection.length) await keepShown(context, page, new Set(ids));
  else
    for (const items of portionsOf(ids.map((entityId) => ({ entityId })))) {
      const asked = new Set(items.map(({ entityId }) => entityId));
      for await (const shown of pagesUpTo(context.lister, withIds(others, asked), asked.size))
        await keepShown(context, shown, asked);
    }
}

async function keepShown(
  { archiving }: PurgeContext,
  { ids, body }: ListedPage,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const texts = itemTexts(body ?? '');
  if (texts.length !== ids.length) return;
  const kept = texts.map((text, index) => [ids[index] ?? '', text] as const);
  await archiving?.keepEntities(kept.filter(([id]) => wanted.has(id)));
}

/** Adds parts of entities to the archive of the purge. */
export async function keepParts(
  { archiving }: PurgeContext,
  { entities, ids }: Pick<ListedPage, 'entities' | 'ids'>,
  { items, contents = [] }: Pick<ItemBatch, 'items' | 'contents'>,
): Promise<void> {
  const types = new Map(entities.map((entity, index) => [ids[index], entity['type'] ?? entity['@type']]));
  const byEntity = new Map<string, ArchivedPart[]>();
  for (const [index, item] of items.entries()) {
    const { entityId, attribute = '' } = item;
    const content = contents[index];
    if (content === undefined) continue;
    const parts = byEntity.get(entityId) ?? [];
    parts.push({ entityId, attribute, content, key: keyOf(item) });
    byEntity.set(entityId, parts);
  }
  for (const [entityId, parts] of byEntity)
    await archiving?.keepParts(entityId, types.get(entityId) as JsonValue | undefined, parts);
}
