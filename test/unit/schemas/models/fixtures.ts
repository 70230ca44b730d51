import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';

/** The URL of the shared document of the fixtures. */
export const COMMON_URI = 'https://schemas.example/common.json';

/** A document to which schemas refer. */
export const COMMON: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://elsewhere.example/other-name.json',
  definitions: {
    Commons: {
      properties: {
        id: { type: 'string', format: 'uri' },
        name: { type: 'string', description: 'Property. What people call it' },
        location: {
          description: 'Geoproperty. Where it is',
          type: 'object',
          required: ['type', 'coordinates'],
          properties: {
            type: { enum: ['Point'] },
            coordinates: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
          },
        },
      },
    },
  },
};

/** A park bench: refers to the shared document, and has all features of published models. */
export const BENCH: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $schemaVersion: '0.0.1',
  modelTags: 'SDG11',
  $id: 'https://schemas.example/Bench/schema.json',
  title: 'Bench',
  type: 'object',
  required: ['id', 'type'],
  allOf: [
    { $ref: `${COMMON_URI}#/definitions/Commons` },
    {
      properties: {
        type: { type: 'string', enum: ['Bench'] },
        seats: {
          type: 'integer',
          minimum: 1,
          maximum: 9,
          description: "Property. Model:'schema.org/Number'",
        },
        refPark: { type: 'string', format: 'uri', description: 'Relationship. The park it stands in' },
        status: { type: 'string', enum: ['free', 'taken'] },
        material: { type: 'object', properties: { wood: { type: 'string' } } },
      },
    },
  ],
};

/** A schema without references to other documents. */
export function plainSchema(properties: Readonly<Record<string, JsonValue>>): JsonObject {
  return { type: 'object', properties };
}
