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
  findPage,
} from './page.js';
import { represent } from './representation.js';
import { readParameters } from './query-parameters.js';

const PARAMETERS: ReadonlySet<string> = new Set([
  ...SELECTING_PARAMETERS, 'geometryProperty', ...SHOWING_PARAMETERS, ...PAGING_PARAMETERS,
]); // oxfmt-ignore

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

/** GET /types: the existing entity types, as a plain list (clause 5.7.5). */
export function listTypes(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  readParameters(request.search, new Set(['local']));
  const typeList = context.tenants.existing(request.tenant).entities.types();
  return {
    status: 200,
    body: { id: 'urn:ngsi-ld:EntityTypeList:embedded', type: 'EntityTypeList', typeList },
  };
}

/** GET /attributes: the names of all attributes, as a plain list (clause 5.7.8). Scans every entity. */
export function listAttributes(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  readParameters(request.search, new Set(['local']));
  const names = new Set<string>();
  for (const entity of context.tenants.existing(request.tenant).entities.list().values()) {
    for (const { name } of entity.attributes) names.add(name);
  }
  return {
    status: 200,
    body: { id: 'urn:ngsi-ld:AttributeList:embedded', type: 'AttributeList', attributeList: [...names] },
  };
}

/** GET /: describes the broker to anyone who opens its root URL. */
export function describeBroker(): BrokerResponse {
  return {
    status: 200,
    body: {
      title: 'Embedded NGSI-LD broker',
      description: 'In memory, for trying out and for tests: not a substitute for a real context broker',
      entities: '/ngsi-ld/v1/entities',
      temporalEntities: '/ngsi-ld/v1/temporal/entities',
    },
  };
}
