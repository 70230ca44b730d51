import { type JsonObject, type JsonValue, isObject, member, itemsOf } from '../shared/json/json.js';
import { isScope } from '../ngsi-ld/representation/names.js';
import { readInstances, readInstance } from './attribute-input.js';
import {
  type Attribute,
  type EntityContent,
  type Instance,
  canonicalName,
  isAttributeName,
  isName,
  isUri,
  NOT_ATTRIBUTES,
} from './model.js';
import { refusals } from './refusal.js';

/** Parts of an entity, as sent in an update; an absent part is undefined. */
export interface EntityFragment {
  readonly id: string | undefined;
  readonly types: readonly string[] | undefined;
  readonly scopes: readonly string[] | undefined;
  /** Attributes by canonical name, not yet parsed: a merge patch may contain only part of an attribute. */
  readonly attributes: readonly (readonly [name: string, input: JsonValue])[];
}

/**
 * Reads an entity (clause 5.2.4), normalized or concise. System attributes in it are ignored.
 *
 * @param now milliseconds since the epoch, for createdAt and modifiedAt of the attributes
 * @throws Refusal BadRequestData
 */
export function readEntity(input: unknown, now: number): EntityContent {
  const fragment = readFragment(input);
  if (fragment.id === undefined) throw refusals.badRequest('An entity needs an id');
  if (fragment.types === undefined) throw refusals.badRequest(`Entity ${fragment.id} needs a type`);
  return {
    id: fragment.id,
    types: fragment.types,
    scopes: fragment.scopes ?? [],
    attributes: fragment.attributes.map(([name, value]) => newAttribute(name, value, now)),
  };
}

/** Reads the parts of an entity that an update contains. @throws Refusal BadRequestData */
export function readFragment(input: unknown): EntityFragment {
  if (!isObject(input)) throw refusals.badRequest('An entity must be a JSON object');
  const attributes: [string, JsonValue][] = [];
  for (const [member, value] of Object.entries(input)) {
    if (NOT_ATTRIBUTES.has(member)) continue;
    const name = canonicalName(member);
    if (!isAttributeName(name)) throw refusals.badRequest('An attribute has a forbidden name');
    attributes.push([name, value]);
  }
  return { id: readId(input), types: readTypes(input), scopes: readScopes(input), attributes };
}

/** Makes a new attribute with all its instances. */
export function newAttribute(name: string, input: JsonValue, now: number): Attribute {
  return { name, instances: readInstances(name, input).map((body) => newInstance(body, now)) };
}

export function newInstance(body: JsonObject, now: number): Instance {
  return { body, createdAt: now, modifiedAt: now };
}

function readId(input: JsonObject): string | undefined {
  const id = member(input, 'id') ?? member(input, '@id');
  if (id === undefined) return undefined;
  if (!isUri(id)) throw refusals.badRequest('The id of an entity must be a URI');
  return id;
}

function readTypes(input: JsonObject): readonly string[] | undefined {
  const given = member(input, 'type') ?? member(input, '@type');
  if (given === undefined) return undefined;
  const types = stringsOf(given)?.map(canonicalName);
  if (types === undefined || types.length === 0 || !types.every(isName)) {
    throw refusals.badRequest('The type of an entity must be a name, or an array of names');
  }
  return [...new Set(types)];
}

function readScopes(input: JsonObject): readonly string[] | undefined {
  const given = member(input, 'scope');
  if (given === undefined) return undefined;
  const scopes = stringsOf(given);
  if (scopes === undefined || !scopes.every(isScope)) {
    throw refusals.badRequest('A scope must look like /Madrid/Gardens, or be an array of such');
  }
  return scopes.map((scope) => (scope.startsWith('/') ? scope : `/${scope}`));
}

function stringsOf(value: JsonValue): readonly string[] | undefined {
  const items = itemsOf(value);
  return items.every((item) => typeof item === 'string') ? items : undefined;
}

/** A temporal entity, or a part of one, as a client sends it: instances by attribute. */
export interface TemporalContent {
  readonly id: string;
  readonly types: readonly string[] | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly attributes: readonly (readonly [name: string, bodies: readonly JsonObject[]])[];
}

/**
 * Reads a temporal entity (clause 5.2.20), normalized or concise: each attribute is an array of instances, or one
 * instance. Members that only the broker sets, such as instanceId and createdAt, are ignored.
 *
 * @throws Refusal BadRequestData
 */
export function readTemporalEntity(input: unknown): TemporalContent {
  const content = readTemporalFragment(input);
  if (content.id === undefined) throw refusals.badRequest('A temporal entity needs an id');
  return { ...content, id: content.id };
}

/** Reads a part of a temporal entity; its id is optional. @throws Refusal BadRequestData */
export function readTemporalFragment(
  input: unknown,
): Omit<TemporalContent, 'id'> & { readonly id: string | undefined } {
  const { attributes, ...rest } = readFragment(input);
  return { ...rest, attributes: attributes.map(([name, value]) => [name, readHistory(name, value)]) };
}

function readHistory(name: string, input: JsonValue): readonly JsonObject[] {
  const instances = itemsOf(input);
  // An array is always a list of instances here, unlike the array value of a concise Property.
  if (instances.length === 0 || !instances.every(isObject)) {
    throw refusals.badRequest(`Attribute ${name} must be an instance, or an array of one or more instances`);
  }
  return instances.map((instance) => readInstance(name, instance));
}
