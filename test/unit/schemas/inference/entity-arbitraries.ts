import fc from 'fast-check';
import { type AttributeKind, VALUE_MEMBERS, WRAPPED_KINDS } from '../../../../sidecar/ngsi-ld/members.js';
import { isObject, type JsonObject, type JsonValue, objectOf } from '../../../../sidecar/shared/json/json.js';
import { words } from '../../../support/words.js';

/** One value of an attribute, independent of representations. */
interface Attribute {
  readonly name: string;
  readonly kind: AttributeKind;
  /** The content of the value member: of one instance, or of several. */
  readonly values: readonly [JsonValue, ...JsonValue[]];
  readonly unitCode?: string;
}

/** An entity that can be written in each representation. */
export interface EntityDraft {
  readonly type: string | readonly string[];
  readonly attributes: readonly Attribute[];
}

const texts = fc.constantFrom(
  ...words('on off 2024-01-01 2024-01-01T00:00:00Z https://example.org/ fe80::1'),
);
const uris = fc.constantFrom('urn:ngsi-ld:A:1', 'urn:ngsi-ld:B:2', 'A:1', 'https://example.org/', 'fe80::1');
const scalars: fc.Arbitrary<JsonValue> = fc.oneof(texts, fc.integer(), fc.constant(0.5), fc.boolean());
const plainObjects: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom('a', 'b', 'constructor'),
  scalars,
  { noNullPrototype: true },
);
const languageMaps = fc.dictionary(
  fc.constantFrom('en', 'de'),
  fc.oneof(texts, fc.array(texts, { minLength: 1 })),
  { minKeys: 1, noNullPrototype: true },
);

/** Values of each kind that no representation takes for anything else. */
const VALUES: Readonly<Record<AttributeKind, fc.Arbitrary<JsonValue>>> = {
  Property: fc.oneof(scalars, plainObjects, fc.array(scalars, { minLength: 1, maxLength: 3 })),
  GeoProperty: fc.constantFrom<JsonValue>(
    { type: 'Point', coordinates: [13.4, 52.5] },
    { type: 'Point', coordinates: [13, 52, 7] },
    { type: 'MultiPoint', coordinates: [[1, 2]] },
    {
      type: 'LineString',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [0, 1],
          [1, 1],
          [0, 0],
        ],
      ],
    },
  ),
  Relationship: fc.oneof(uris, fc.uniqueArray(uris, { minLength: 1, maxLength: 2 })),
  LanguageProperty: languageMaps,
  VocabProperty: fc.oneof(texts, fc.uniqueArray(texts, { minLength: 1, maxLength: 2 })),
  JsonProperty: fc.oneof(plainObjects, fc.array(plainObjects, { minLength: 1, maxLength: 2 })),
  ListProperty: fc.array(scalars, { minLength: 1, maxLength: 3 }),
  ListRelationship: fc.array(
    uris.map((object) => ({ object })),
    { minLength: 1, maxLength: 2 },
  ),
};
const KINDS = Object.keys(VALUES).filter((kind): kind is AttributeKind => Object.hasOwn(VALUES, kind));

function attributeNamed(name: string): fc.Arbitrary<Attribute> {
  return fc.constantFrom(...KINDS).chain((kind) =>
    fc
      .tuple(
        VALUES[kind],
        fc.array(VALUES[kind], { maxLength: 2 }),
        fc.option(fc.constantFrom('CEL', 'FAR'), { nil: undefined }),
      )
      .map(([first, others, unitCode]) => ({
        name,
        kind,
        values: [first, ...others] as const,
        ...(unitCode !== undefined && kind === 'Property' && { unitCode }),
      })),
  );
}

/** Few names; the same name may be of several kinds in several entities. */
const NAMES = ['speed', 'owner', 'place', 'constructor'] as const;

export function entityDrafts(type: EntityDraft['type']): fc.Arbitrary<EntityDraft> {
  return fc
    .subarray([...NAMES])
    .chain((names) => fc.tuple(...names.map(attributeNamed)))
    .map((attributes) => ({ type, attributes }));
}

export function normalized(draft: EntityDraft): JsonObject {
  return written(draft, ({ kind, values, unitCode }) =>
    instances(values, (value) => ({
      type: kind,
      [VALUE_MEMBERS[kind]]: value,
      ...(unitCode && { unitCode }),
    })),
  );
}

export function concise(draft: EntityDraft): JsonObject {
  return written(draft, ({ kind, values, unitCode }) =>
    instances(values, (value) => ({ [VALUE_MEMBERS[kind]]: value, ...(unitCode && { unitCode }) })),
  );
}

/** The first instances, by their values only. */
export function keyValues(draft: EntityDraft): JsonObject {
  return written(draft, ({ kind, values: [value] }) => {
    if (WRAPPED_KINDS.has(kind)) return { [VALUE_MEMBERS[kind]]: value };
    const isList = kind === 'ListRelationship' && Array.isArray(value);
    return isList
      ? value.map((item: JsonValue) => (isObject(item) ? (item['object'] ?? item) : item))
      : value;
  });
}

function written({ type, attributes }: EntityDraft, write: (attribute: Attribute) => JsonValue): JsonObject {
  return objectOf([
    ['id', 'urn:ngsi-ld:Vehicle:1'],
    ['type', type],
    ...attributes.map((attribute) => [attribute.name, write(attribute)] as const),
  ]);
}

function instances(
  [first, ...others]: Attribute['values'],
  write: (value: JsonValue) => JsonObject,
): JsonValue {
  if (others.length === 0) return write(first);
  const further = others.map((value, index) => ({
    ...write(value),
    datasetId: `urn:ngsi-ld:Dataset:${index}`,
  }));
  return [write(first), ...further];
}
