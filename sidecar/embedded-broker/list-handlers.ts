import type { BrokerContext, BrokerRequest, BrokerResponse } from './exchange.js';
import { readParameters } from './query-parameters.js';

/** GET /types: the available entity types, as a plain list (clause 5.7.5). */
export function listTypes(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  readParameters(request.search, new Set(['local']));
  const typeList = context.tenants.existing(request.tenant).entities.types();
  return {
    status: 200,
    body: { id: 'urn:ngsi-ld:EntityTypeList:embedded', type: 'EntityTypeList', typeList },
  };
}

/** GET /attributes: the names of all attributes, as a plain list (clause 5.7.8). Looks at every entity. */
export function listAttributes(request: BrokerRequest, context: BrokerContext): BrokerResponse {
  readParameters(request.search, new Set(['local']));
  const names = new Set<string>();
  for (const entity of context.tenants.existing(request.tenant).entities.list()) {
    for (const { name } of entity.attributes) names.add(name);
  }
  return {
    status: 200,
    body: { id: 'urn:ngsi-ld:AttributeList:embedded', type: 'AttributeList', attributeList: [...names] },
  };
}

/** What a client sees who opens the broker itself. */
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
