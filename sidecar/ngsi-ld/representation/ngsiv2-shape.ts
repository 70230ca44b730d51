import { isArray, isObject, type JsonObject, type JsonValue, member } from '../../shared/json/json.js';
import { formatValue } from '../../shared/format-value.js';
import { type AttributeKind, kindOfType } from '../members.js';

/** Types of attributes in NGSIv2, and the corresponding kinds in NGSI-LD. Other types are allowed, but reveal nothing. */
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

/** Members of an NGSIv2 entity that are not attributes; `@context` is not part of NGSIv2, but appears in examples. */
export const V2_NON_ATTRIBUTES: ReadonlySet<string> = new Set(['id', 'type', '@context']);

/** Members of an NGSIv2 attribute. */
export const V2_MEMBERS: ReadonlySet<string> = new Set(['type', 'value', 'metadata']);

/**
 * Whether an entity is certainly in the normalized representation of NGSIv2: each attribute has a value and otherwise
 * only a type and metadata, none has a type that only NGSI-LD defines, and at least one has an NGSIv2 type or metadata.
 *
 * @param entity the members of the entity
 */
export function isNgsiV2(entity: readonly (readonly [string, JsonValue])[]): boolean {
  const attributes = entity.filter(([name]) => !V2_NON_ATTRIBUTES.has(name)).map(([, value]) => value);
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
    (typeof type !== 'string' || (kindOfType(type) ?? 'Relationship') !== 'Relationship')
  )
    return false;
  return metadata === undefined || (isObject(metadata) && Object.values(metadata).every(hasValue));
}

/** Whether a value can be an NGSIv2 attribute, or one of its metadata. */
export function hasValue(value: JsonValue): boolean {
  return isObject(value) && Object.hasOwn(value, 'value');
}

/** NGSIv2 types whose values are coordinates as text, `latitude, longitude` in degrees. */
export type LocationType = 'geo:point' | 'geo:line' | 'geo:polygon' | 'geo:box';

/** The number of points of each type, and its description. */
const POINT_COUNTS: Readonly<Record<LocationType, readonly [least: number, most: number, what: string]>> = {
  'geo:point': [1, 1, 'a point "latitude, longitude"'],
  'geo:line': [2, Infinity, 'an array of at least 2 points "latitude, longitude"'],
  'geo:polygon': [
    4,
    Infinity,
    'an array of at least 4 points "latitude, longitude", the last equal to the first',
  ],
  'geo:box': [2, 2, 'an array of 2 opposite points "latitude, longitude"'],
};

type Position = readonly [longitude: number, latitude: number];

/**
 * Converts a location in the simple format of NGSIv2 to a GeoJSON geometry. If it is invalid, returns the predicate of
 * a sentence that says what it must be.
 */
export function geometryOfLocation(type: LocationType, value: JsonValue): JsonObject | string {
  const [least, most, what] = POINT_COUNTS[type];
  const points = (type === 'geo:point' ? [value] : isArray(value) ? value : []).map(positionIn);
  const positions = points.filter((one) => one !== undefined);
  const isWhole = positions.length === points.length && points.length >= least && points.length <= most;
  const [first, second] = positions;
  const isClosed = type !== 'geo:polygon' || String(first) === String(positions.at(-1));
  if (!isWhole || !isClosed || first === undefined) return `must be ${what}, is ${formatValue(value)}`;
  switch (type) {
    case 'geo:point':
      return { type: 'Point', coordinates: first };
    case 'geo:line':
      return { type: 'LineString', coordinates: positions };
    case 'geo:polygon':
      return { type: 'Polygon', coordinates: [positions] };
    case 'geo:box':
      return { type: 'Polygon', coordinates: [boxOf(first, second ?? first)] };
  }
}

function positionIn(text: JsonValue): Position | undefined {
  if (typeof text !== 'string') return undefined;
  const [latitude = NaN, longitude = NaN, ...others] = text.split(',').map(numberIn);
  const isPlace = others.length === 0 && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  return isPlace ? [longitude, latitude] : undefined;
}

function numberIn(text: string): number {
  return text.trim() === '' ? NaN : Number(text);
}

function boxOf([west, south]: Position, [east, north]: Position): readonly Position[] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}
