/** What the embedded broker holds. Attribute bodies are normalized NGSI-LD (ETSI GS CIM 009 V1.9.1, clause 4.5). */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [member: string]: Json;
}

/** One instance of an attribute; its datasetId is a member of the body. Times are milliseconds since the epoch. */
export interface Instance {
  readonly body: JsonObject;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** An attribute by name, with one instance or more (at most one for each datasetId). */
export interface Attribute {
  readonly name: string;
  instances: readonly Instance[];
}

/** The content of an entity, as a client sends it; `A` is how its attributes are kept. */
export interface EntityContent<A = readonly Attribute[]> {
  readonly id: string;
  readonly types: readonly string[];
  readonly scopes: readonly string[];
  readonly attributes: A;
}

/** An entity in a store. `sequence` numbers entities in the order of their creation; `live` ends with deletion. */
export interface StoredEntity<A = readonly Attribute[]> {
  readonly id: string;
  readonly sequence: number;
  readonly createdAt: number;
  types: readonly string[];
  scopes: readonly string[];
  attributes: A;
  modifiedAt: number;
  live: boolean;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The items of an array; a single value as an array of one. */
export function itemsOf(value: Json): readonly Json[] {
  return isJsonArray(value) ? value : [value];
}

export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** An own member of an object; undefined for inherited names such as `constructor`. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The datasetId of an instance; undefined for the default instance. */
export function datasetIdOf(body: JsonObject): string | undefined {
  const datasetId = memberOf(body, 'datasetId');
  return typeof datasetId === 'string' && datasetId !== '@none' ? datasetId : undefined;
}
