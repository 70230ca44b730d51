import type { EntityQuery } from './entity-query.js';
import type { Attribute, StoredEntity } from './model.js';
import type { EntityStore } from './store.js';

export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
  readonly count: boolean;
}

/** One page of a query result, oldest entities first. `total` is there when it was asked for or costs nothing. */
export interface Page<A = readonly Attribute[]> {
  readonly entities: readonly StoredEntity<A>[];
  readonly hasMore: boolean;
  readonly total: number | undefined;
}

/**
 * Finds one page. A query for a plain type costs O(offset + limit) and knows its total; any other one looks at
 * candidates until the page is full, or at all of them when the total is asked for.
 */
export function findPage<A>(
  store: EntityStore<A>,
  query: EntityQuery<A>,
  { limit, offset, count }: PageRequest,
): Page<A> {
  const { filters } = query;
  const source = query.ids === undefined ? store.list(query.type) : entitiesById(store, query.ids);
  const knownTotal = filters.length > 0 ? undefined : 'size' in source ? source.size : source.length;
  const entities: StoredEntity<A>[] = [];
  let matched = 0;
  for (const entity of source) {
    if (knownTotal !== undefined && matched >= offset + limit) break;
    if (!filters.every((filter) => filter(entity))) continue;
    matched += 1;
    if (matched <= offset) continue;
    if (entities.length < limit) entities.push(entity);
    else if (!count) break;
  }
  const total = knownTotal ?? (count ? matched : undefined);
  return { entities, hasMore: (total ?? matched) > offset + entities.length, total };
}

function entitiesById<A>(store: EntityStore<A>, ids: readonly string[]): readonly StoredEntity<A>[] {
  const found = ids.map((id) => store.get(id)).filter((entity) => entity !== undefined);
  return found.sort((a, b) => a.sequence - b.sequence);
}
