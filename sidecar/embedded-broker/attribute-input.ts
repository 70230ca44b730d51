import { coordinatesProblem, type GeometryType } from '../ngsi-ld/geo-query.js';
import { temporalKindOf } from '../ngsi-ld/q-time.js';
import {
  datasetIdOf,
  isJsonArray,
  isJsonObject,
  memberOf,
  type Json,
  type JsonObject,
  canonicalName,
  isAttributeName,
  isUri,
} from './model.js';
import { refusals } from './refusal.js';

/** The member that holds the value, for each kind of attribute (clauses 4.5.2, 4.5.3, 4.5.18 to 4.5.24). */
export const MAIN_MEMBER: ReadonlyMap<Json | undefined, string> = new Map<string, string>([
  ['Property', 'value'],
  ['GeoProperty', 'value'],
  ['Relationship', 'object'],
  ['LanguageProperty', 'languageMap'],
  ['VocabProperty', 'vocab'],
  ['JsonProperty', 'json'],
  ['ListProperty', 'valueList'],
  ['ListRelationship', 'objectList'],
]);
/** The reverse; the content of `value` distinguishes a Property from a GeoProperty. */
const KIND_BY_MEMBER: ReadonlyMap<string, string> = new Map([
  ['value', 'Property'],
  ['object', 'Relationship'],
  ['languageMap', 'LanguageProperty'],
  ['vocab', 'VocabProperty'],
  ['json', 'JsonProperty'],
  ['valueList', 'ListProperty'],
  ['objectList', 'ListRelationship'],
]);

/** Members other than sub-attributes. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set([
  'type', 'observedAt', 'unitCode', 'datasetId', 'objectType', 'valueType', 'ngsildProof',
]); // prettier-ignore
/** Members that only the broker sets: ignored on input (clause 4.5.2). */
const SYSTEM_MEMBERS: ReadonlySet<string> = new Set([
  'createdAt', 'modifiedAt', 'deletedAt', 'instanceId', '@context',
]); // prettier-ignore
const GEOMETRIES: ReadonlySet<Json | undefined> = new Set([
  'Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon',
]); // prettier-ignore
const MAX_SUB_ATTRIBUTE_DEPTH = 16;

/**
 * Reads the instances of one attribute, normalized or concise (clauses 4.5.1, 4.5.5), as normalized bodies.
 *
 * @throws Refusal BadRequestData, naming the attribute
 */
export function readInstances(name: string, input: Json, depth = 0): readonly JsonObject[] {
  if (!isJsonArray(input) || !isInstanceArray(input)) return [readInstance(name, input, depth)];
  const bodies = input.map((instance) => readInstance(name, instance, depth));
  if (new Set(bodies.map(datasetIdOf)).size < bodies.length) {
    throw refusals.badRequest(`Attribute ${name} has two instances with the same datasetId`);
  }
  return bodies;
}

/** An array of attributes is a set of instances; an array of anything else is the value of a concise Property. */
function isInstanceArray(input: readonly Json[]): boolean {
  return input.length > 0 && input.every((item) => isJsonObject(item) && kindOf(item) !== undefined);
}

function isGeometry(value: Json | undefined): boolean {
  return value !== undefined && isJsonObject(value) && GEOMETRIES.has(memberOf(value, 'type'));
}

/** The kind that a body names, or that its members show when it is concise. */
function kindOf(body: JsonObject): string | undefined {
  const named = memberOf(body, 'type');
  if (typeof named === 'string' && MAIN_MEMBER.has(named)) return named;
  if (named !== undefined) return undefined;
  for (const [member, kind] of KIND_BY_MEMBER) {
    const value = memberOf(body, member);
    if (value !== undefined) return member === 'value' && isGeometry(value) ? 'GeoProperty' : kind;
  }
  return undefined;
}

/** Reads one instance of an attribute as a normalized body. @throws Refusal BadRequestData, naming the attribute */
export function readInstance(name: string, input: Json, depth = 0): JsonObject {
  if (depth > MAX_SUB_ATTRIBUTE_DEPTH)
    throw refusals.badRequest(`Sub-attributes of ${name} are nested too deeply`);
  if (!isJsonObject(input)) return readInstance(name, { type: 'Property', value: input }, depth);
  if (isGeometry(input)) return readInstance(name, { type: 'GeoProperty', value: input }, depth);

  const kind = kindOf(input);
  const main = MAIN_MEMBER.get(kind);
  if (kind === undefined || main === undefined) {
    throw refusals.badRequest(
      `Attribute ${name} needs a known type, or one of ${[...KIND_BY_MEMBER.keys()].join(', ')}`,
    );
  }
  const members: [string, Json][] = [['type', kind]];
  for (const [member, value] of Object.entries(input)) {
    if (member === 'type' || SYSTEM_MEMBERS.has(member)) continue;
    if (member === main || PLAIN_MEMBERS.has(member)) members.push([member, value]);
    else members.push(readSubAttribute(name, member, value, depth));
  }
  const body: JsonObject = Object.fromEntries(members);
  const problem = bodyProblem(kind, main, body);
  if (problem !== undefined) throw refusals.badRequest(`Attribute ${name}: ${problem}`);
  return body;
}

function readSubAttribute(parent: string, member: string, value: Json, depth: number): [string, Json] {
  const name = canonicalName(member);
  if (!isAttributeName(name))
    throw refusals.badRequest(`Attribute ${parent} has a member with a forbidden name`);
  const instances = readInstances(`${parent}.${name}`, value, depth + 1);
  return [name, instances.length === 1 ? (instances[0] ?? null) : instances];
}

function bodyProblem(kind: string, main: string, body: JsonObject): string | undefined {
  const value = memberOf(body, main);
  if (value === undefined) return `a ${kind} needs ${main}`;
  if (value === null && kind !== 'JsonProperty') return `${main} must not be null`;
  const { observedAt, unitCode, datasetId } = body;
  if (
    observedAt !== undefined &&
    (typeof observedAt !== 'string' || temporalKindOf(observedAt) !== 'dateTime')
  ) {
    return 'observedAt must be a date-time';
  }
  if (unitCode !== undefined && typeof unitCode !== 'string') return 'unitCode must be a string';
  if (datasetId !== undefined && datasetId !== '@none' && !isUri(datasetId)) return 'datasetId must be a URI';
  return valueProblem(kind, value);
}

function valueProblem(kind: string, value: Json): string | undefined {
  switch (kind) {
    case 'Relationship':
      return (isJsonArray(value) ? value.length > 0 && value.every(isUri) : isUri(value))
        ? undefined
        : 'object must be a URI or an array of URIs';
    case 'GeoProperty': {
      if (!isJsonObject(value) || !isGeometry(value)) return 'value must be a GeoJSON geometry';
      const problem = coordinatesProblem(value['type'] as GeometryType, memberOf(value, 'coordinates'));
      return problem === undefined ? undefined : `coordinates must be ${problem}`;
    }
    case 'LanguageProperty':
      return isJsonObject(value) ? undefined : 'languageMap must be an object';
    case 'ListProperty':
    case 'ListRelationship':
      return isJsonArray(value) ? undefined : 'the list must be an array';
    default:
      return undefined;
  }
}
