/** Converts archived entities to what can be sent to the broker, and compares them with what exists now. Pure functions. */
import { type ArchivedEntity, instanceKey } from '../../archive/index.js';
import { asStored, KIND_BY_MEMBER, kindOfType, attributeNames } from '../../ngsi-ld/members.js';
import { instanceOf } from '../../ngsi-ld/representation/instances.js';
import {
  isArray,
  isObject,
  itemsOf,
  type JsonObject,
  type JsonValue,
  objectOf,
  jsonEquals,
} from '../../shared/json/json.js';

/** Members that only the broker sets. It refuses or ignores them in requests. */
const SYSTEM_MEMBERS: ReadonlySet<string> = new Set(['createdAt', 'modifiedAt', 'deletedAt']);

/**
 * Returns an entity as it can be created: without its @context, without what the broker computed for the query, and without the
 * members that only the broker sets, in the entity, its attributes and their sub-attributes.
 */
export function creatable(entity: ArchivedEntity): JsonObject {
  const attributes = new Set(attributeNames(entity));
  // Before versions 1.5 and 1.9, scope and expiresAt could be attributes.
  const isAttribute = (name: string, value: JsonValue) => attributes.has(name) || isSubAttribute(name, value);
  return objectOf(
    Object.entries(asStored(entity))
      .filter(([name]) => !SYSTEM_MEMBERS.has(name) && name !== '@context')
      .map(([name, value]) => [name, isAttribute(name, value) ? creatableAttribute(value) : value] as const),
  );
}

/**
 * Returns an attribute as it can be created, with all its instances. Adds its type if that is missing, because some brokers
 * require it but do not show it.
 */
export function creatableAttribute(attribute: JsonValue): JsonValue {
  if (isArray(attribute)) return attribute.map(creatableAttribute);
  if (!isObject(attribute)) return attribute;
  const instance = instanceOf(attribute);
  return objectOf([
    ...(instance.how === 'inferred' ? [['type', instance.kind] as const] : []),
    ...Object.entries(attribute)
      .filter(([name, value]) => !SYSTEM_MEMBERS.has(name) && !isInstanceId(name, value))
      .map(
        ([name, value]) => [name, isSubAttribute(name, value) ? creatableAttribute(value) : value] as const,
      ),
  ]);
}

/** Whether a member of an attribute is the id of an instance in a history; it may also be a sub-attribute of that name. */
function isInstanceId(name: string, value: JsonValue): boolean {
  return name === 'instanceId' && typeof value === 'string';
}

/**
 * Whether a member of an attribute is a sub-attribute, which has a type. Everything else is a value, which is left as it is.
 */
function isSubAttribute(name: string, value: JsonValue): boolean {
  if (KIND_BY_MEMBER.has(name)) return false;
  const [first] = instancesOf(value);
  return isObject(first) && kindOfType(first['type']) !== undefined;
}

/** Returns the instances of an attribute, which is one instance or an array of several (clause 4.5.5). */
export function instancesOf(attribute: JsonValue | undefined): readonly JsonValue[] {
  return attribute === undefined ? [] : itemsOf(attribute);
}

/** Whether two entities are equal, except for members that only the broker sets and the order of types and datasets. */
export function isSameEntity(one: ArchivedEntity, other: ArchivedEntity): boolean {
  return jsonEquals(comparable(creatable(one)), comparable(creatable(other)));
}

/** Whether two attributes are equal, except for members that only the broker sets and the order of datasets. */
export function isSameAttribute(one: JsonValue, other: JsonValue | undefined): boolean {
  return (
    other !== undefined &&
    jsonEquals(byDataset(creatableAttribute(one)), byDataset(creatableAttribute(other)))
  );
}

function comparable(entity: JsonObject): JsonObject {
  const attributes = new Set(attributeNames(entity));
  const { type } = entity;
  const types = [...instancesOf(type)].sort((one, other) =>
    JSON.stringify(one) < JSON.stringify(other) ? -1 : 1,
  );
  return objectOf([
    ...Object.entries(entity).map(
      ([name, value]) => [name, attributes.has(name) ? byDataset(value) : value] as const,
    ),
    ['type', types] as const,
  ]);
}

function byDataset(attribute: JsonValue): JsonValue {
  const instances = instancesOf(attribute).map(
    (instance) => [instanceKey(instance, false), instance] as const,
  );
  return instances.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, instance]) => instance);
}
