import type { JsonObject } from '../../shared/json/json.js';
import { headerRef, jsonContent, parameterRef, responseRef } from './api-components.js';

/** The parts that the operations refer to, by component name. */
export interface PathParts {
  readonly model: string;
  /** The types of the entities, at least one; differ from the model's name if the schema requires others. */
  readonly types: readonly string[];
  readonly entity: JsonObject;
  readonly keyValues: JsonObject;
  readonly fragment: JsonObject;
  readonly attributeNames: readonly string[];
  /** Examples of one entity, by name of the example component, in bodies of each media type. */
  readonly examples: { readonly json: JsonObject; readonly ld: JsonObject; readonly keyValues: JsonObject };
}

/** Makes the operations on the entities of a model, as every broker offers them (ETSI GS CIM 009 V1.9.1, clauses 6.4 to 6.7). */
export function modelPaths(parts: PathParts): JsonObject {
  const { model, types } = parts;
  const [entityType, all] = [types.join(' or '), types.join()];
  const common = [parameterRef('Tenant'), parameterRef('Link')];
  const type = (isQuery: boolean): JsonObject => ({
    name: 'type',
    in: 'query',
    description: isQuery ? 'Entity types to show.' : 'Entity type that the entity must have.',
    schema: { type: 'string', ...(isQuery ? { default: all } : {}) },
    example: isQuery ? all : (types[0] ?? model),
  });
  const operation = (name: string, summary: string, rest: JsonObject): JsonObject => ({
    operationId: name,
    tags: [model],
    summary,
    ...rest,
  });
  const failures = { '400': responseRef('BadRequest'), '404': responseRef('NotFound') };

  return {
    '/ngsi-ld/v1/entities': {
      parameters: common,
      get: operation(`query${model}`, `Query entities of type ${entityType}`, {
        parameters: [type(true), ...QUERY.map(parameterRef)],
        responses: {
          '200': {
            description: 'One page of the matching entities.',
            headers: {
              'NGSILD-Tenant': headerRef('Tenant'),
              'NGSILD-Results-Count': headerRef('ResultsCount'),
              Link: headerRef('Link'),
            },
            content: shown({ type: 'array', items: parts.entity }, { type: 'array', items: parts.keyValues }),
          },
          '400': responseRef('BadRequest'),
        },
      }),
      post: operation(`create${model}`, `Create an entity of type ${entityType}`, {
        requestBody: body(parts.entity, parts.examples),
        responses: {
          '201': {
            description: 'Created.',
            headers: { Location: headerRef('Location'), 'NGSILD-Tenant': headerRef('Tenant') },
          },
          '207': responseRef('Partial'),
          '400': responseRef('BadRequest'),
          '409': responseRef('Conflict'),
        },
      }),
    },
    '/ngsi-ld/v1/entities/{entityId}': {
      parameters: [parameterRef('EntityId'), ...common, type(false)],
      get: operation(`retrieve${model}`, `Retrieve an entity of type ${entityType}`, {
        parameters: RETRIEVAL.map(parameterRef),
        responses: {
          '200': {
            description: 'The entity.',
            headers: { 'NGSILD-Tenant': headerRef('Tenant'), Link: headerRef('Link') },
            content: shown(parts.entity, parts.keyValues, parts.examples),
          },
          ...failures,
        },
      }),
      put: operation(`replace${model}`, `Replace an entity of type ${entityType}`, {
        requestBody: body(parts.entity, parts.examples),
        responses: { '204': responseRef('Done'), '207': responseRef('Partial'), ...failures },
      }),
      patch: operation(`merge${model}`, `Merge attributes into an entity of type ${entityType}`, {
        description: 'Members of attributes may be given alone; "urn:ngsi-ld:null" removes an attribute.',
        requestBody: body({ type: 'object' }),
        responses: { '204': responseRef('Done'), '207': responseRef('Partial'), ...failures },
      }),
      delete: operation(`delete${model}`, `Delete an entity of type ${entityType}`, {
        responses: { '204': responseRef('Done'), '207': responseRef('Partial'), ...failures },
      }),
    },
    '/ngsi-ld/v1/entities/{entityId}/attrs': {
      parameters: [parameterRef('EntityId'), ...common, type(false)],
      post: operation(`append${model}Attributes`, `Append attributes to an entity of type ${entityType}`, {
        parameters: [parameterRef('NoOverwrite')],
        requestBody: body(parts.fragment),
        responses: { '204': responseRef('Done'), '207': responseRef('PartialUpdate'), ...failures },
      }),
      patch: operation(`update${model}Attributes`, `Replace attributes of an entity of type ${entityType}`, {
        requestBody: body(parts.fragment),
        responses: { '204': responseRef('Done'), '207': responseRef('PartialUpdate'), ...failures },
      }),
    },
    '/ngsi-ld/v1/entities/{entityId}/attrs/{attrName}': {
      parameters: [parameterRef('EntityId'), attributeName(parts.attributeNames), ...common, type(false)],
      patch: operation(`update${model}Attribute`, `Change members of an attribute`, {
        requestBody: body({ type: 'object', minProperties: 1 }),
        responses: { '204': responseRef('Done'), '207': responseRef('PartialUpdate'), ...failures },
      }),
      delete: operation(`delete${model}Attribute`, `Delete an attribute, or an instance of it`, {
        parameters: [parameterRef('OneDatasetId'), parameterRef('DeleteAll')],
        responses: { '204': responseRef('Done'), '207': responseRef('PartialUpdate'), ...failures },
      }),
    },
  };
}

const QUERY = [
  'Id',
  'IdPattern',
  'Attrs',
  'Pick',
  'Omit',
  'Q',
  'ScopeQ',
  'Georel',
  'Geometry',
  'Coordinates',
  'Geoproperty',
  'DatasetId',
  'Lang',
  'Options',
  'Local',
  'Limit',
  'Offset',
  'Count',
];
const RETRIEVAL = ['Attrs', 'Pick', 'Omit', 'DatasetId', 'Lang', 'Options', 'Local'];

function attributeName(names: readonly string[]): JsonObject {
  return {
    name: 'attrName',
    in: 'path',
    required: true,
    description: 'Name of the attribute: a short name of the @context, or its IRI.',
    schema: { type: 'string', ...(names.length > 0 ? { examples: names } : {}) },
  };
}

/** Makes a request body; JSON-LD bodies contain the @context. */
function body(schema: JsonObject, examples?: PathParts['examples']): JsonObject {
  return {
    required: true,
    content: {
      ...jsonContent(schema, examples?.json),
      'application/ld+json': { schema, ...(examples === undefined ? {} : { examples: examples.ld }) },
    },
  };
}

/** Makes the content of an answer, normalized or in key-values form, depending on the options of the request. */
function shown(entity: JsonObject, keyValues: JsonObject, examples?: PathParts['examples']): JsonObject {
  const schema = { anyOf: [entity, keyValues] };
  const content = body(schema)['content'] as JsonObject;
  if (examples === undefined) return content;
  return {
    ...jsonContent(schema, { ...examples.json, ...examples.keyValues }),
    'application/ld+json': { schema, examples: examples.ld },
  };
}
