import { type PurgeContext, type QueryView, type Preview, countMatches, firstPage } from '../run/index.js';
import { datasetsOf, deleteWholeAttribute } from './item-delete.js';
import { TooManyMatchesError, QueryRefusedError } from '../errors.js';
import { IdStates, type Item, keyOf } from '../ledger/index.js';
import { removeItems } from './item-removal.js';
import { countItems, type ItemKind } from '../deleting/index.js';
import { refusedData } from '../query/index.js';
import { attributeNames } from '../../ngsi-ld/members.js';
import type { JsonValue } from '../../shared/json/json.js';
import { entities, entitiesIn, type ListedPage } from '../listing/index.js';

/** Attributes to remove from each match instead of the entity (clause 5.6.21). */
export interface AttributeRemoval {
  readonly kind: 'drop' | 'keep';
  readonly names: readonly string[];
}

const MAX_SAMPLE = 100;

/** Counts the attributes that a removal would reach; `sample` names their entities. */
export async function previewAttributes(context: PurgeContext, removal: AttributeRemoval): Promise<Preview> {
  await checkNames(context, removal);
  const sample = new Set<string>();
  const kind = attributeKind(context, removal);
  const seen = new IdStates();
  const isComplete = await countItems(context, kind, seen, (items) => {
    for (const item of items) {
      if (sample.size < MAX_SAMPLE) sample.add(item.entityId);
      context.onPlanned?.(keyOf(item));
    }
  });
  return { matched: seen.size, sample: [...sample], ...(isComplete ? {} : { isLowerBound: true }) };
}

/**
 * Removes attributes, with all their instances, from every match (clause 5.6.5).
 *
 * @param total the broker's count of matches, if trusted
 * @returns how many attributes arrived during the purge and were left, without those that were made again
 * @throws TooManyMatchesError if there are more attributes than may be affected: before the first delete, unless more arrive
 *   later
 * @throws BrokerReplyError if the broker counts matches that it does not list
 */
export async function removeAttributes(
  context: PurgeContext,
  removal: AttributeRemoval,
  total: number | undefined,
): Promise<number> {
  const { maxAffected } = context.limits;
  await checkNames(context, removal);
  const kind = attributeKind(context, removal);
  if (maxAffected !== undefined && context.plan === undefined) {
    await countItems(context, kind, new IdStates(), (_items, counted) => {
      if (counted > maxAffected) throw new TooManyMatchesError(counted, maxAffected, false);
    });
  }
  return removeItems(context, kind, total);
}

/** Returns the kind of items for attributes of entities, each with all its instances (clause 6.7.3.2). */
function attributeKind(context: PurgeContext, removal: AttributeRemoval): ItemKind {
  return {
    *read(page, indexes) {
      const contents: JsonValue[] = [];
      const items = indexes.flatMap((index) => {
        const entityId = page.ids[index] ?? '';
        const entity = entitiesIn(page)[index] ?? {};
        return attributesToRemove(entity, removal).map((attribute) => {
          contents.push(entity[attribute] as JsonValue);
          const datasets = datasetsOf(entity[attribute]);
          return { entityId, attribute, datasets, ...createdAtOf(entity[attribute]) };
        });
      });
      yield { items, contents };
    },
    remove: async (item, isStale, onSend) =>
      deleteWholeAttribute(context, item, {
        collection: '/entities',
        operation: 'delete an attribute',
        isStale,
        onSend,
      }),
    mayComeBack: true,
    stillThere: {
      status: 409,
      title: 'Attribute still listed',
      detail: 'The broker answered that the attribute is gone, but still shows it.',
    },
  };
}

/** Returns when the first instance of an attribute was created, if that is shown. */
function createdAtOf(attribute: unknown): Pick<Item, 'time'> {
  const times = [attribute].flat().flatMap((instance: unknown) => {
    const isShown = typeof instance === 'object' && instance !== null && 'createdAt' in instance;
    return isShown && typeof instance.createdAt === 'string' ? [instance.createdAt] : [];
  });
  const [createdAt] = times.sort();
  return createdAt === undefined ? {} : { time: { createdAt } };
}

type Entity = Readonly<Record<string, unknown>>;

/** Returns the attributes of an entity that a removal reaches. */
export function attributesToRemove(entity: Entity, removal: AttributeRemoval): readonly string[] {
  const named = new Set(removal.names);
  return attributeNames(entity).filter((name) => named.has(name) === (removal.kind === 'drop'));
}

/**
 * Checks that the broker shows each attribute under the very name that the removal uses. A term and its IRI, or two
 * terms of one IRI, name the same attribute: `keep` by one name would remove what the broker shows under the other.
 *
 * @throws QueryRefusedError naming the attribute and how the broker shows it
 */
export async function checkNames(context: QueryView, removal: AttributeRemoval): Promise<void> {
  const { lister, selection: whole } = context;
  const others = whole.filter(({ name }) => name !== 'attrs');
  for (const name of removal.names) {
    const selection = [...others, { name: 'attrs', value: name }];
    for (const entity of entitiesIn(await lister.page({ selection, limit: 1 }))) {
      const shown = attributeNames(entity);
      if (shown.length === 0 || shown.includes(name)) continue;
      const detail =
        `The broker shows the attribute ${name} as ${shown.slice(0, 3).join(', ')}: ` +
        `use that name, or send the @context that defines ${name}.`;
      throw new QueryRefusedError('badRequestData', detail, removal.kind);
    }
  }
}

/**
 * Checks that some match has an attribute that `keep` names. If none has, every attribute would be deleted, and the name is
 * probably misspelt.
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
  if (entitiesIn(first).some((entity) => attributeNames(entity).some((name) => names.includes(name)))) return;
  const attrs = { name: 'attrs', value: names.join(',') };
  const selection = [...context.selection, attrs];
  if (await showsAny(context.open({ resource: entities('attributes'), selection }))) return;
  const shown = names.slice(0, 5).join(', ');
  throw refusedData(
    'keep',
    `No match has an attribute to keep (${shown}), so every attribute would be ` +
      'deleted. Check the spelling and the @context, or delete the entities themselves.',
  );
}

async function showsAny(context: PurgeContext): Promise<boolean> {
  const page = await firstPage(context, { limit: 1 });
  if (entitiesIn(page).some((entity) => attributeNames(entity).length > 0)) {
    // If the broker ignores `attrs`, it shows an entity with other attributes.
    await context.proof.prove();
    return true;
  }
  if (context.paging.stride === undefined) return false;
  return (await countMatches(context, page, () => false)).listed > 0;
}
