import { type AttributeKind, KIND_BY_NAME, VALUE_MEMBERS } from '../../ngsi-ld/members.js';
import { GEOMETRY_TYPES } from '../../ngsi-ld/geo-query.js';
import type { JsonObject, Schema } from '../../shared/json/json.js';

/** Schemas of NGSI-LD that are used by the OpenAPI document of every model (ETSI GS CIM 009 V1.9.1, clause 5.2). */

export const URI: JsonObject = { type: 'string', format: 'uri' };
const DATE_TIME: JsonObject = { type: 'string', format: 'date-time' };

/** Members that all kinds of attributes may have; further members are sub-attributes. */
const COMMON_MEMBERS: JsonObject = {
  observedAt: { ...DATE_TIME, description: 'When the value was observed.' },
  datasetId: { ...URI, description: 'Distinguishes the instances of an attribute.' },
  expiresAt: DATE_TIME,
  createdAt: { ...DATE_TIME, readOnly: true },
  modifiedAt: { ...DATE_TIME, readOnly: true },
  deletedAt: { ...DATE_TIME, readOnly: true },
  instanceId: { ...URI, readOnly: true },
};

const UNIT_CODE: JsonObject = {
  type: 'string',
  description: 'Unit of the value, a UN/CEFACT common code.',
};
const VALUE_TYPE: JsonObject = { type: 'string', description: 'Data type of the value, a term or an IRI.' };
const STRINGS: JsonObject = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };
const URIS: JsonObject = { anyOf: [URI, { type: 'array', items: URI }] };

/** The common schema of the values of each kind. */
const VALUES: Readonly<Record<AttributeKind, Schema>> = {
  Property: { description: 'Any JSON value except null.' },
  GeoProperty: {
    type: 'object',
    description: 'A GeoJSON geometry (RFC 7946).',
    required: ['type'],
    properties: {
      type: { enum: GEOMETRY_TYPES },
    },
  },
  LanguageProperty: {
    type: 'object',
    description: 'Strings by language tag (RFC 5646), or by @none.',
    additionalProperties: STRINGS,
  },
  VocabProperty: STRINGS,
  JsonProperty: { description: 'JSON that is stored unchanged.' },
  ListProperty: { type: 'array' },
  Relationship: URIS,
  ListRelationship: {
    type: 'array',
    items: {
      anyOf: [URI, { type: 'object', required: ['object'], properties: { object: URIS } }],
    },
  },
};

const OWN_MEMBERS: Readonly<Record<AttributeKind, JsonObject>> = {
  Property: { unitCode: UNIT_CODE, valueType: VALUE_TYPE },
  GeoProperty: {},
  LanguageProperty: {},
  VocabProperty: {},
  JsonProperty: {},
  ListProperty: { unitCode: UNIT_CODE, valueType: VALUE_TYPE },
  Relationship: { objectType: STRINGS },
  ListRelationship: { objectType: STRINGS },
};

/** Returns the schema of a normalized attribute of a kind, with any value. */
export function attributeSchema(kind: AttributeKind): JsonObject {
  const valueMember = VALUE_MEMBERS[kind];
  const names = [...KIND_BY_NAME].filter(([, named]) => named === kind).map(([name]) => name);
  return {
    type: 'object',
    required: ['type', valueMember],
    properties: {
      type: names.length === 1 ? { const: kind } : { enum: names },
      [valueMember]: VALUES[kind],
      ...OWN_MEMBERS[kind],
      ...COMMON_MEMBERS,
    },
  };
}

/** What the value of a Property may be instead of a date or time string (clause 4.6.3). */
export const TYPED_VALUE: JsonObject = {
  type: 'object',
  description: 'A value with its data type, e.g. DateTime. Brokers show @type as type.',
  required: ['@value'],
  properties: { '@type': { type: 'string' }, type: { type: 'string' }, '@value': { type: 'string' } },
  minProperties: 2,
  maxProperties: 2,
  additionalProperties: false,
};

export const LD_CONTEXT: JsonObject = {
  description: 'JSON-LD context: defines the short names.',
  anyOf: [{ type: ['string', 'object'] }, { type: 'array', items: { type: ['string', 'object'] } }],
};

/** The members of an entity that are not attributes, except id and type. */
export const ENTITY_MEMBER_SCHEMAS: JsonObject = {
  scope: { ...STRINGS, description: 'Places in hierarchies, e.g. /Madrid/Gardens.' },
  expiresAt: DATE_TIME,
  createdAt: { ...DATE_TIME, readOnly: true },
  modifiedAt: { ...DATE_TIME, readOnly: true },
  deletedAt: { ...DATE_TIME, readOnly: true },
};
