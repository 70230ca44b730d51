/** A model with the size and shape of typical models for cities, its terms, and entities for it. */

const URI = { type: 'string', format: 'uri' } as const;
const DATE_TIME = { type: 'string', format: 'date-time' } as const;
const CATEGORIES = ['public', 'private', 'underground', 'ground', 'feeCharged', 'free', 'barrierAccess'];

const position = { type: 'array', minItems: 2, items: { type: 'number' } } as const;
const ring = { type: 'array', minItems: 4, items: position } as const;

const geometry = (type: string, coordinates: object) => ({
  type: 'object',
  title: `GeoJSON ${type}`,
  required: ['type', 'coordinates'],
  properties: { type: { type: 'string', enum: [type] }, coordinates },
});

export const PARKING_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Parking',
  type: 'object',
  allOf: [
    {
      properties: {
        id: { anyOf: [{ type: 'string', minLength: 1, maxLength: 256 }, URI] },
        name: { type: 'string', description: 'Property. The name of this item' },
        description: { type: 'string', description: 'Property. A description of this item' },
        owner: { type: 'array', description: 'Relationship. Who owns it', items: URI },
        dateModified: { ...DATE_TIME, description: 'Property. When it was changed' },
        location: {
          description: 'GeoProperty. Where it is',
          oneOf: [
            geometry('Point', position),
            geometry('LineString', { type: 'array', minItems: 2, items: position }),
            geometry('Polygon', { type: 'array', items: ring }),
            geometry('MultiPoint', { type: 'array', items: position }),
            geometry('MultiPolygon', { type: 'array', items: { type: 'array', items: ring } }),
          ],
        },
        address: {
          type: 'object',
          description: 'Property. Its mailing address',
          properties: {
            addressLocality: { type: 'string' },
            addressCountry: { type: 'string' },
            streetAddress: { type: 'string' },
            postalCode: { type: 'string' },
          },
        },
      },
    },
    {
      properties: {
        type: { type: 'string', enum: ['Parking'] },
        category: {
          type: 'array',
          minItems: 1,
          uniqueItems: true,
          description: 'Property. What it is like',
          items: { type: 'string', enum: CATEGORIES },
        },
        layout: {
          type: 'array',
          description: 'Property. How it is laid out',
          items: { type: 'string', enum: ['multiStorey', 'singleLevel', 'underground', 'openSpace'] },
        },
        totalSpotNumber: { type: 'integer', minimum: 1, description: 'Property. Spots in all' },
        availableSpotNumber: { type: 'integer', minimum: 0, description: 'Property. Spots that are free' },
        maximumParkingDuration: { type: 'string', description: 'Property. ISO 8601 duration' },
        priceRatePerMinute: { type: 'number', minimum: 0, description: 'Property. What it costs' },
        openingHours: { type: 'string', description: 'Property. When it is open' },
        refParkingSpot: { type: 'array', items: URI, description: 'Relationship. Its spots' },
        observationDateTime: { ...DATE_TIME, description: 'Property. When it was observed' },
      },
    },
  ],
  required: ['id', 'type', 'category', 'location'],
} as const;

const NAMES = [
  ...Object.keys(PARKING_SCHEMA.allOf[0].properties),
  ...Object.keys(PARKING_SCHEMA.allOf[1].properties),
  'addressLocality',
  'addressCountry',
  'streetAddress',
  'postalCode',
  'Parking',
].filter((name) => !['id', 'type', 'location', 'name', 'description'].includes(name));

/** A context for its names. */
export const PARKING_TERMS: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.map((name) => [name, `https://city.example/terms/${name}`]),
);

/** Returns a normalized entity of about 2 KB; the same number always gives the same entity. */
export function parkingEntity(number: number): Readonly<Record<string, unknown>> {
  const observedAt = '2026-11-21T10:00:00Z';
  const property = (value: unknown) => ({ type: 'Property', value });
  return {
    id: `urn:ngsi-ld:Parking:${number}`,
    type: 'Parking',
    name: property(`Parking of the ${number}th district`),
    description: property(
      'A garage with three levels below the square, and a lift that works most of the time.',
    ),
    owner: { type: 'Relationship', object: [`urn:ngsi-ld:Owner:${number % 7}`, 'urn:ngsi-ld:Owner:city'] },
    dateModified: property({ '@type': 'DateTime', '@value': '2026-11-20T08:15:00Z' }),
    location: {
      type: 'GeoProperty',
      value: {
        type: 'Polygon',
        coordinates: [
          [
            [4.35 + number / 1e4, 50.85],
            [4.36 + number / 1e4, 50.85],
            [4.36 + number / 1e4, 50.86],
            [4.35 + number / 1e4, 50.85],
          ],
        ],
      },
    },
    address: property({
      addressLocality: 'Brussels',
      addressCountry: 'BE',
      streetAddress: `Rue de la Gare ${number % 200}`,
      postalCode: `1${number % 1000}`,
    }),
    category: property(['public', 'underground', 'feeCharged']),
    layout: property(['multiStorey', 'underground']),
    totalSpotNumber: { ...property(400), observedAt },
    availableSpotNumber: { ...property(number % 400), observedAt, unitCode: 'C62' },
    maximumParkingDuration: property('PT8H'),
    priceRatePerMinute: property(0.04),
    openingHours: property('Mo-Su 06:00-24:00'),
    refParkingSpot: {
      type: 'Relationship',
      object: [1, 2, 3].map((spot) => `urn:ngsi-ld:ParkingSpot:${number}:${spot}`),
    },
    observationDateTime: property(observedAt),
  };
}
