export type ListedEntity = Readonly<Record<string, unknown>>;

/** Why a value is not a list of entities; completes "The broker …". */
export interface NoList {
  readonly fault: string;
}

/** The ids of listed entities, in order, repeats included. */
export type IdsIn = { readonly ids: readonly string[] } | NoList;

/** A list of entities. */
export type EntityList =
  | { readonly entities: readonly ListedEntity[]; readonly ids: readonly string[] }
  | NoList;

/** What a broker's answer to a query is if it cannot be parsed. */
export const NOT_JSON: NoList = { fault: 'answered a query with something that is not JSON' };

/** Reads a parsed answer to a query. */
export function entityListOf(value: unknown): EntityList {
  if (!Array.isArray(value))
    return { fault: 'answered a query with something that is not an array of entities' };
  const ids: string[] = [];
  for (const entity of value as readonly (ListedEntity | null)[]) {
    if (typeof entity !== 'object' || entity === null || Array.isArray(entity))
      return { fault: 'answered a query with an array of something other than entities' };
    const id = entity['id'] ?? entity['@id'];
    // An empty id would turn the delete of one entity into a delete of the collection.
    if (typeof id !== 'string' || id === '') return { fault: 'listed an entity without an id' };
    ids.push(id);
  }
  return { entities: value as readonly ListedEntity[], ids };
}
