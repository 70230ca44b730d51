import { DEFAULT_DATASET, KIND_BY_MEMBER, NGSI_LD_NULL } from '../../ngsi-ld/members.js';
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
} from '../../shared/json/json.js';
import { isAttribute } from './attribute-parts.js';

/** Whether a broker may understand a written attribute as its deletion. The deletion of a single dataset does not count. */
export function isDeleted(value: JsonValue): boolean {
  if (isArray(value)) return value.some((one) => isObject(one) && isDeleted(one));
  if (mayBeNull(value)) return true;
  if (!isObject(value)) return false;
  const dataset = member(value, 'datasetId');
  if (typeof dataset === 'string' && dataset !== DEFAULT_DATASET) return false;
  return valuesIn(value).some(mayBeNull);
}

/** Whether an attribute, or an instance of it, is written only to delete it. */
export function isOnlyDeleted(value: JsonValue): boolean {
  if (isArray(value)) return value.length > 0 && value.every((one) => isObject(one) && isOnlyDeleted(one));
  if (!isObject(value)) return isNull(value);
  const held = valuesIn(value);
  // The value of a JsonProperty may be null.
  return held.length > 0 && held.every(isNull) && member(value, 'json') !== null;
}

/** The values in all members of an attribute that can hold one; for a language map, the value of each language. */
function valuesIn(attribute: JsonObject): readonly JsonValue[] {
  return [...KIND_BY_MEMBER.keys()].flatMap((name) => {
    if (!Object.hasOwn(attribute, name)) return [];
    const held = attribute[name] ?? null;
    return name === 'languageMap' && isObject(held) ? Object.values(held) : [held];
  });
}

function isNull(value: JsonValue): boolean {
  return value === NGSI_LD_NULL || value === null;
}

/** Some brokers also accept the JSON-LD form of null, `{"@type": "@json", "@value": null}`; others store it. */
function mayBeNull(value: JsonValue): boolean {
  return isNull(value) || (isObject(value) && member(value, '@value') === null);
}

/** An entity without the parts of its attributes that a write deletes. */
export interface Remaining {
  readonly entity: JsonObject;
  /** Whether a member is deleted. @param tokens lead to the object that contains it */
  readonly isPartDeleted: (tokens: readonly string[], name: string) => boolean;
}

/**
 * Leaves out members of attributes that the write deletes (clauses 5.5.8 and 5.5.12). Whole attributes are kept.
 *
 * @param isMerge whether members of values are deleted as well; a partial update replaces values instead
 */
export function withoutDeletedParts(entity: JsonObject, isMerge: boolean): Remaining {
  const deleted = new Set<string>();
  const remaining = Object.entries(entity).map(([name, value]): [string, JsonValue] => [
    name,
    name === 'id' || name === 'type' ? value : remainingAttribute(value, [name]),
  ]);
  return {
    entity: deleted.size === 0 ? entity : objectOf(remaining),
    isPartDeleted: (tokens, name) => deleted.has(JSON.stringify([...tokens, name])),
  };

  function remainingAttribute(attribute: JsonValue, path: readonly string[]): JsonValue {
    if (isArray(attribute))
      return attribute.map((one, index) =>
        isObject(one) && isAttribute(one) ? remainingAttribute(one, [...path, String(index)]) : one,
      );
    if (!isObject(attribute)) return attribute;
    if (!isAttribute(attribute)) return isMerge ? remainingValue(attribute, path) : attribute;
    return keepMembers(attribute, path, (name, value) => {
      if (KIND_BY_MEMBER.has(name)) return isMerge ? remainingValue(value, [...path, name]) : value;
      if (IDENTITY_MEMBERS.has(name)) return value;
      return isOnlyDeleted(value) ? undefined : remainingAttribute(value, [...path, name]);
    });
  }

  /** Arrays are replaced as a whole, even by a merge (RFC 7396). */
  function remainingValue(value: JsonValue, path: readonly string[]): JsonValue {
    if (!isObject(value)) return value;
    return keepMembers(value, path, (name, inside) =>
      isNull(inside) ? undefined : remainingValue(inside, [...path, name]),
    );
  }

  function keepMembers(
    object: JsonObject,
    path: readonly string[],
    keep: (name: string, value: JsonValue) => JsonValue | undefined,
  ): JsonObject {
    return objectOf(
      Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
        const stays = keep(name, value);
        if (stays === undefined) deleted.add(JSON.stringify([...path, name]));
        return stays === undefined ? [] : [[name, stays]];
      }),
    );
  }
}

/** Members that identify an attribute, and cannot be deleted by themselves. */
const IDENTITY_MEMBERS: ReadonlySet<string> = new Set(['type', '@type', 'datasetId']);
