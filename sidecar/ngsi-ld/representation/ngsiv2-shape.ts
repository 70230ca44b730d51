import type { AttributeKind } from '../attribute-kinds.js';
import { isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { kindNamed } from '../value-members.js';

/** Types of attributes in NGSIv2, and their counterparts in NGSI-LD. Others are allowed, but show nothing. */
export const NGSI_V2_KINDS: ReadonlyMap<JsonValue | undefined, AttributeKind> = new Map<
  JsonValue,
  AttributeKind
>([
  ...['Text', 'Number', 'Integer', 'Float', 'Boolean', 'DateTime', 'StructuredValue', 'None'].map(
    (type) => [type, 'Property'] as const,
  ),
  ...['geo:json', 'geo:point', 'geo:line', 'geo:polygon', 'geo:box'].map(
    (type) => [type, 'GeoProperty'] as const,
  ),
]);

/** Members of an entity of NGSIv2 that are not attributes; `@context` is none of NGSIv2, but written in examples. */
export const NO_V2_ATTRIBUTES: ReadonlySet<string> = new Set(['id', 'type', '@context']);

/** Members of an attribute of NGSIv2. */
export const V2_MEMBERS: ReadonlySet<string> = new Set(['type', 'value', 'metadata']);

/**
 * Whether an entity is surely in the normalized representation of NGSIv2: each attribute has a value and beside it nothing
 * but a type and metadata, none has a type that NGSI-LD alone knows, and one has a type or metadata of NGSIv2.
 *
 * @param entity its members
 */
export function isNgsiV2(entity: readonly (readonly [string, JsonValue])[]): boolean {
  const attributes = entity.filter(([name]) => !NO_V2_ATTRIBUTES.has(name)).map(([, value]) => value);
  return (
    attributes.every(mayBeAttribute) &&
    attributes.some((one) => NGSI_V2_KINDS.has(member(one, 'type')) || Object.hasOwn(one, 'metadata'))
  );
}

function mayBeAttribute(value: JsonValue): value is JsonObject {
  if (!isObject(value) || !Object.hasOwn(value, 'value')) return false;
  if (!Object.keys(value).every((name) => V2_MEMBERS.has(name))) return false;
  const { type, metadata } = value;
  // A Relationship has an object in NGSI-LD, not a value.
  if (
    type !== undefined &&
    (typeof type !== 'string' || (kindNamed(type) ?? 'Relationship') !== 'Relationship')
  )
    return false;
  return metadata === undefined || (isObject(metadata) && Object.values(metadata).every(hasValue));
}

/** Whether a value can be an attribute of NGSIv2, or one of its metadata. */
export function hasValue(value: JsonValue): boolean {
  return isObject(value) && Object.hasOwn(value, 'value');
}
