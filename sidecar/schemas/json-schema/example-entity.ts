import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  objectOf,
} from '../../shared/json/json.js';
import type { ModelAttribute } from './attributes.js';
import type { AttributeKind } from '../../ngsi-ld/attribute-kinds.js';
import { NO_OWN_ATTRIBUTES } from '../../ngsi-ld/entity-members.js';
import { VALUE_MEMBERS, WRAPPED_KINDS } from '../../ngsi-ld/value-members.js';

/**
 * The normalized representation (ETSI GS CIM 009 V1.9.1, clause 4.5.1) of an entity in key-values form.
 *
 * Members keep their order, `@context` comes last; attributes that the model does not know become Properties. Those that
 * are null are left out, as no attribute can be.
 *
 * @param context what `@context` will be, usually the model's context and the core context by their URLs; left out for
 *   bodies of application/json
 */
export function exampleEntity(
  keyValues: JsonObject,
  attributes: readonly Pick<ModelAttribute, 'name' | 'kind'>[],
  context?: JsonValue,
): JsonObject {
  const kinds = new Map(attributes.map(({ name, kind }) => [name, kind]));
  const entries = Object.entries(keyValues).flatMap(([name, value]): (readonly [string, JsonValue])[] => {
    if (name === '@context' || value === null) return [];
    return [[name, NO_OWN_ATTRIBUTES.has(name) ? value : attributeOf(value, kinds.get(name) ?? 'Property')]];
  });
  return objectOf(context === undefined ? entries : [...entries, ['@context', context]]);
}

function attributeOf(value: JsonValue, kind: AttributeKind): JsonObject {
  return { type: kind, [VALUE_MEMBERS[kind]]: valueOf(value, kind) };
}

function valueOf(value: JsonValue, kind: AttributeKind): JsonValue {
  if (WRAPPED_KINDS.has(kind)) {
    const inner = isObject(value) ? member(value, VALUE_MEMBERS[kind]) : undefined;
    if (inner !== undefined) return inner;
    return kind === 'LanguageProperty' && !isObject(value) ? { '@none': value } : value;
  }
  if (kind !== 'ListProperty' && kind !== 'ListRelationship') return value;
  const items = isArray(value) ? value : [value];
  return kind === 'ListProperty' ? items : items.map((item) => ({ object: item }));
}
