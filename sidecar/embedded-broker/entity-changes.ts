import { isArray, isObject, type JsonObject, type JsonValue, member } from '../shared/json/json.js';
import { KIND_BY_MEMBER, NGSI_LD_NULL } from '../ngsi-ld/members.js';
import { isInstanceArray, MAIN_MEMBER } from './attribute-input.js';
import { newAttribute, newInstance } from './entity-input.js';
import { datasetIdOf, type Attribute, type Instance, type StoredEntity } from './model.js';
import type { InstanceChoice } from './query-parameters.js';
import { refusals } from './refusal.js';

export function attributeOf(entity: StoredEntity, name: string): Attribute | undefined {
  return entity.attributes.find((attribute) => attribute.name === name);
}

/** Adds an attribute; if it exists, replaces the instances that have the same datasetIds (clause 5.6.3). */
export function putAttribute(entity: StoredEntity, given: Attribute, now: number): void {
  const present = attributeOf(entity, given.name);
  entity.modifiedAt = now;
  if (present === undefined) {
    entity.attributes = [...entity.attributes, given];
    return;
  }
  present.instances = given.instances.reduce(putInstance, present.instances);
}

function putInstance(instances: readonly Instance[], given: Instance): readonly Instance[] {
  const datasetId = datasetIdOf(given.body);
  const at = instances.findIndex((instance) => datasetIdOf(instance.body) === datasetId);
  if (at < 0) return [...instances, given];
  return instances.with(at, { ...given, createdAt: instances[at]?.createdAt ?? given.createdAt });
}

/** Deletes instances of an attribute (clause 5.6.5); false if there are none. */
export function deleteInstances(
  entity: StoredEntity,
  name: string,
  choice: InstanceChoice,
  now: number,
): boolean {
  const present = attributeOf(entity, name);
  if (present === undefined) return false;
  const kept =
    choice === 'all'
      ? []
      : present.instances.filter((instance) => datasetIdOf(instance.body) !== choice.datasetId);
  if (kept.length === present.instances.length) return false;
  if (kept.length === 0) entity.attributes = entity.attributes.filter((attribute) => attribute !== present);
  else present.instances = kept;
  entity.modifiedAt = now;
  return true;
}

/**
 * Merges a patch into an attribute (clauses 5.6.4 and 5.6.17, RFC 7396). It changes the instance with the same
 * datasetId, and adds the attribute or instance if it does not exist.
 *
 * @throws Refusal BadRequestData when the result is not an attribute
 */
export function mergeAttribute(entity: StoredEntity, name: string, input: JsonValue, now: number): void {
  const patches = isArray(input) && isInstanceArray(input) ? input : [input];
  for (const patch of patches) mergeInstance(entity, name, patch, now);
}

function mergeInstance(entity: StoredEntity, name: string, patch: JsonValue, now: number): void {
  const datasetId = isObject(patch) ? datasetIdOf(patch) : undefined;
  if (isNull(patch)) {
    deleteInstances(entity, name, isObject(patch) ? { datasetId } : 'all', now);
    return;
  }
  const present = attributeOf(entity, name)?.instances.find((item) => datasetIdOf(item.body) === datasetId);
  if (present === undefined) {
    putAttribute(entity, newAttribute(name, patch, now), now);
    return;
  }
  const kind = member(present.body, 'type');
  const main = MAIN_MEMBER.get(kind) ?? 'value';
  const change = isObject(patch) && !isBareGeometry(patch) ? patch : { [main]: patch };
  const named = member(change, 'type');
  const isOther = [...KIND_BY_MEMBER.keys()].some((held) => held !== main && Object.hasOwn(change, held));
  if (isOther || (named !== undefined && named !== kind)) {
    throw refusals.badRequest(`Attribute ${name} is a ${JSON.stringify(kind)}; its type cannot change`);
  }
  const merged = newAttribute(name, mergeObjects(present.body, change), now);
  putAttribute(entity, { name, instances: merged.instances.map(({ body }) => newInstance(body, now)) }, now);
}

/** A concise geometry, `{"type": "Point", "coordinates": …}`. */
function isBareGeometry(patch: JsonObject): boolean {
  return Object.hasOwn(patch, 'coordinates') && !Object.hasOwn(patch, 'value');
}

/** Whether an attribute, or an instance of it, is given only to delete it (clause 4.5.0). */
export function isNull(patch: JsonValue): boolean {
  if (patch === null || patch === NGSI_LD_NULL) return true;
  return isObject(patch) && [...KIND_BY_MEMBER.keys()].some((name) => member(patch, name) === NGSI_LD_NULL);
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const members = new Map(Object.entries(target));
  for (const [name, change] of Object.entries(patch)) {
    const present = members.get(name);
    if (change === null || change === NGSI_LD_NULL) members.delete(name);
    else if (isObject(change) && present !== undefined && isObject(present)) {
      members.set(name, mergeObjects(present, change));
    } else members.set(name, change);
  }
  return Object.fromEntries(members);
}
