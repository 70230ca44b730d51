import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import type { AttributeKind } from '../../../../sidecar/ngsi-ld/members.js';
import type { ModelOpenApiInput } from '../../../../sidecar/schemas/openapi/model-openapi.js';

const COMMON = 'https://models.example/common.json';

/** A model as published ones are: a compound document, its members spread over definitions of another one. */
const PARKING_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://models.example/ParkingSite/schema.json',
  $schemaVersion: '1.0.0',
  modelTags: 'city',
  title: 'Parking site',
  description: 'A place to park',
  type: 'object',
  allOf: [
    { $ref: `${COMMON}#/definitions/Common` },
    { $ref: `${COMMON}#/definitions/Located` },
    {
      properties: {
        type: { const: 'ParkingSite' },
        location: { $ref: `${COMMON}#/definitions/Located/properties/location` },
        totalSpots: {
          type: 'integer',
          minimum: 0,
          description: 'Property. How many cars fit.',
          'x-ngsi': { units: 'C62' },
        },
        opened: { type: 'string', format: 'date-time' },
        checked: { $ref: '#when' },
        operator: { 'x-ngsi': { type: 'Relationship' }, type: 'string', format: 'uri', title: 'Operator' },
        neighbours: {
          'x-ngsi': { type: 'ListRelationship' },
          type: 'array',
          items: { type: 'string', format: 'uri' },
        },
        sign: {
          'x-ngsi': { type: 'LanguageProperty' },
          type: 'object',
          properties: { languageMap: { type: 'object', minProperties: 1 } },
        },
        category: { 'x-ngsi': { type: 'VocabProperty' }, enum: ['underground', 'street'] },
        raw: { 'x-ngsi': { type: 'JsonProperty' }, type: 'object', required: ['a'] },
        stops: { 'x-ngsi': { type: 'ListProperty' }, type: 'array', items: { type: 'number' }, minItems: 2 },
      },
      anyOf: [{ properties: { fee: { type: 'number' } } }, { properties: { fee: { const: 'free' } } }],
    },
  ],
  required: ['id', 'type', 'totalSpots', 'location'],
  $defs: {
    when: { $anchor: 'when', type: 'string', format: 'date', modelTags: 'x' },
    [COMMON]: {
      $id: COMMON,
      definitions: {
        Common: {
          properties: {
            id: { type: 'string' },
            name: { type: 'string', minLength: 2 },
            'a/b c': { $ref: '#/definitions/Part' },
          },
          required: ['name'],
        },
        Located: {
          properties: {
            location: {
              type: 'object',
              required: ['type', 'coordinates'],
              properties: {
                type: { const: 'Point' },
                coordinates: { type: 'array', items: { type: 'number' }, minItems: 2 },
              },
            },
          },
        },
        Part: { type: 'object', properties: { part: { $ref: '#/definitions/Part' } } },
      },
    },
  },
};

/** The attributes of the schema, by its keywords and forms. */
export const PARKING_ATTRIBUTES: readonly { readonly name: string; readonly kind: AttributeKind }[] = [
  { name: 'name', kind: 'Property' },
  { name: 'a/b c', kind: 'Property' },
  { name: 'location', kind: 'GeoProperty' },
  { name: 'totalSpots', kind: 'Property' },
  { name: 'opened', kind: 'Property' },
  { name: 'checked', kind: 'Property' },
  { name: 'operator', kind: 'Relationship' },
  { name: 'neighbours', kind: 'ListRelationship' },
  { name: 'sign', kind: 'LanguageProperty' },
  { name: 'category', kind: 'VocabProperty' },
  { name: 'raw', kind: 'JsonProperty' },
  { name: 'stops', kind: 'ListProperty' },
  { name: 'fee', kind: 'Property' },
];

export const PARKING_KEY_VALUES: JsonObject = {
  id: 'urn:ngsi-ld:ParkingSite:1',
  type: 'ParkingSite',
  name: 'Station',
  'a/b c': { part: { part: {} } },
  location: { type: 'Point', coordinates: [13.4, 52.5] },
  totalSpots: 12,
  opened: '2024-01-01T00:00:00Z',
  checked: '2024-01-01',
  operator: 'urn:ngsi-ld:Organization:1',
  neighbours: ['urn:ngsi-ld:ParkingSite:2', 'urn:ngsi-ld:ParkingSite:3'],
  sign: { languageMap: { en: 'Car park', de: 'Parkplatz' } },
  category: 'street',
  raw: { a: 1, '@id': 'not expanded' },
  stops: [1, 2],
  fee: 'free',
};

export const PARKING: ModelOpenApiInput = {
  domain: 'traffic',
  model: 'ParkingSite',
  version: 3,
  schema: PARKING_SCHEMA,
  example: PARKING_KEY_VALUES,
  context: ['https://gateway.example/api/v2/contexts/traffic~ParkingSite'],
};
