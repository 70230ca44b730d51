import type { BrokerContext, BrokerRequest, BrokerResponse } from './exchange.js';
import {
  readEntityQuery,
  readRepresentation,
  SELECTING_PARAMETERS,
  SHOWING_PARAMETERS,
} from './entity-query.js';
import { findPage } from './page.js';
import type { Page, PageRequest } from './page.js';
import { readCount, readFlag, readParameters } from './query-parameters.js';
import type { Parameters } from './query-parameters.js';
import { refusals } from './refusal.js';
import { represent } from './representation.js';
import type { EntityStore } from './store.js';

const PARAMETERS: ReadonlySet<string> = new Set([
  ...SELECTING_PARAMETERS, ...SHOWING_PARAMETERS, 'limit', 'offset', 'count',
]); // prettier-ignore

/** GET /entities: Query Entities (ETSI GS CIM 009 V1.9.1, clauses 5.7.2 and 6.4.3.2). */
export function queryEntities(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const { behaviour, chance } = context;
  const parameters = readParameters(request.search, PARAMETERS, behaviour.ignoreParameters);
  if (behaviour.noPick && parameters.has('pick')) {
    throw refusals.invalidRequest('Parameter "pick" is unknown for this operation');
  }
  const wanted = readPageRequest(parameters, context);
  const query = readEntityQuery(parameters);
  const representation = readRepresentation(parameters);
  const store = context.tenants.existing(request.tenant);

  const given = chance.takeEmptyPage()
    ? { ...wanted, limit: 0 }
    : { ...wanted, limit: chance.pageSize(wanted.limit) };
  const found = findPage(store, query, given);
  const page = behaviour.repeatLastPastEnd
    ? lastRepeated(store, found, wanted, (at) => findPage(store, query, at))
    : found;

  return {
    status: 200,
    headers: {
      ...countHeader(page, wanted, context),
      ...(behaviour.warning === undefined ? {} : { 'NGSILD-Warning': behaviour.warning }),
      ...(behaviour.noPageLinks ? {} : { Link: pageLinks(request, parameters, wanted, page) }),
    },
    body: page.entities.map((entity) => represent(entity, representation)),
  };
}

function readPageRequest(parameters: Parameters, { limits, behaviour }: BrokerContext): PageRequest {
  const count = readFlag(parameters, 'count');
  const largest = behaviour.maxPageSize ?? limits.maxPageSize;
  const limit = readCount(parameters, 'limit', Math.min(limits.defaultPageSize, largest));
  if (limit === 0 && !count) throw refusals.badRequest('limit=0 needs count=true');
  if (limit > largest) {
    const refuse = behaviour.overMaxPageStatus === 403 ? refusals.tooManyResults : refusals.badRequest;
    throw refuse(`limit must not be greater than ${largest}`);
  }
  return { limit, offset: readCount(parameters, 'offset', 0), count };
}

/** Past the end, the last entity once more (clause 5.5.9.1). */
function lastRepeated(
  store: EntityStore,
  page: Page,
  { limit, offset }: PageRequest,
  find: (at: PageRequest) => Page,
): Page {
  if (page.entities.length > 0 || page.hasMore || limit === 0 || offset === 0) return page;
  const total = page.total ?? find({ limit: 0, offset: 0, count: true }).total ?? store.size;
  return total === 0 ? page : find({ limit: 1, offset: total - 1, count: true });
}

function countHeader(
  page: Page,
  { count }: PageRequest,
  { behaviour }: BrokerContext,
): Record<string, string> {
  if (!count || behaviour.countHeader === 'absent' || page.total === undefined) return {};
  return { 'NGSILD-Results-Count': behaviour.countHeader === 'negative' ? '-2' : String(page.total) };
}

/** Links to the pages beside this one (clause 6.3.10, RFC 8288), relative to the broker. */
function pageLinks(
  { path, search }: BrokerRequest,
  parameters: Parameters,
  { limit, offset }: PageRequest,
  page: Page,
): readonly string[] {
  const link = (rel: string, start: number) => {
    // From the query string as sent: parameters that were ignored stay in the links.
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
