import type { AttributeKind } from './attribute-kinds.js';
import type { JsonValue } from '../shared/json/json.js';

/** The member that holds the value of an attribute of each kind (ETSI GS CIM 009 V1.9.1, clause 4.5). */
export const VALUE_MEMBERS: Readonly<Record<AttributeKind, string>> = {
  Property: 'value',
  GeoProperty: 'value',
  LanguageProperty: 'languageMap',
  VocabProperty: 'vocab',
  JsonProperty: 'json',
  ListProperty: 'valueList',
  Relationship: 'object',
  ListRelationship: 'objectList',
};

/**
 * Kinds whose key-values form wraps the value in an object with the value's member (clause 4.5.4). Models are written
 * with and without that wrapping.
 */
export const WRAPPED_KINDS: ReadonlySet<AttributeKind> = new Set([
  'LanguageProperty',
  'VocabProperty',
  'JsonProperty',
]);

/** The kind of attribute that has its value in this member; `value` can also be that of a GeoProperty, by its content. */
export const KIND_OF_MEMBER: ReadonlyMap<string, AttributeKind> = new Map<string, AttributeKind>([
  ['value', 'Property'],
  ['object', 'Relationship'],
  ['languageMap', 'LanguageProperty'],
  ['vocab', 'VocabProperty'],
  ['json', 'JsonProperty'],
  ['valueList', 'ListProperty'],
  ['objectList', 'ListRelationship'],
]);

/** All kinds, as messages list them. */
export const KIND_NAMES: readonly AttributeKind[] = [
  ...(['Property', 'GeoProperty', 'LanguageProperty', 'VocabProperty', 'JsonProperty'] as const),
  ...(['ListProperty', 'Relationship', 'ListRelationship'] as const),
];

const CORE = 'https://uri.etsi.org/ngsi-ld/';

const KINDS: ReadonlyMap<JsonValue | undefined, AttributeKind> = new Map(
  KIND_NAMES.flatMap((kind) => [[kind, kind] as const, [`${CORE}${kind}`, kind] as const]),
);

/** The kind that the `type` of an attribute names, as a term or as its IRI. */
export function kindNamed(type: JsonValue | undefined): AttributeKind | undefined {
  return KINDS.get(type);
}
