import type { AttributeKind } from '../json-schema/attributes.js';

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
