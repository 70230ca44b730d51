import { GatewayError } from '../../shared/errors.js';
import type { PurgeContext } from '../run/context.js';
import { IdStates, IdState } from '../ledger/id-states.js';
import { selectsByValue, walkItems, type ItemKind } from './item-walk.js';
import type { Parameter } from '../query/parameters.js';
import { keyOf, type Item } from '../ledger/item-ledger.js';

/** Ids in one query, and what they may take of its URL: servers refuse lines of 8 kB. */
const MAX_IDS = 100;
const MAX_IDS_CHARS = 4000;

type Reader = Pick<ItemKind, 'read' | 'shape'>;

/** Entities as the items of a purge. */
export const WHOLE_ENTITIES: Reader = {
  *read(page, indexes) {
    yield { items: indexes.map((index) => ({ entityId: page.ids[index] ?? '' })) };
  },
};

/**
 * Queries, once, the entities whose deletes had no clear answer, by id beside the query. Items that are missing were
 * deleted. Items that the broker does not clarify stay unclear. Nothing is deleted.
 */
export async function resolveUnclear(context: PurgeContext, kind: Reader): Promise<void> {
  try {
    for (const items of portionsOf(context.ledger.unclear)) await resolvePortion(context, kind, items);
  } catch (error) {
    // Without an answer, the items stay unclear.
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** The same when a purge fails, once its last delete has ended: takes seconds at most, and is skipped after a stop. */
export async function resolveUnclearAtEnd(context: PurgeContext, kind: Reader): Promise<void> {
  if (context.ledger.unclear.length === 0 || !context.requester.beginLastLook()) return;
  await resolveUnclear(context, kind);
}

async function resolvePortion(context: PurgeContext, kind: Reader, items: readonly Item[]): Promise<void> {
  const { ledger, lister } = context;
  const asked = new Set(items.map(({ entityId }) => entityId));
  const shownItems = new Set<string>();
  const shownEntities = new IdStates();
  let honoursIds = true;
  let hidesItems = false;
  const narrowed: PurgeContext = {
    ...context,
    selection: withIds(context.selection, asked),
    lister: {
      ...lister,
      page: async (query) => {
        const page = await lister.page(query);
        honoursIds &&= page.ids.every((id) => asked.has(id));
        return page;
      },
    },
  };
  const end = await walkItems(narrowed, kind, shownEntities, (batch) => {
    hidesItems ||= batch.mayHideMore === true || batch.isIncomplete === true;
    for (const item of batch.items) shownItems.add(keyOf(item));
  });
  const showsAll = end.complete && honoursIds;
  const isGone = ({ entityId, attribute }: Item): boolean => {
    if (attribute === undefined) return showsAll;
    if (shownEntities.get(entityId) !== IdState.unknown) return !hidesItems;
    return showsAll && !selectsByValue(context.selection);
  };
  for (const item of items) {
    if (shownItems.has(keyOf(item))) ledger.resolveAsPresent(item);
    else if (isGone(item)) ledger.resolveAsDeleted(item);
  }
}

/** The query, narrowed to some of the entities that it has shown. */
export function withIds(selection: readonly Parameter[], ids: ReadonlySet<string>): readonly Parameter[] {
  const others = selection.filter(({ name }) => name !== 'id' && name !== 'idPattern');
  return [...others, { name: 'id', value: [...ids].join(',') }];
}

/** Splits items so that one query can ask for their entities. Ids with a comma cannot be listed and are left out. */
export function* portionsOf(items: readonly Item[]): Iterable<readonly Item[]> {
  let portion: Item[] = [];
  let ids = new Set<string>();
  let chars = 0;
  for (const item of items) {
    const { entityId } = item;
    if (entityId.includes(',')) continue;
    const more = ids.has(entityId) ? 0 : encodeURIComponent(entityId).length;
    if (more > 0 && (ids.size === MAX_IDS || chars + more > MAX_IDS_CHARS) && portion.length > 0) {
      yield portion;
      [portion, ids, chars] = [[], new Set(), 0];
    }
    portion.push(item);
    ids.add(entityId);
    chars += more;
  }
  if (portion.length > 0) yield portion;
}
