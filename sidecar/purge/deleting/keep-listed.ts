import { itemTexts } from '../../archive/index.js';
import { type ArchivedPart, NOT_UTF8 } from '../archiving/index.js';
import type { JsonValue } from '../../shared/json/json.js';
import { entitiesIn, type ListedPage, REPLACED } from '../listing/index.js';
import { keyOf } from '../ledger/index.js';
import type { PurgeContext } from '../run/index.js';
import { type ItemBatch, pagesById } from './items.js';

/** Adds entities of a page to the archive of the purge, as a whole. Does nothing if there is no archive. */
export async function keepEntities(
  context: PurgeContext,
  page: ListedPage,
  ids: readonly string[],
): Promise<void> {
  const { archiving, selection } = context;
  if (archiving === undefined || ids.length === 0) return;
  if (!selection.some(({ name }) => name === 'attrs')) {
    await keepShown(context, page, new Set(ids));
    return;
  }
  // With `attrs`, the broker shows no other attributes, so the entities are queried again without it.
  const others = selection.filter(({ name }) => !REPLACED_FILTERS.has(name));
  const types = new Map(entitiesIn(page).map((entity, index) => [page.ids[index], entity['type']]));
  const items = ids.map((entityId) => ({ entityId }));
  const wanted = new Set(ids);
  for await (const shown of pagesById(context.lister, items, ({ entityId }) => types.get(entityId), others))
    await keepShown(context, shown, wanted);
}

/** Filters that the ids and types of the listed entities replace. */
const REPLACED_FILTERS: ReadonlySet<string> = new Set(['attrs', 'type', 'id', 'idPattern']);

async function keepShown(
  { archiving }: PurgeContext,
  { ids, body, isDamaged }: ListedPage,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const shown = itemTexts(body ?? '').map((text, index) => [ids[index] ?? '', text] as const);
  const kept = shown.filter(([entityId, text]) => {
    if (!wanted.has(entityId)) return false;
    const isWhole = !isDamaged || !text.includes(REPLACED);
    if (!isWhole) archiving?.doubt(keyOf({ entityId }), NOT_UTF8);
    return isWhole;
  });
  await archiving?.keepEntities(kept);
}

/** Adds parts of entities to the archive of the purge. */
export async function keepParts(
  { archiving }: PurgeContext,
  page: Pick<ListedPage, 'entities' | 'ids' | 'isDamaged'>,
  { items, contents = [] }: Pick<ItemBatch, 'items' | 'contents'>,
): Promise<void> {
  const { ids, isDamaged } = page;
  const types = new Map(
    entitiesIn(page).map((entity, index) => [ids[index], entity['type'] ?? entity['@type']]),
  );
  const byEntity = new Map<string, ArchivedPart[]>();
  for (const [index, item] of items.entries()) {
    const { entityId, attribute = '' } = item;
    const content = contents[index];
    if (content === undefined) continue;
    if (isDamaged && JSON.stringify(content).includes(REPLACED)) {
      archiving?.doubt(keyOf(item), NOT_UTF8);
      continue;
    }
    const parts = byEntity.get(entityId) ?? [];
    parts.push({ entityId, attribute, content, key: keyOf(item) });
    byEntity.set(entityId, parts);
  }
  for (const [entityId, parts] of byEntity)
    await archiving?.keepParts(entityId, types.get(entityId) as JsonValue | undefined, parts);
}
