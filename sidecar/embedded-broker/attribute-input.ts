import { type JsonObject, type JsonValue, isArray, isObject, member } from '../shared/json/json.js';
import { coordinatesProblem, type GeometryType } from '../ngsi-ld/geo-query.js';
import { temporalKindOf } from '../ngsi-ld/q-time.js';
import { KIND_BY_MEMBER, VALUE_MEMBERS } from '../ngsi-ld/members.js';
import { isGeometry } from '../ngsi-ld/representation/geometry.js';
import { instanceOf } from '../ngsi-ld/representation/instances.js';
import { datasetIdOf, canonicalName, isAttributeName, isUri } from './model.js';
import { refusals } from './refusal.js';

/** The member that holds the value of an attribute, by the attribute type given in a body. */
export const MAIN_MEMBER: ReadonlyMap<JsonValue | undefined, string> = new Map(Object.entries(VALUE_MEMBERS));

/** Members other than sub-attributes. */
const PLAIN_MEMBERS: ReadonlySet<string> = new Set([
  'type', 'observedAt', 'unitCode', 'datasetId', 'objectType', 'valueType', 'ngsildProof',
]); // oxfmt-ignore
/** Members that only the broker sets: ignored on input (clause 4.5.2). */
const SYSTEM_MEMBERS: ReadonlySet<string> = new Set([
  'createdAt', 'modifiedAt', 'deletedAt', 'instanceId', '@context',
]); // oxfmt-ignore
const MAX_SUB_ATTRIBUTE_DEPTH = 16;

/**
 * Reads the instances of one attribute, normalized or concise (clauses 4.5.1, 4.5.5), as normalized bodies.
 *
 * @throws Refusal BadRequestData, naming the attribute
 */
export function readInstances(name: string, input: JsonValue, depth = 0): readonly JsonObject[] {
  if (!isArray(input) || !isInstanceArray(input)) return [readInstance(name, input, depth)];
  const bodies = input.map((instance) => readInstance(name, instance, depth));
  if (new Set(bodies.map(datasetIdOf)).size < bodies.length) {
    throw refusals.badRequest(`Attribute ${name} has two instances with the same datasetId`);
  }
  return bodies;
}

/** An array of attributes is a set of instances; any other array is the value of a concise Property. */
export function isInstanceArray(input: readonly JsonValue[]): boolean {
  return input.length > 0 && input.every((item) => ['typed', 'inferred'].includes(instanceOf(item).how));
}

/** Reads one instance of an attribute as a normalized body. @throws Refusal BadRequestData, naming the attribute */
export function readInstance(name: string, input: JsonValue, depth = 0): JsonObject {
  if (depth > MAX_SUB_ATTRIBUTE_DEPTH)
    throw refusals.badRequest(`Sub-attributes of ${name} are nested too deeply`);
  if (!isObject(input)) return readInstance(name, { type: 'Property', value: input }, depth);
  const instance = instanceOf(input);
  if (instance.how === 'bare' && instance.kind === 'GeoProperty')
    return readInstance(name, { type: 'GeoProperty', value: input }, depth);
  if (instance.how === 'bare' || instance.how === 'foreign') {
    throw refusals.badRequest(
      `Attribute ${name} needs a known type, or one of ${[...KIND_BY_MEMBER.keys()].join(', ')}`,
    );
  }
  const { kind } = instance;
  const main = VALUE_MEMBERS[kind];
  const members: [string, JsonValue][] = [['type', kind]];
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

function readSubAttribute(
  parent: string,
  member: string,
  value: JsonValue,
  depth: number,
): [string, JsonValue] {
  const name = canonicalName(member);
  if (!isAttributeName(name))
    throw refusals.badRequest(`Attribute ${parent} has a member with a forbidden name`);
  const instances = readInstances(`${parent}.${name}`, value, depth + 1);
  return [name, instances.length === 1 ? (instances[0] ?? null) : instances];
}

function bodyProblem(kind: string, main: string, body: JsonObject): string | undefined {
  const value = member(body, main);
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

function valueProblem(kind: string, value: JsonValue): string | undefined {
  switch (kind) {
    case 'Relationship':
      return (isArray(value) ? value.length > 0 && value.every(isUri) : isUri(value))
        ? undefined
        : 'object must be a URI or an array of URIs';
    case 'GeoProperty': {
      if (!isGeometry(value)) return 'value must be a GeoJSON geometry';
      const problem = coordinatesProblem(value['type'] as GeometryType, member(value, 'coordinates'));
      return problem === undefined ? undefined : `coordinates must be ${problem}`;
    }
    case 'LanguageProperty':
      return isObject(value) ? undefined : 'languageMap must be an object';
    case 'ListProperty':
    case 'ListRelationship':
      return isArray(value) ? undefined : 'the list must be an array';
    default:
      return undefined;
  }
}
