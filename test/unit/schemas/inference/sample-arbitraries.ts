import fc from 'fast-check';
import { type JsonObject, type JsonValue, objectOf } from '../../../../sidecar/shared/json/json.js';
import { words } from '../../../support/words.js';

/** Few names, so that samples have some in common, including names that every object inherits. */
const NAMES = ['id', 'type', 'a', 'b', '', '__proto__', 'constructor', '$ref', 'a/b~c', 'ü', '10'] as const;

/** Strings that each format accepts, though some do not resemble it. */
const OF_FORMAT: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2024-02-29T10:00:00Z', '2024-01-01T10:00:00.5+01:00'],
  date: ['2024-02-29', '0001-01-01'],
  time: ['10:00:00Z', '23:59:60Z'],
  uuid: ['9830f692-7677-11e6-838b-4f9fb3dc5a4f', '9830F692-7677-11E6-838B-4F9FB3DC5A4F'],
  email: ['a@example.org', "o'hara/x@example.org"],
  ipv4: ['192.0.2.1', '0.0.0.0'],
  ipv6: ['2001:db8::1', '::', 'fe80::1'],
  uri: words(`
    urn:ngsi-ld:A:1 https://example.org/a?b#c mailto:a@example.org
    urn:uuid:9830f692-7677-11e6-838b-4f9fb3dc5a4f A:1 Mo-Fr:08:00 fe80::1
  `),
};
const FORMATTED = Object.values(OF_FORMAT).flat();
const strings = fc.oneof(
  fc.constantFrom(...FORMATTED),
  fc.constantFrom('', 'x', 'y', '2024-02-30', '12:30', 'Vehicle', 'a'.repeat(65), '\uD83D\uDE00', '\uD800'),
  fc.string({ unit: 'grapheme' }),
);
const fractions = fc.constantFrom(0.5, -1.25, 5e-324);
const integers = fc.constantFrom(0, -0, 1, 1e300, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER);

const position: fc.Arbitrary<JsonValue> = fc.array(fc.oneof(fractions, integers), {
  minLength: 2,
  maxLength: 3,
});
const SINGLE_GEOMETRIES: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
  Point: position,
  MultiPoint: fc.array(position, { maxLength: 2 }),
  LineString: fc.array(position, { minLength: 2, maxLength: 3 }),
  MultiLineString: fc.array(fc.array(position, { minLength: 2, maxLength: 2 }), { maxLength: 2 }),
  Polygon: fc.array(fc.array(position, { minLength: 4, maxLength: 4 }), { maxLength: 2 }),
  MultiPolygon: fc.array(fc.array(fc.array(position, { minLength: 4, maxLength: 4 })), { maxLength: 1 }),
};
const singleGeometries: fc.Arbitrary<JsonObject> = fc.oneof(
  ...Object.entries(SINGLE_GEOMETRIES).map(([type, coordinates]) =>
    fc.record({ type: fc.constant(type), coordinates }),
  ),
);
export const geometries: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 4, arbitrary: singleGeometries },
  fc.record({
    type: fc.constant('GeometryCollection'),
    geometries: fc.array(singleGeometries, { maxLength: 2 }),
  }),
);

/** Objects that are nearly, but not quite, well-known ones. */
const impostors: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { type: 'Point' },
  { type: 'Point', coordinates: ['1', '2'] },
  { type: 'Polygon', coordinates: [[1, 2]] },
  { type: 'GeometryCollection', geometries: [{ type: 'GeometryCollection', geometries: [] }] },
  { languageMap: 'x' },
  { languageMap: { en: 1 } },
  { languageMap: { en: 'x' }, other: 1 },
);

const languageMaps: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.constantFrom('en', 'de', '@none'), fc.oneof(strings, fc.array(strings, { maxLength: 2 })), {
    maxKeys: 2,
    noNullPrototype: true,
  })
  .map((languageMap) => ({ languageMap }));

const scalars: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  integers,
  fractions,
  strings,
);

const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalars,
    geometries,
    languageMaps,
    impostors,
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie('value')), {
      maxLength: 4,
      selector: ([name]) => name,
    })
    .map((entries) => objectOf(entries)),
}));

/** Objects of arbitrary JSON: with few names and well-known values, or with any. */
const samples: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 4, arbitrary: object },
  fc
    .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
    .map((any) => objectOf(Object.entries(any) as never)),
);

export const sampleLists: fc.Arbitrary<readonly JsonObject[]> = fc.array(samples, {
  minLength: 1,
  maxLength: 4,
});
