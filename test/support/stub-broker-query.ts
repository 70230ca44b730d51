import { filterOf, type StubEntity } from './stub-broker-filter.js';
import {
  createdAtOf,
  problem,
  type StubReply,
  type StubRequest,
  type StubState,
} from './stub-broker-state.js';

const DEFAULT_CONTEXT = 'https://example.org/context.jsonld';
const DEFAULT_LIMIT = 20;

/** Answers `GET /entities/{id}` (clause 6.5.3.1). */
export function answerRetrieval(state: StubState, { id = '', query }: StubRequest): StubReply {
  const entity = state.entities.get(id);
  return entity === undefined
    ? problem(404, 'ResourceNotFound', 'no such entity')
    : { status: 200, headers: { 'content-type': 'application/json' }, body: withTimes(state, entity, query) };
}

/** Answers `GET /entities` (clause 6.4.3.2), with the configured oddities. */
export function answerQuery(state: StubState, { query: asked, target, headers }: StubRequest): StubReply {
  const { oddities } = state;
  const url = /<([^>]*)>[^,]*json-ld#context/.exec(String(headers['link'] ?? ''))?.[1];
  const terms = url === undefined ? new Map<string, string>() : oddities.contextAt(url);
  if (terms === undefined && typeof oddities.unfetchable === 'number') {
    const name = oddities.unfetchable === 503 ? 'LdContextNotAvailable' : 'InternalError';
    return problem(oddities.unfetchable, name, 'no such @context');
  }
  const isNamed = terms !== undefined || oddities.unfetchable === 'echoed';
  const context = isNamed ? (url ?? DEFAULT_CONTEXT) : DEFAULT_CONTEXT;
  const links = terms === undefined && oddities.unfetchable === 'silent' ? [] : [contextLink(context)];
  return listed(state, expanded(asked, terms ?? new Map()), target, links);
}

function contextLink(url: string): string {
  return `<${url}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;
}

/** Returns the query with names in place of terms. */
function expanded(query: URLSearchParams, terms: ReadonlyMap<string, string>): URLSearchParams {
  if (terms.size === 0) return query;
  const name = (term: string) => terms.get(term) ?? term;
  const result = new URLSearchParams(query);
  for (const parameter of ['type', 'attrs', 'q']) {
    const value = query.get(parameter);
    if (value !== null) result.set(parameter, value.replace(/(?<![\w"<>=])[A-Za-z_]\w*/g, name));
  }
  return result;
}

function listed(
  state: StubState,
  query: URLSearchParams,
  target: string,
  contextLinks: readonly string[],
): StubReply {
  const { oddities } = state;
  const end = /\/(?:\?|$)/.test(target) ? '/' : '';
  if (!oddities.collectionEnds.includes(end)) return problem(404, 'ResourceNotFound', 'no such path');
  const asked = Number(query.get('limit') ?? DEFAULT_LIMIT);
  const offset = Number(query.get('offset') ?? 0);
  const refusal = refusalOf(state, query, asked);
  if (refusal !== undefined) return refusal;

  const result = resultOf(state, query);
  const limit = Math.min(asked, oddities.pageMax);
  const cut = pageOf(state, result, offset, limit);
  const page = oddities.filtersLate.length === 0 ? cut : cut.filter(filterOf(query, oddities.aliases));
  const count = query.get('count') === 'true' ? oddities.count(result.length, page.length) : undefined;
  const isLast = offset + cut.length >= result.length;
  const links = [...contextLinks];
  if (oddities.next === 'always' || (oddities.next === 'right' && !isLast)) {
    links.push(`</ngsi-ld/v1/entities?offset=${offset + cut.length}>; rel="next"`);
  }
  return {
    status: 200,
    headers: {
      'content-type': 'application/json',
      link: links.join(', '),
      ...(count === undefined ? {} : { 'ngsild-results-count': String(count) }),
      ...oddities.queryHeaders,
    },
    body: page.map((entity) => shown(state, entity, query)),
  };
}

function refusalOf({ oddities }: StubState, query: URLSearchParams, asked: number): StubReply | undefined {
  const mute = { status: 400, body: { title: 'Bad Request' } };
  const refused = (how: string, detail: string) =>
    how === '400-mute' ? mute : how.startsWith('400') ? problem(400, 'InvalidRequest', detail) : undefined;
  if (query.has('pick') && oddities.pick.startsWith('400')) {
    return refused(oddities.pick, 'unknown query parameter: pick');
  }
  if (query.get('options') === 'keyValues' && oddities.keyValues.startsWith('400')) {
    return refused(oddities.keyValues, 'bad value for options');
  }
  if (query.has('count') && oddities.countParameter.startsWith('400')) {
    return refused(oddities.countParameter, 'unknown query parameter: count');
  }
  if (asked <= oddities.pageMax || oddities.overPageMax === 'clamped') return undefined;
  if (oddities.overPageMax === '403') return problem(403, 'TooManyResults', 'You ask for too much.');
  return refused(oddities.overPageMax, `limit must not exceed ${oddities.pageMax}`);
}

function resultOf(state: StubState, query: URLSearchParams): StubEntity[] {
  const { entities, stale, oddities, random } = state;
  const filters = new URLSearchParams(query);
  for (const name of [...oddities.ignores, ...oddities.filtersLate]) filters.delete(name);
  const isMatch = filterOf(filters, oddities.aliases);
  const result = [...entities.values()].filter(isMatch);
  for (const [id, ghost] of stale) {
    if (isMatch(ghost.entity)) result.push(ghost.entity);
    ghost.left -= 1;
    if (ghost.left <= 0) stale.delete(id);
  }
  return oddities.order === 'stable' ? result : shuffled(result, random);
}

function pageOf(
  { oddities, random }: StubState,
  result: readonly StubEntity[],
  offset: number,
  limit: number,
): readonly StubEntity[] {
  const { paging } = oddities;
  if (paging === 'whole-result') return result;
  if (paging === 'no-offset') return result.slice(0, limit);
  if (paging.startsWith('shallow-') && offset >= Number(paging.slice('shallow-'.length))) return [];
  if (paging === 'last-again' && offset >= result.length) return result.slice(-1);
  const length = oddities.shortPages ? Math.ceil(random() * limit) : limit;
  return result.slice(offset, offset + length);
}

function shown(state: StubState, entity: StubEntity, query: URLSearchParams): unknown {
  const body = narrowed(state, entity, query);
  const isNear = query.get('georel')?.startsWith('near') === true && state.oddities.distances;
  return withTimes(state, isNear ? { ...body, geoDistance: 12.5 } : body, query, entity);
}

/** Adds the system attributes that are requested (clause 4.8). */
function withTimes(
  state: StubState,
  body: object,
  query: URLSearchParams,
  entity = body as StubEntity,
): object {
  const isAsked = query.get('options') === 'sysAttrs' && state.oddities.sysAttrs;
  return isAsked ? { ...body, createdAt: createdAtOf(state, entity) } : body;
}

function narrowed({ oddities }: StubState, entity: StubEntity, query: URLSearchParams): object {
  if (query.get('pick') === 'id' && oddities.pick === 'honoured') return { id: entity.id };
  const named = query.get('attrs');
  if (named === null || oddities.ignores.includes('attrs')) return entity;
  const names = new Set(named.split(',').map((name) => oddities.aliases.get(name) ?? name));
  const members = ['id', 'type', 'scope', '@context'];
  return Object.fromEntries(
    Object.entries(entity).filter(([name]) => members.includes(name) || names.has(name)),
  );
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const order = items.map((item) => ({ item, key: random() }));
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
