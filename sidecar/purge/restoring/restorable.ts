/** What an archived entity is when it is sent back, and whether what is there now is the same. Pure. */
import { type ArchivedEntity, instanceKey } from '../../archive/index.js';
import { KIND_OF_MEMBER, kindNamed, ownAttributesOf } from '../../ngsi-ld/members.js';
import { instanceOf } from '../../ngsi-ld/representation/instances.js';
import { writeJson } from '../../shared/json/lossless-json.js';
import {
  isArray,
  isObject,
  itemsOf,
  type JsonObject,
  type JsonValue,
  objectOf,
  sameJson,
} from '../../shared/json/json.js';

/** Members that the broker writes itself: what is sent of them is refused, or ignored. */
const SYSTEM_MEMBERS: ReadonlySet<string> = new Set(['createdAt', 'modifiedAt', 'deletedAt', 'instanceId']);

/** The entity as it can be created: without what only the broker writes, in it, its attributes and theirs. */
export function creatable(entity: ArchivedEntity): JsonObject {
  const attributes = new Set(ownAttributesOf(entity));
  return objectOf(
    Object.entries(entity)
      .filter(([name]) => !SYSTEM_MEMBERS.has(name) && name !== '@context')
      .map(([name, value]) => [name, attributes.has(name) ? creatableAttribute(value) : value] as const),
  );
}

/** The same for an attribute, with all its instances. Some brokers do not show its kind, and want it back. */
export function creatableAttribute(attribute: JsonValue): JsonValue {
  if (isArray(attribute)) return attribute.map(creatableAttribute);
  if (!isObject(attribute)) return attribute;
  const instance = instanceOf(attribute);
  return objectOf([
    ...(instance.how === 'inferred' ? [['type', instance.kind] as const] : []),
    ...Object.entries(attribute)
      .filter(([name]) => !SYSTEM_MEMBERS.has(name))
      .map(
        ([name, value]) => [name, isSubAttribute(name, value) ? creatableAttribute(value) : value] as const,
      ),
  ]);
}

/** Attributes of attributes say their kind. What a value holds is its author's. */
function isSubAttribute(name: string, value: JsonValue): boolean {
  if (KIND_OF_MEMBER.has(name)) return false;
  const [first] = instancesOf(value);
  return isObject(first) && kindNamed(first['type']) !== undefined;
}

/** The instances of an attribute: one, or several in an array (clause 4.5.5). */
export function instancesOf(attribute: JsonValue | undefined): readonly JsonValue[] {
  return attribute === undefined ? [] : itemsOf(attribute);
}

/** Whether two entities say the same, but for what only the broker writes, and the order of datasets. */
export function isSameEntity(one: ArchivedEntity, other: ArchivedEntity): boolean {
  return sameJson(comparable(creatable(one)), comparable(creatable(other)));
}

/** Whether two attributes say the same. */
export function isSameAttribute(one: JsonValue, other: JsonValue | undefined): boolean {
  return (
    other !== undefined && sameJson(byDataset(creatableAttribute(one)), byDataset(creatableAttribute(other)))
  );
}

function comparable(entity: JsonObject): JsonObject {
  const attributes = new Set(ownAttributesOf(entity));
  const { type } = entity;
  const types = [...instancesOf(type)].sort((one, other) => (writeJson(one) < writeJson(other) ? -1 : 1));
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
