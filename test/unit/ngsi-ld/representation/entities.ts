import fc from 'fast-check';
import { type AttributeKind, VALUE_MEMBERS, WRAPPED_KINDS } from '../../../../sidecar/ngsi-ld/members.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  childAt,
} from '../../../../sidecar/shared/json/json.js';

/** An attribute, and its value in the form of its value member. */
export interface SampleAttribute {
  readonly name: string;
  readonly kind: AttributeKind;
  readonly content: JsonValue;
}

const uris = fc.nat(99).map((number) => `urn:ngsi-ld:Thing:${number}`);
const words = fc.constantFrom('free', 'Zürich', '2026-01-31', '');
const positions = fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }));
/** Names of members that mean nothing to NGSI-LD. */
const dataNames = fc.constantFrom('a', 'b', 'speed', '', '__proto__', 'constructor', '0', 'a/b~c');
const data: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(words, fc.integer(), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(dataNames, tie('value')), { maxLength: 3 }).map((members) => objectOf(members)),
  ),
})).value;

const contents: Readonly<Record<AttributeKind, fc.Arbitrary<JsonValue>>> = {
  Property: data,
  GeoProperty: fc.oneof(
    positions.map((coordinates) => ({ type: 'Point', coordinates })),
    fc
      .array(positions, { minLength: 2, maxLength: 4 })
      .map((coordinates) => ({ type: 'LineString', coordinates })),
  ),
  LanguageProperty: fc.dictionary(fc.constantFrom('en', 'de-AT', '@none'), words, { noNullPrototype: true }),
  VocabProperty: fc.oneof(words, fc.array(words, { maxLength: 2 })),
  JsonProperty: data.map((value) => ({ data: value })),
  ListProperty: fc.array(data, { maxLength: 3 }),
  Relationship: fc.oneof(uris, fc.array(uris, { minLength: 1, maxLength: 3 })),
  ListRelationship: fc.array(
    uris.map((object) => ({ object })),
    { maxLength: 3 },
  ),
};

const kinds = fc.constantFrom<AttributeKind>(
  ...(['Property', 'GeoProperty', 'LanguageProperty', 'VocabProperty', 'JsonProperty'] as const),
  ...(['ListProperty', 'Relationship', 'ListRelationship'] as const),
);
const names = fc.constantFrom(
  ...['speed', 'owner', 'location', 'Größe', 'ex:sign', '__proto__', 'constructor', '1', 'z'],
);

/** Attributes of one entity, of all kinds, with valid values. */
export const sampleAttributes: fc.Arbitrary<readonly SampleAttribute[]> = fc.uniqueArray(
  kinds.chain((kind) => fc.record({ name: names, kind: fc.constant(kind), content: contents[kind] })),
  { selector: ({ name }) => name, maxLength: 6 },
);

/** The members of an entity that are not attributes, and the given attributes. */
export function entityOf(attributes: Iterable<readonly [string, JsonValue]>): JsonObject {
  return objectOf([['id', 'urn:ngsi-ld:Vehicle:1'], ['type', 'Vehicle'], ['scope', '/a'], ...attributes]);
}

export function normalizedForm({ kind, content }: SampleAttribute): JsonObject {
  return { type: kind, [VALUE_MEMBERS[kind]]: content };
}

/** Each value as short as the concise form allows, if there is only one such form. */
export function conciseForm({ kind, content }: SampleAttribute): JsonValue {
  const isPlain = typeof content !== 'object';
  return (kind === 'Property' && isPlain) || kind === 'GeoProperty'
    ? content
    : { [VALUE_MEMBERS[kind]]: content };
}

export function keyValuesForm({ kind, content }: SampleAttribute): JsonValue {
  if (WRAPPED_KINDS.has(kind)) return { [VALUE_MEMBERS[kind]]: content };
  if (kind !== 'ListRelationship' || !Array.isArray(content)) return content;
  return content.map((item: JsonValue) => childAt(item, 'object') ?? item);
}

/** Returns the value at these tokens, or undefined if there is none. */
export function valueAt(root: JsonValue, tokens: readonly string[]): JsonValue | undefined {
  return tokens.reduce<JsonValue | undefined>((value, token) => childAt(value, token), root);
}

/** The tokens of every place in a value. */
export function placesIn(value: JsonValue): readonly (readonly string[])[] {
  if (!isArray(value) && !isObject(value)) return [[]];
  const below = Object.entries<JsonValue>(value).flatMap(([token, item]) =>
    placesIn(item).map((tokens) => [token, ...tokens]),
  );
  return [[], ...below];
}
