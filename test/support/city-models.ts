/**
 * Eight models of a city, made like public ones: each refers to shared documents and describes some
 * attributes of its own. Their entities can violate them in five ways.
 */

const COMMON = 'https://city.example/data-models/common-schema.json';
const SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

const NUMBERS = { type: 'array', minItems: 2, items: { type: 'number' } };
const geometry = (type: string, coordinates: object) => ({
  type: 'object',
  properties: { type: { enum: [type] }, coordinates },
  required: ['type', 'coordinates'],
});

const IDENTIFIER = {
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 256, pattern: '^[\\w\\-.{}$+*\\[\\]`|~^@!,:\\\\]+$' },
    { type: 'string', format: 'uri' },
  ],
};

const COMMON_DOCUMENT = {
  $schema: SCHEMA,
  $id: COMMON,
  definitions: {
    Thing: {
      type: 'object',
      properties: {
        id: { $ref: '#/definitions/Identifier' },
        name: { type: 'string' },
        description: { type: 'string' },
        dateModified: { type: 'string', format: 'date-time' },
        owner: { type: 'array', items: { $ref: '#/definitions/Identifier' } },
        seeAlso: {
          oneOf: [
            { type: 'array', minItems: 1, items: { type: 'string', format: 'uri' } },
            { type: 'string', format: 'uri' },
          ],
        },
      },
    },
    Place: {
      type: 'object',
      properties: {
        location: {
          oneOf: [
            geometry('Point', NUMBERS),
            geometry('LineString', { type: 'array', minItems: 2, items: NUMBERS }),
          ],
        },
        address: { type: 'object', properties: { addressLocality: { type: 'string' } } },
      },
    },
    Identifier: IDENTIFIER,
  },
};

interface CityModel {
  readonly type: string;
  /** The schemas of its own attributes. */
  readonly properties: Readonly<Record<string, object>>;
  /** A required attribute. */
  readonly required: string;
  /** Valid values of attributes. */
  readonly values: Readonly<Record<string, unknown>>;
  /** An invalid value of one of them. */
  readonly outside: readonly [attribute: string, value: unknown];
}

const at = { type: 'string', format: 'date-time' };
const share = { type: 'number', minimum: 0, maximum: 1 };
const NOON = '2026-05-01T12:00:00Z';

const MODELS: readonly CityModel[] = [
  {
    type: 'Streetlight',
    properties: {
      status: { type: 'string', enum: ['ok', 'defectiveLamp'] },
      powerState: { enum: ['on', 'off'] },
      lanternHeight: { type: 'number', minimum: 0 },
      dateLastLampChange: at,
    },
    required: 'location',
    values: { status: 'ok', powerState: 'on', lanternHeight: 7.5, dateLastLampChange: NOON },
    outside: ['status', 'dark'],
  },
  {
    type: 'WasteContainer',
    properties: {
      fillingLevel: share,
      category: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['fixed', 'ground'] } },
      storedWasteKind: { type: 'string', enum: ['glass', 'paper'] },
    },
    required: 'location',
    values: { fillingLevel: 0.5, category: ['fixed'], storedWasteKind: 'glass' },
    outside: ['fillingLevel', 50],
  },
  {
    type: 'ParkingSpot',
    properties: { status: { enum: ['free', 'occupied'] }, width: { type: 'number', minimum: 0 } },
    required: 'location',
    values: { status: 'free', width: 2.5 },
    outside: ['width', -2],
  },
  {
    type: 'OffStreetParking',
    properties: {
      occupancy: share,
      availableSpotNumber: { type: 'integer', minimum: 0 },
      totalSpotNumber: { type: 'integer', minimum: 1 },
    },
    required: 'location',
    values: { occupancy: 0.25, availableSpotNumber: 30, totalSpotNumber: 40 },
    outside: ['totalSpotNumber', 0],
  },
  {
    type: 'Building',
    properties: {
      category: { type: 'array', items: { enum: ['apartments', 'barn'] } },
      floorsAboveGround: { type: 'integer' },
      collapseRisk: share,
    },
    required: 'address',
    values: { category: ['barn'], floorsAboveGround: 3, collapseRisk: 0.1 },
    outside: ['category', ['barn', 'boat']],
  },
  {
    type: 'Device',
    properties: {
      controlledProperty: { type: 'array', minItems: 1, items: { enum: ['temperature', 'humidity'] } },
      batteryLevel: { oneOf: [share, { const: -1 }] },
      serialNumber: { type: 'string' },
    },
    required: 'controlledProperty',
    values: { controlledProperty: ['temperature'], batteryLevel: 0.75, serialNumber: '9845A' },
    outside: ['batteryLevel', 75],
  },
  {
    type: 'WeatherObserved',
    properties: { dateObserved: at, precipitation: { type: 'number', minimum: 0 } },
    required: 'location',
    values: { dateObserved: NOON, precipitation: 0 },
    outside: ['precipitation', -1],
  },
  {
    type: 'AirQualityObserved',
    properties: { dateObserved: at, airQualityIndex: { type: 'integer', minimum: 0 }, reliability: share },
    required: 'location',
    values: { dateObserved: NOON, airQualityIndex: 65, reliability: 0.9 },
    outside: ['reliability', 7],
  },
];

export const CITY_TYPES = MODELS.map(({ type }) => type);

/** The body of `POST /api/v2/import?domain=City`. */
export const CITY_DOCUMENTS: Readonly<Record<string, object>> = {
  [COMMON]: COMMON_DOCUMENT,
  ...Object.fromEntries(
    MODELS.map(({ type, properties, required }) => [
      `${type}/schema.json`,
      {
        $schema: SCHEMA,
        $id: `https://city.example/models/${type}/schema.json`,
        type: 'object',
        allOf: [
          { $ref: `${COMMON}#/definitions/Thing` },
          { $ref: `${COMMON}#/definitions/Place` },
          { properties: { type: { type: 'string', enum: [type] }, ...properties } },
        ],
        required: ['id', 'type', required],
      },
    ]),
  ),
};

/** How an entity violates its model: by a missing attribute, or by the value of one. */
const WAYS = ['lacks', 'name', 'dateModified', 'location', 'outside'] as const;

export type Way = (typeof WAYS)[number];

type Attribute = Readonly<Record<string, unknown>>;

export interface CityEntity {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** Undefined for a valid entity. */
  readonly way: Way | undefined;
  /** The attribute that is invalid or missing; for a valid entity, one that may change. */
  readonly about: string;
}

const WRONG: Readonly<Partial<Record<Way, unknown>>> = {
  name: 4711,
  dateModified: 'yesterday',
  location: 'in the west',
};

/** The entities of a city. The invalid ones are evenly spread and have all kinds of faults. */
export class City {
  readonly size: number;
  readonly broken: number;

  constructor(size: number, broken: number) {
    this.size = size;
    this.broken = broken;
  }

  /** @param index from 0 */
  entity(index: number): CityEntity {
    const model = MODELS[index % MODELS.length];
    if (model === undefined) throw new RangeError(`There is no entity ${index}.`);
    const { type, required, values, outside } = model;
    const before = Math.floor((index * this.broken) / this.size);
    const isBroken = Math.floor(((index + 1) * this.broken) / this.size) > before;
    const way = isBroken ? WAYS[before % WAYS.length] : undefined;
    const about =
      way === undefined ? 'name' : way === 'lacks' ? required : way === 'outside' ? outside[0] : way;
    const given: Readonly<Record<string, unknown>> = {
      name: `Straße ${index}`,
      description: 'As it is found in the city. '.repeat(8),
      dateModified: NOON,
      owner: [`urn:ngsi-ld:Owner:${index % 9}`],
      seeAlso: 'https://city.example/',
      location: { type: 'Point', coordinates: [13.4, 52.5] },
      address: { addressLocality: 'Berlin' },
      ...values,
      ...(way === undefined ? {} : { [about]: way === 'outside' ? outside[1] : WRONG[way] }),
    };
    const attributes = Object.fromEntries(
      Object.entries(given)
        .filter(([name]) => way !== 'lacks' || name !== about)
        .map(([name, value]) => [
          name,
          { type: name === 'location' && way !== 'location' ? 'GeoProperty' : 'Property', value },
        ]),
    );
    return { id: `urn:ngsi-ld:${type}:${index}`, type, attributes, way, about };
  }

  all(): readonly CityEntity[] {
    return Array.from({ length: this.size }, (_, index) => this.entity(index));
  }
}

/** Returns an entity in the form in which it is written as a whole. */
export function whole({ id, type, attributes }: CityEntity): object {
  return { id, type, ...attributes };
}

/** Returns the attribute with the fault; a missing attribute is deleted. */
export function partOf({ attributes, about }: CityEntity): Attribute {
  return attributes[about] ?? { type: 'Property', value: 'urn:ngsi-ld:null' };
}
