import { NO_OWN_ATTRIBUTES } from '../ngsi-ld/entity-members.js';
import type { PurgeContext } from './context.js';
import { QueryRefusedError } from './errors.js';
import type { ListedPage } from './listing.js';
import type { AttributeRemoval } from './query.js';
import type { Item } from './tally.js';
import { walkMatches, type WalkEnd } from './walk.js';

/** One attribute of one entity, with all its instances. */
export type AttributeItem = Required<Item>;

type Entity = Readonly<Record<string, unknown>>;

/** The attributes of an entity that a removal reaches. */
export function attributesToRemove(entity: Entity, removal: AttributeRemoval): readonly string[] {
  const named = new Set(removal.names);
  return attributesOf(entity).filter((name) => named.has(name) === (removal.kind === 'drop'));
}

function attributesOf(entity: Entity): readonly string[] {
  return Object.keys(entity).filter((name) => !NO_OWN_ATTRIBUTES.has(name));
}

/**
 * Checks that the broker shows each attribute under the very name that the removal uses. A term and its IRI, or two
 * terms of one IRI, name the same attribute: `keep` by one name would remove what the broker shows under the other.
 *
 * @throws QueryRefusedError naming the attribute and how the broker shows it
 */
export async function checkNames(context: PurgeContext, removal: AttributeRemoval): Promise<void> {
  const { lister, query } = context;
  const others = query.selection.filter(({ name }) => name !== 'attrs');
  for (const name of removal.names) {
    const selection = [...others, { name: 'attrs', value: name }];
    const { entities } = await lister.page({ selection, limit: 1 });
    for (const entity of entities) {
      const shown = attributesOf(entity);
      if (shown.length === 0 || shown.includes(name)) continue;
      const detail = `The broker shows the attribute ${name} as ${shown.slice(0, 3).join(', ')}: name it so, or send the @context in which it is ${name}.`;
      throw new QueryRefusedError('badRequestData', detail, removal.kind);
    }
  }
}

/**
 * Walks over all matches and hands out, page by page, the attributes that a removal reaches.
 *
 * @param isNew notes an entity; true when this walk had not met it yet
 */
export async function walkItems(
  context: PurgeContext,
  removal: AttributeRemoval,
  isNew: (entityId: string) => boolean,
  onItems: (items: readonly AttributeItem[], page: ListedPage) => Promise<void> | void,
): Promise<WalkEnd> {
  const newHere = new Set<string>();
  const walk = walkMatches({
    lister: context.lister,
    selection: context.query.selection,
    waitBefore: (look) => context.requester.waitBefore(look),
    // A count may shrink during the walk, when attributes go that the query asks for: it is no lie then.
    paging: { contradicted: false, longestPage: 0 },
    isNew: (id) => {
      const isFirst = isNew(id);
      if (isFirst) newHere.add(id);
      return isFirst;
    },
  });
  for (;;) {
    const step = await walk.next();
    if (step.done === true) return step.value;
    const page = step.value;
    await context.proveFilters();
    const items: AttributeItem[] = [];
    page.entities.forEach((entity, index) => {
      const entityId = page.ids[index];
      // An entity listed twice on a page is looked at once.
      if (entityId === undefined || !newHere.delete(entityId)) return;
      for (const attribute of attributesToRemove(entity, removal)) items.push({ entityId, attribute });
    });
    newHere.clear();
    await onItems(items, page);
  }
}
