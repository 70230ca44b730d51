/** The data model of the embedded broker. Attribute bodies are normalized NGSI-LD (ETSI GS CIM 009 V1.9.1, clause 4.5). */
import { isUri as isUriOfAnyLength } from '../ngsi-ld/names.js';
import { type JsonObject, member } from '../shared/json/json.js';

/** One instance of an attribute; its datasetId is a member of the body. Times are milliseconds since the epoch. */
export interface Instance {
  readonly body: JsonObject;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** An attribute with its name and one or more instances (at most one per datasetId). */
export interface Attribute {
  readonly name: string;
  instances: readonly Instance[];
}

/** The content of an entity, as sent by a client; `A` is the type in which its attributes are stored. */
export interface EntityContent<A = readonly Attribute[]> {
  readonly id: string;
  readonly types: readonly string[];
  readonly scopes: readonly string[];
  readonly attributes: A;
}

/** An entity in a store. `sequence` is its number in creation order. */
export interface StoredEntity<A = readonly Attribute[]> {
  readonly id: string;
  readonly sequence: number;
  readonly createdAt: number;
  types: readonly string[];
  scopes: readonly string[];
  attributes: A;
  modifiedAt: number;
}

/** Returns the datasetId of an instance; undefined for the default instance. */
export function datasetIdOf(body: JsonObject): string | undefined {
  const datasetId = member(body, 'datasetId');
  return typeof datasetId === 'string' && datasetId !== '@none' ? datasetId : undefined;
}

/**
 * Names in the form that the embedded broker stores.
 *
 * The broker resolves no @context except the core one: a short name equals its IRI in the default context, and all
 * other names are compared as written. A `Link` to another @context is accepted and has no effect.
 */

const DEFAULT_CONTEXT = 'https://uri.etsi.org/ngsi-ld/default-context/';
export const CORE_CONTEXT = 'https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.9.jsonld';

const FORBIDDEN_IN_NAME = /[<>"'=;(),|*\s\u0000-\u001f\u007f]/u;
const MAX_NAME_LENGTH = 2048;

/** Names of NGSI-LD or JSON-LD that are never attribute names. */
export const NOT_ATTRIBUTES: ReadonlySet<string> = new Set([
  'id', 'type', 'scope', '@id', '@type', '@context', 'createdAt', 'modifiedAt', 'deletedAt',
]); // oxfmt-ignore

/** Returns the short name of an IRI in the default context; any other name unchanged. */
export function canonicalName(name: string): string {
  return name.startsWith(DEFAULT_CONTEXT) && name.length > DEFAULT_CONTEXT.length
    ? name.slice(DEFAULT_CONTEXT.length)
    : name;
}

export function isName(name: string): boolean {
  return name !== '' && name.length <= MAX_NAME_LENGTH && !FORBIDDEN_IN_NAME.test(name);
}

export function isAttributeName(name: string): boolean {
  return isName(name) && !NOT_ATTRIBUTES.has(name);
}

export function isUri(text: unknown): text is string {
  return isUriOfAnyLength(text) && text.length <= MAX_NAME_LENGTH;
}

/** Whether the broker sets this attribute itself. Such attributes can be compared, but do not narrow a query (clause 5.7.2.4). */
export function isSystemAttribute(name: string): boolean {
  return name === 'createdAt' || name === 'modifiedAt' || name === 'deletedAt';
}
