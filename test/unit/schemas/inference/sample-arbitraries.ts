import fc from 'fast-check';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
  stringsOf,
} from '../../../../sidecar/shared/json/json.js';
import { namedSchemasIn, schemaIn, schemasIn } from '../../../../sidecar/schemas/json-schema/flatten.js';

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
  uri: [
    'urn:ngsi-ld:A:1',
    'https://example.org/a?b#c',
    'mailto:a@example.org',
    'urn:uuid:9830f692-7677-11e6-838b-4f9fb3dc5a4f',
    'A:1',
    'Mo-Fr:08:00',
    'fe80::1',
  ],
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

/** Documents that an inferred schema describes: without members or items about which the schema says nothing. */
export function describedBy(schema: JsonObject, root: JsonObject = schema): fc.Arbitrary<JsonValue> {
  const ref = member(schema, '$ref');
  const target =
    typeof ref === 'string' ? namedSchemasIn(root, '$defs').get(ref.replace('#/$defs/', '')) : undefined;
  if (isObject(target)) return describedBy(target, root);
  const branches = schemasIn(schema, 'anyOf').filter(isObject);
  if (branches.length > 0) return fc.oneof(...branches.map((branch) => describedBy(branch, root)));
  const listed = member(schema, 'enum');
  if (isArray(listed)) return fc.constantFrom(...listed);
  const only = member(schema, 'const');
  if (only !== undefined) return fc.constant(only);
  const type = member(schema, 'type');
  const types = typeof type === 'string' ? [type] : stringsOf(type);
  return types.length === 0 ? scalars : fc.oneof(...types.map((name) => ofType(name, schema, root)));
}

function ofType(type: string, schema: JsonObject, root: JsonObject): fc.Arbitrary<JsonValue> {
  switch (type) {
    case 'object':
      return objectsOf(schema, root);
    case 'array': {
      const [items, contained] = [schemaIn(schema, 'items'), schemaIn(schema, 'contains')];
      if (!isObject(items)) return fc.constant([]);
      const least = Number(member(schema, 'minItems') ?? 0);
      const any = fc.array(describedBy(items, root), { minLength: least, maxLength: Math.max(2, least) });
      if (!isObject(contained)) return any;
      return fc.tuple(describedBy(contained, root), any).map(([one, others]) => [one, ...others]);
    }
    case 'string': {
      const format = member(schema, 'format');
      const good = typeof format === 'string' ? OF_FORMAT[format] : undefined;
      return good === undefined ? strings : fc.constantFrom(...good);
    }
    case 'integer':
      return integers;
    case 'number':
      return fc.oneof(integers, fractions);
    case 'boolean':
      return fc.boolean();
    default:
      return fc.constant(null);
  }
}

function objectsOf(schema: JsonObject, root: JsonObject): fc.Arbitrary<JsonObject> {
  const required = stringsOf(member(schema, 'required'));
  const named = [...namedSchemasIn(schema, 'properties')].map(([name, inner]) => {
    const value = isObject(inner) ? describedBy(inner, root) : scalars;
    const entry = fc.tuple(fc.constant(name), value).map((one) => [one]);
    return required.includes(name) ? entry : fc.oneof(entry, fc.constant([]));
  });
  const others = schemaIn(schema, 'additionalProperties');
  const extra = isObject(others)
    ? fc.array(fc.tuple(fc.constantFrom('en', 'fr'), describedBy(others, root)), { maxLength: 2 })
    : fc.constant([]);
  return fc.tuple(extra, ...named).map((entries) => objectOf(entries.flat()));
}
