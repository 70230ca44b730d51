import type { JsonObject, JsonValue } from '../../shared/json/json.js';
import { URI } from './attribute-schemas.js';

/** Components of the NGSI-LD API that are the same for all models (ETSI GS CIM 009 V1.9.1, clause 6). */

type Components = Readonly<Record<string, JsonObject>>;

/** These names are reserved: a model's own schemas get different ones. */
export const API_SCHEMAS = {
  ProblemDetails: {
    type: 'object',
    description: 'Problem details (RFC 9457).',
    required: ['type'],
    properties: {
      type: { type: 'string', format: 'uri-reference' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      instance: { type: 'string', format: 'uri-reference' },
    },
  },
  BatchOperationResult: {
    type: 'object',
    required: ['success', 'errors'],
    properties: {
      success: { type: 'array', items: URI },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['entityId', 'error'],
          properties: {
            entityId: URI,
            error: { $ref: '#/components/schemas/ProblemDetails' },
            registrationId: URI,
          },
        },
      },
    },
  },
  UpdateResult: {
    type: 'object',
    required: ['updated', 'notUpdated'],
    properties: {
      updated: { type: 'array', items: { type: 'string' } },
      notUpdated: {
        type: 'array',
        items: {
          type: 'object',
          required: ['attributeName', 'reason'],
          properties: { attributeName: { type: 'string' }, reason: { type: 'string' }, registrationId: URI },
        },
      },
    },
  },
} as const satisfies Components;

export const API_RESPONSES: Components = {
  BadRequest: problem('The request is malformed, or its data is not valid NGSI-LD.'),
  NotFound: problem('The entity or attribute does not exist.'),
  Conflict: problem('The entity already exists.'),
  Partial: {
    description: 'Partly done. The body says what failed and why.',
    content: jsonContent({ $ref: '#/components/schemas/BatchOperationResult' }),
  },
  PartialUpdate: {
    description: 'Partly done. The body says which attributes were not changed and why.',
    content: jsonContent({ $ref: '#/components/schemas/UpdateResult' }),
  },
  Done: { description: 'Done.', headers: { 'NGSILD-Tenant': { $ref: '#/components/headers/Tenant' } } },
};

export const API_HEADERS: Components = {
  Tenant: { description: 'The tenant that the request named.', schema: { type: 'string' } },
  Link: {
    description: 'Link to the @context of a body that does not contain it, or to the next page.',
    schema: { type: 'string' },
  },
  Location: {
    description: 'Path of the new entity.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  ResultsCount: { description: 'Number of matching entities.', schema: { type: 'integer', minimum: 0 } },
};

const NAMES: JsonObject = { type: 'array', items: { type: 'string' } };

export const API_PARAMETERS: Components = {
  Tenant: header('NGSILD-Tenant', 'Tenant; the default one when absent.'),
  Link: header(
    'Link',
    'The @context that defines the short names, unless the body contains it: <URL>; ' +
      'rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"',
  ),
  EntityId: {
    name: 'entityId',
    in: 'path',
    required: true,
    description: 'Identifier of the entity.',
    schema: URI,
  },
  Id: query('id', 'Identifiers, one of which an entity must have.', { type: 'array', items: URI }),
  IdPattern: query('idPattern', 'Regular expression that identifiers must match.', {
    type: 'string',
    format: 'regex',
  }),
  Attrs: {
    ...query('attrs', 'Attributes, at least one of which an entity must have; only these are shown.', NAMES),
    deprecated: true,
  },
  Pick: query('pick', 'Members of entities to show.', NAMES),
  Omit: query('omit', 'Members of entities not to show.', NAMES),
  Q: query('q', 'Condition on attributes, e.g. temperature>20;humidity<50.'),
  ScopeQ: query('scopeQ', 'Condition on scopes.'),
  Georel: query('georel', 'Relation to a geometry, e.g. near;maxDistance==1000.'),
  Geometry: query('geometry', 'Type of the geometry.'),
  Coordinates: query('coordinates', 'Coordinates of the geometry, as in GeoJSON.'),
  Geoproperty: query('geoproperty', 'GeoProperty to compare; location when absent.'),
  DatasetId: query('datasetId', 'Instances of attributes to show; @none for the default ones.', NAMES),
  Lang: query('lang', 'Language in which language maps are shown.'),
  Options: query('options', 'How entities are shown.', {
    type: 'array',
    items: { enum: ['keyValues', 'simplified', 'concise', 'normalized', 'sysAttrs'] },
  }),
  Local: query('local', 'Only entities that the broker itself stores.', { type: 'boolean' }),
  Limit: query('limit', 'Entities in one answer.', { type: 'integer', minimum: 0 }),
  Offset: query('offset', 'Entities to skip.', { type: 'integer', minimum: 0 }),
  Count: query('count', 'Whether to return the number of matches.', { type: 'boolean' }),
  NoOverwrite: query('options', 'noOverwrite leaves existing attributes unchanged.', {
    type: 'array',
    items: { enum: ['noOverwrite'] },
  }),
  OneDatasetId: query('datasetId', 'The instance of the attribute; the default one when absent.', URI),
  DeleteAll: query('deleteAll', 'Whether to delete all instances of the attribute.', { type: 'boolean' }),
};

export function parameterRef(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

export function responseRef(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

export function headerRef(name: string): JsonObject {
  return { $ref: `#/components/headers/${name}` };
}

/** Makes the content of an application/json body. */
export function jsonContent(schema: JsonObject, examples?: JsonObject): JsonObject {
  return { 'application/json': { schema, ...(examples === undefined ? {} : { examples }) } };
}

/**
 * Makes the response for a problem. Brokers send problems as application/json (clause 5.5.3), gateways as
 * application/problem+json.
 */
function problem(description: string): JsonObject {
  const schema = { $ref: '#/components/schemas/ProblemDetails' };
  return { description, content: { ...jsonContent(schema), 'application/problem+json': { schema } } };
}

function header(name: string, description: string): JsonObject {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

/** Makes a query parameter; lists are comma-separated. */
function query(name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  const isList: JsonValue = schema['type'] === 'array';
  return { name, in: 'query', description, ...(isList ? { style: 'form', explode: false } : {}), schema };
}
