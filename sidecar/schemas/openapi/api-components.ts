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
  Conflict: problem('The entity exists already.'),
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
    description: 'Link to the @context of a body that does not hold it, or to the next page.',
    schema: { type: 'string' },
  },
  Location: {
    description: 'Where the entity is.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  ResultsCount: { description: 'How many entities match.', schema: { type: 'integer', minimum: 0 } },
};

const NAMES: JsonObject = { type: 'array', items: { type: 'string' } };

export const API_PARAMETERS: Components = {
  Tenant: header('NGSILD-Tenant', 'Tenant; the default one when absent.'),
  Link: header(
    'Link',
    'The @context by which short names are read, unless the body holds it: <URL>; ' +
      'rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"',
  ),
  EntityId: {
    name: 'entityId',
    in: 'path',
    required: true,
    description: 'Identifier of the entity.',
    schema: URI,
  },
  Id: query('id', 'Identifiers, any of which match.', { type: 'array', items: URI }),
  IdPattern: query('idPattern', 'Regular expression that identifiers match.', {
    type: 'string',
    format: 'regex',
  }),
  Attrs: {
    ...query('attrs', 'Attributes, any of which an entity has; only these are shown.', NAMES),
    deprecated: true,
  },
  Pick: query('pick', 'Members of entities to show.', NAMES),
  Omit: query('omit', 'Members of entities not to show.', NAMES),
  Q: query('q', 'Condition on attributes, e.g. temperature>20;humidity<50.'),
  ScopeQ: query('scopeQ', 'Condition on scopes.'),
  Georel: query('georel', 'Relation to a geometry, e.g. near;maxDistance==1000.'),
  Geometry: query('geometry', 'Type of the geometry.'),
  Coordinates: query('coordinates', 'Coordinates of the geometry, as GeoJSON has them.'),
  Geoproperty: query('geoproperty', 'GeoProperty that is compared; location when absent.'),
  DatasetId: query('datasetId', 'Instances of attributes to show; @none for the default ones.', NAMES),
  Lang: query('lang', 'Language to which language maps are reduced.'),
  Options: query('options', 'How entities are shown.', {
    type: 'array',
    items: { enum: ['keyValues', 'simplified', 'concise', 'normalized', 'sysAttrs'] },
  }),
  Local: query('local', 'Only what the broker itself holds.', { type: 'boolean' }),
  Limit: query('limit', 'Entities in one answer.', { type: 'integer', minimum: 0 }),
  Offset: query('offset', 'Entities to skip.', { type: 'integer', minimum: 0 }),
  Count: query('count', 'Whether the number of matches is wanted.', { type: 'boolean' }),
  NoOverwrite: query('options', 'noOverwrite leaves attributes that exist as they are.', {
    type: 'array',
    items: { enum: ['noOverwrite'] },
  }),
  OneDatasetId: query('datasetId', 'The instance of the attribute; the default one when absent.', URI),
  DeleteAll: query('deleteAll', 'Whether all instances of the attribute go.', { type: 'boolean' }),
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
