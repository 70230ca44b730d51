import { isObject, type JsonObject, type JsonValue } from '../../../../sidecar/shared/json/json.js';
import { prepareModel, type Model } from '../../../../sidecar/schemas/validation/model.js';

/** A geometry as written out in models: `depth` arrays around positions. */
function geometry(type: string, depth: number): JsonObject {
  const position: JsonObject = { type: 'array', minItems: 2, items: { type: 'number' } };
  const coordinates = Array.from({ length: depth }).reduce<JsonObject>(
    (items) => ({ type: 'array', minItems: 1, items }),
    position,
  );
  return {
    type: 'object',
    required: ['type', 'coordinates'],
    properties: { type: { type: 'string', enum: [type] }, coordinates },
  };
}

/** A model of an open schema, with attributes of all kinds. */
export const VEHICLE_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  allOf: [{ $ref: '#/$defs/Common' }],
  required: ['id', 'type', 'speed'],
  properties: {
    type: { const: 'Vehicle' },
    speed: { type: 'number', minimum: 0, description: 'Property. In km/h' },
    status: { enum: ['free', 'occupied', 'closed'], description: 'Property. What it does' },
    owner: { type: 'string', format: 'uri', description: 'Relationship. Who it belongs to' },
    location: { oneOf: [geometry('Point', 0), geometry('LineString', 1), geometry('Polygon', 2)] },
    title: {
      description: 'LanguageProperty. Its name',
      type: 'object',
      properties: { languageMap: { type: 'object', additionalProperties: { type: 'string', minLength: 2 } } },
      required: ['languageMap'],
    },
    word: { description: 'VocabProperty. Bare', enum: ['car', 'bus'] },
    wheels: {
      description: 'Property. Its wheels',
      type: 'array',
      maxItems: 4,
      items: {
        type: 'object',
        required: ['size'],
        properties: { size: { type: 'integer' }, note: { type: 'string' } },
        additionalProperties: false,
      },
    },
  },
  $defs: {
    Common: {
      properties: {
        id: {
          anyOf: [
            { type: 'string', pattern: '^[a-z]+$' },
            { type: 'string', format: 'uri' },
          ],
        },
        observed: { type: 'string', format: 'date-time', description: 'Property. When' },
      },
    },
  },
};

/** An entity of the model, and possible wrong values for each of its values, by their JSON pointers in the normalized form. */
export const VEHICLE: JsonObject = {
  id: 'urn:ngsi-ld:Vehicle:1',
  type: 'Vehicle',
  speed: { type: 'Property', value: 50, unitCode: 'KMH', observedAt: '2026-01-31T12:00:00Z' },
  status: { type: 'Property', value: 'free' },
  owner: { type: 'Relationship', object: 'urn:ngsi-ld:Person:1' },
  location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [13.4, 52.5] } },
  title: { type: 'LanguageProperty', languageMap: { en: 'One', de: 'Eins' } },
  word: { type: 'VocabProperty', vocab: 'car' },
  wheels: { type: 'Property', value: [{ size: 17 }, { size: 17, note: 'new' }] },
  observed: { type: 'Property', value: { '@type': 'DateTime', '@value': '2026-01-31T12:00:00Z' } },
};

export const VEHICLE_KEY_VALUES: JsonObject = {
  id: 'urn:ngsi-ld:Vehicle:1',
  type: 'Vehicle',
  speed: 50,
  status: 'free',
  owner: 'urn:ngsi-ld:Person:1',
  location: { type: 'Point', coordinates: [13.4, 52.5] },
  title: { languageMap: { en: 'One', de: 'Eins' } },
  word: 'car',
  wheels: [{ size: 17 }, { size: 17, note: 'new' }],
  observed: '2026-01-31T12:00:00Z',
};

/** A wrong value, and its place; each independent of the others. */
export const MISTAKES: readonly (readonly [tokens: readonly string[], value: JsonValue])[] = [
  [['id'], 'no uri'],
  [['speed', 'value'], -3],
  [['speed', 'observedAt'], 'yesterday'],
  [['status', 'value'], 'ocupied'],
  [['owner', 'object'], 'nobody at all'],
  [['location', 'value', 'type'], 'Circle'],
  [['title', 'languageMap', 'en'], 'x'],
  [['word', 'vocab'], 'tram'],
  [['wheels', 'value', '0', 'size'], 1.5],
  [['wheels', 'value', '1', 'note'], 7],
  [['observed', 'value', '@value'], 'now'],
];

/** The value with another value at a place. */
export function withValue(value: JsonValue, tokens: readonly string[], other: JsonValue): JsonValue {
  const [token, ...rest] = tokens;
  if (token === undefined) return other;
  if (Array.isArray(value))
    return value.map((item: JsonValue, index) =>
      String(index) === token ? withValue(item, rest, other) : item,
    );
  if (!isObject(value)) throw new Error(`no way to ${token}`);
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [name, name === token ? withValue(held, rest, other) : held]),
  );
}

export function modelOf(schema: JsonObject, name = 'Vehicle'): Model {
  return prepareModel(name, schema);
}
