import {
  readEntityQuery,
  SELECTING_PARAMETERS,
  SHOWING_PARAMETERS,
  readRepresentation,
} from './entity-query.js';
import type { BrokerContext, BrokerRequest, BrokerResponse } from './exchange.js';
import {
  answeredPage,
  pageHeaders,
  PAGING_PARAMETERS,
  readPageRequest,
  readQueryParameters,
} from './page-answer.js';
import { findPage } from './page.js';
import { represent } from './representation.js';

const PARAMETERS: ReadonlySet<string> = new Set([
  ...SELECTING_PARAMETERS, 'geometryProperty', ...SHOWING_PARAMETERS, ...PAGING_PARAMETERS,
]); // prettier-ignore

/** GET /entities: Query Entities (ETSI GS CIM 009 V1.9.1, clauses 5.7.2 and 6.4.3.2). */
export function queryEntities(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  const parameters = readQueryParameters(request, PARAMETERS, context);
  const wanted = readPageRequest(parameters, context);
  const query = readEntityQuery(parameters, { mayBeWide: context.behaviour.ignoreParameters.length > 0 });
  const representation = readRepresentation(parameters);
  const store = context.tenants.existing(request.tenant).entities;
  const page = answeredPage(wanted, context, (at) => findPage(store, query, at));
  return {
    status: 200,
    headers: pageHeaders(request, parameters, wanted, page, context),
    body: page.entities.map((entity) => represent(entity, representation)),
  };
}
