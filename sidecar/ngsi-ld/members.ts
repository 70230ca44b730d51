import { isNumber, type JsonObject, type JsonValue, omitMembers } from '../shared/json/json.js';

const CORE = 'https://uri.etsi.org/ngsi-ld/';

/** Attributes that the broker itself sets; every entity has them. */
const SYSTEM_ATTRIBUTES = ['createdAt', 'modifiedAt', 'deletedAt'];

/** Members that are not attributes (clause 5.2.4). */
const OTHER_MEMBERS = ['scope', 'expiresAt'];

/**
 * The members of an entity that are not its own attributes, by term and by IRI. A filter on these alone does not restrict
 * a purge (clause 5.6.21.4), and they cannot be removed as attributes.
 */
export const NON_ATTRIBUTE_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'type',
  '@id',
  '@type',
  '@context',
  ...[...SYSTEM_ATTRIBUTES, ...OTHER_MEMBERS].flatMap((name) => [name, `${CORE}${name}`]),
]);

/** The members of entities and attributes whose value is a time, by term and by IRI. */
export const TIME_MEMBERS: ReadonlySet<string> = new Set(
  [...SYSTEM_ATTRIBUTES, 'observedAt', 'expiresAt'].flatMap((name) => [name, `${CORE}${name}`]),
);

/** Stands for the instances of an attribute without a datasetId. */
export const DEFAULT_DATASET = '@none';

/** The text that deletes an attribute, or a member of its value (clause 4.5.0, NGSI-LD Null). */
export const NGSI_LD_NULL = 'urn:ngsi-ld:null';

/** The distance that a broker adds, as a plain number, to what a query with `georel=near` lists (Coraine). */
const DISTANCE = 'geoDistance';

/** Returns an entity that a broker listed in normalized form, without what the broker computed for the query. */
export function asStored(entity: JsonObject): JsonObject {
  return isNumber(entity[DISTANCE]) ? omitMembers(entity, new Set([DISTANCE])) : entity;
}

/** Returns the names of the attributes of an entity in normalized form, as written in the entity. */
export function attributeNames(entity: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(entity).filter(
    (name) => !NON_ATTRIBUTE_MEMBERS.has(name) && !(name === DISTANCE && isNumber(entity[name])),
  );
}

/**
 * Returns the names of the attributes of which a temporal evolution has instances. Some brokers also show those that have none
 * in the interval, as empty lists (Stellio before 2025).
 */
export function attributesWithInstances(evolution: Readonly<Record<string, unknown>>): readonly string[] {
  return attributeNames(evolution).filter((name) => [evolution[name]].flat().length > 0);
}

/** The types of attributes (ETSI GS CIM 009, clause 4.5), in the order in which messages list them. */
export const ATTRIBUTE_KINDS = [
  'Property',
  'GeoProperty',
  'LanguageProperty',
  'VocabProperty',
  'JsonProperty',
  'ListProperty',
  'Relationship',
  'ListRelationship',
] as const;

export type AttributeKind = (typeof ATTRIBUTE_KINDS)[number];

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
 * Kinds whose key-values form wraps the value in an object that has only the value's member (clause 4.5.4). Some models
 * describe that wrapping, others do not.
 */
export const WRAPPED_KINDS: ReadonlySet<AttributeKind> = new Set([
  'LanguageProperty',
  'VocabProperty',
  'JsonProperty',
]);

/** The kind of attribute whose value is in this member; `value` may also hold a geometry, which makes it a GeoProperty. */
export const KIND_BY_MEMBER: ReadonlyMap<string, AttributeKind> = new Map<string, AttributeKind>([
  ['value', 'Property'],
  ['object', 'Relationship'],
  ['languageMap', 'LanguageProperty'],
  ['vocab', 'VocabProperty'],
  ['json', 'JsonProperty'],
  ['valueList', 'ListProperty'],
  ['objectList', 'ListRelationship'],
]);

/** The kinds by the names of attribute types: their own, and the one that VocabProperty had in V1.7.1. */
export const KIND_BY_NAME: ReadonlyMap<string, AttributeKind> = new Map<string, AttributeKind>([
  ...ATTRIBUTE_KINDS.map((kind) => [kind, kind] as const),
  ['VocabularyProperty', 'VocabProperty'],
]);

const KIND_BY_TYPE: ReadonlyMap<JsonValue | undefined, AttributeKind> = new Map(
  [...KIND_BY_NAME].flatMap(([name, kind]) => [[name, kind] as const, [`${CORE}${name}`, kind] as const]),
);

/** Returns the kind that the `type` of an attribute names, as a term or as its IRI. */
export function kindOfType(type: JsonValue | undefined): AttributeKind | undefined {
  return KIND_BY_TYPE.get(type);
}
