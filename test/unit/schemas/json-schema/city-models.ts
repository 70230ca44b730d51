import type { JsonObject } from '../../../../sidecar/shared/json/json.js';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

export const COMMON = 'https://models.example.org/shared/common.json';
export const PLACES = 'https://models.example.org/places/places.json';

/** Geometries written out, as models in public catalogues do. */
function geometry(type: string, depth: number): JsonObject {
  const position: JsonObject = { type: 'array', minItems: 2, items: { type: 'number' } };
  const coordinates = Array.from({ length: depth }).reduce<JsonObject>(
    (items) => ({ type: 'array', items }),
    position,
  );
  return {
    title: `GeoJSON ${type}`,
    type: 'object',
    required: ['type', 'coordinates'],
    properties: { type: { type: 'string', enum: [type] }, coordinates },
  };
}

/**
 * Documents shared by models, by the URL that models name. Two have the same `$id`, one refers to itself by its URL, one contains
 * a definition that refers to a missing document.
 */
export const SHARED_DOCUMENTS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [
    COMMON,
    {
      $schema: DRAFT,
      $id: COMMON,
      title: 'What entities have in common',
      definitions: {
        Identifier: {
          anyOf: [
            {
              type: 'string',
              minLength: 1,
              maxLength: 256,
              pattern: '^[\\w\\-\\.\\{\\}\\$\\+\\*\\[\\]`|~^@!,:\\\\]+$',
            },
            { type: 'string', format: 'uri' },
          ],
          description: 'Relationship. Identifier of an entity',
        },
        'Entity-Commons': {
          type: 'object',
          properties: {
            id: { $ref: '#/definitions/Identifier' },
            name: { type: 'string', description: 'Property. The name of this item' },
            owner: {
              type: 'array',
              items: { $ref: `${COMMON}#/definitions/Identifier` },
              description: 'Relationship. Who owns it',
            },
            contact: { type: 'string', format: 'idn-email', description: 'Property. A mail address' },
          },
        },
        'Place-Commons': {
          type: 'object',
          properties: {
            location: {
              description: 'Geoproperty. Where it is',
              oneOf: [geometry('Point', 0), geometry('LineString', 1), geometry('Polygon', 2)],
            },
            areaServed: { type: 'string', description: 'Property. The district' },
          },
        },
      },
    },
  ],
  [
    PLACES,
    {
      $schema: 'http://json-schema.org/schema#',
      $id: COMMON,
      definitions: {
        Opening: { type: 'string', format: 'time', description: 'Property. When it opens' },
        unfinished: { $ref: `${PLACES}/#definitions/Opening` },
      },
    },
  ],
]);

/** A model as a public catalogue publishes it. */
export const PARKING: JsonObject = {
  $schema: DRAFT,
  $schemaVersion: '0.2.1',
  modelTags: 'example',
  $id: 'https://models.example.org/parking/Parking/schema.json',
  title: 'Parking',
  description: 'A place to park',
  type: 'object',
  derivedFrom: '',
  license: '',
  allOf: [
    { $ref: `${COMMON}#/definitions/Entity-Commons` },
    { $ref: `${COMMON}#/definitions/Place-Commons` },
    {
      properties: {
        type: { type: 'string', enum: ['Parking'], description: 'Property. The entity type' },
        category: {
          type: 'array',
          uniqueItems: true,
          minItems: 1,
          items: { type: 'string', enum: ['car', 'bike', 'bus'] },
          description: "Property. What it is for. Enum:'car, bike, bus'",
        },
        totalSpotNumber: { type: 'integer', minimum: 1, description: 'Property. Spots' },
        occupancy: { type: 'number', minimum: 0, maximum: 1, description: 'Property. Share that is taken' },
        opens: { $ref: `${PLACES}#/definitions/Opening` },
        refSpot: { $ref: `${COMMON}#/definitions/Identifier`, description: 'Relationship. Its spots' },
        mainEntrance: { $ref: `${COMMON}#/definitions/Place-Commons/properties/location` },
        notes: { type: 'string', format: 'text', description: 'Free text' },
      },
    },
  ],
  required: ['id', 'type', 'location'],
};

/** An entity of the model in key-values form. */
export const PARKING_ENTITY: JsonObject = {
  id: 'urn:ngsi-ld:Parking:1',
  type: 'Parking',
  location: { type: 'Point', coordinates: [2.1, 41.3] },
  category: ['car', 'bike'],
  totalSpotNumber: 20,
  occupancy: 0.5,
  opens: '08:00:00Z',
  owner: ['urn:ngsi-ld:Person:1'],
  contact: 'büro@example.org',
};

/** Members that make the entity invalid, one by one. */
export const PARKING_MISTAKES: readonly JsonObject[] = [
  { type: 'Garage' },
  { id: 'no identifier' },
  { location: { type: 'Circle', coordinates: [1, 2] } },
  { location: { type: 'Point', coordinates: [1] } },
  { category: [] },
  { category: ['car', 'car'] },
  { totalSpotNumber: 0 },
  { occupancy: 1.5 },
  { opens: 'eight' },
  { owner: 'urn:ngsi-ld:Person:1' },
  { refSpot: 'a b' },
  { mainEntrance: { type: 'Point' } },
];
