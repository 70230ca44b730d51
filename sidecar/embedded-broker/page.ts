import type { EntityQuery } from './entity-query.js';
import type { Attribute, StoredEntity } from './model.js';
import type { EntityStore } from './store.js';
import type { BrokerContext, BrokerRequest } from './exchange.js';
import { readCount, readFlag, readParameters, type Parameters } from './query-parameters.js';
import { refusals } from './refusal.js';

export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
  readonly count: boolean;
}

/** One page of a query result, oldest entities first. `total` is set if it was requested or costs nothing. */
export interface Page<A = readonly Attribute[]> {
  readonly entities: readonly StoredEntity<A>[];
  readonly hasMore: boolean;
  readonly total: number | undefined;
}

/**
 * Finds one page. A query for a plain type costs O(offset + limit) and knows its total. Any other query scans
 * candidates until the page is full, or all of them if the total is requested.
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
  for (const entity of source.values()) {
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

/** Parameters of every paged query (ETSI GS CIM 009 V1.9.1, clauses 6.3.10 and 6.3.13). */
export const PAGING_PARAMETERS = ['limit', 'offset', 'count'] as const;

/** Reads the parameters of a query, except those that the broker's behaviour ignores. @throws Refusal 400, 501 */
export function readQueryParameters(
  { search }: BrokerRequest,
  taken: ReadonlySet<string>,
  { behaviour }: BrokerContext,
): Parameters {
  return readParameters(search, taken, behaviour.ignoreParameters);
}

/** Reads which page is requested. @throws Refusal BadRequestData, TooManyResults */
export function readPageRequest(parameters: Parameters, { limits, behaviour }: BrokerContext): PageRequest {
  const count = readFlag(parameters, 'count');
  const largest = behaviour.maxPageSize ?? limits.maxPageSize;
  const limit = readCount(parameters, 'limit', Math.min(limits.defaultPageSize, largest));
  if (limit === 0 && !count) throw refusals.badRequest('limit=0 needs count=true');
  if (limit > largest) {
    throw refusals.tooManyResults(`limit must not be greater than ${largest}`);
  }
  return { limit, offset: readCount(parameters, 'offset', 0), count };
}

/** Finds the page to answer with: the requested one, as modified by the broker's behaviour. */
export function answeredPage<A>(
  wanted: PageRequest,
  { behaviour, chance }: BrokerContext,
  find: (at: PageRequest) => Page<A>,
): Page<A> {
  const limit = chance.takeEmptyPage() ? 0 : chance.pageSize(wanted.limit);
  const page = find({ ...wanted, limit });
  return behaviour.repeatLastPastEnd ? lastRepeated(page, wanted, find) : page;
}

/** If the page is past the end, returns the last entity again (clause 5.5.9.1). */
function lastRepeated<A>(
  page: Page<A>,
  { limit, offset }: PageRequest,
  find: (at: PageRequest) => Page<A>,
): Page<A> {
  if (page.entities.length > 0 || page.hasMore || limit === 0 || offset === 0) return page;
  const total = page.total ?? find({ limit: 0, offset: 0, count: true }).total ?? 0;
  return total === 0 ? page : find({ limit: 1, offset: total - 1, count: true });
}

/** Makes the headers of a page: the count, and links to the next and the previous page. */
export function pageHeaders<A>(
  request: BrokerRequest,
  parameters: Parameters,
  wanted: PageRequest,
  page: Page<A>,
  { behaviour }: BrokerContext,
): Readonly<Record<string, string | readonly string[]>> {
  const showsCount = wanted.count && !behaviour.noCount && page.total !== undefined;
  return {
    ...(showsCount ? { 'NGSILD-Results-Count': String(page.total) } : {}),
    ...(behaviour.noPageLinks ? {} : { Link: pageLinks(request, parameters, wanted, page) }),
  };
}

/** Makes the links to the next and the previous page (clause 6.3.10, RFC 8288), relative to the broker. */
function pageLinks<A>(
  { path, search }: BrokerRequest,
  parameters: Parameters,
  { limit, offset }: PageRequest,
  page: Page<A>,
): readonly string[] {
  const link = (rel: string, start: number) => {
    // Built from the query string as sent, so that ignored parameters stay in the links.
    const target = new URLSearchParams(search);
    target.set('limit', String(limit));
    target.set('offset', String(start));
    return `<${path}?${target.toString()}>; rel="${rel}"; type="application/json"`;
  };
  if (limit === 0) return [];
  const links: string[] = [];
  if (page.hasMore) links.push(link('next', offset + page.entities.length));
  if (offset > 0 && parameters.has('offset')) links.push(link('prev', Math.max(0, offset - limit)));
  return links;
}
