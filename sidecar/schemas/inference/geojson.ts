import {
  isArray,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
} from '../../shared/json/json.js';

/**
 * The arrays around the positions of each geometry, from the outside in, with the minimum number of items of each (RFC
 * 7946, section 3.1).
 */
const LISTS = {
  Point: [],
  MultiPoint: [0],
  LineString: [2],
  MultiLineString: [0, 2],
  Polygon: [0, 4],
  MultiPolygon: [0, 0, 4],
} as const;
type SingleGeometry = keyof typeof LISTS;
export type GeometryType = SingleGeometry | 'GeometryCollection';

const SINGLE = Object.keys(LISTS).filter(isSingle);

/** The types of geometries, in the order of the standard. */
export const GEOMETRY_TYPES: readonly GeometryType[] = [...SINGLE, 'GeometryCollection'];

/** The minimum length of a position: longitude and latitude. */
const POSITION_LENGTH = 2;

/**
 * Returns the type of a GeoJSON geometry that {@link geometrySchema} accepts; undefined for anything else. Collections
 * inside collections, which RFC 7946 advises against, are not recognised.
 */
export function geometryTypeOf(object: JsonObject): GeometryType | undefined {
  const type = member(object, 'type');
  if (type === 'GeometryCollection') {
    const geometries = member(object, 'geometries');
    return isArray(geometries) && geometries.every(isSingleGeometry) ? type : undefined;
  }
  return typeof type === 'string' && isSingle(type) && hasShape(member(object, 'coordinates'), LISTS[type])
    ? type
    : undefined;
}

/** Returns the schema of a geometry; it refers to {@link POSITION} and, for a collection, to the schemas of the other types. */
function geometrySchema(type: GeometryType): JsonObject {
  const name = type === 'GeometryCollection' ? 'geometries' : 'coordinates';
  const held =
    type === 'GeometryCollection'
      ? { type: 'array', items: { anyOf: SINGLE.map(definitionRef) } }
      : LISTS[type].reduceRight<JsonObject>(
          (items, least) => ({ type: 'array', ...(least > 0 && { minItems: least }), items }),
          definitionRef(POSITION),
        );
  return {
    title: `GeoJSON ${type}`,
    type: 'object',
    required: ['type', name],
    properties: { type: { const: type }, [name]: held },
  };
}

/** Returns the definitions that schemas with these geometries need, in a fixed order. */
export function geometryDefinitions(
  types: ReadonlySet<GeometryType>,
): readonly (readonly [string, JsonObject])[] {
  if (types.size === 0) return [];
  const needed = types.has('GeometryCollection')
    ? GEOMETRY_TYPES
    : GEOMETRY_TYPES.filter((type) => types.has(type));
  return [
    ...needed.map((type) => [type, geometrySchema(type)] as const),
    [POSITION, { type: 'array', minItems: POSITION_LENGTH, items: { type: 'number' } }],
  ];
}

export function definitionRef(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

const POSITION = 'Position';

function isSingle(type: string): type is SingleGeometry {
  return Object.hasOwn(LISTS, type);
}

function isSingleGeometry(value: JsonValue): boolean {
  return (
    isObject(value) && member(value, 'type') !== 'GeometryCollection' && geometryTypeOf(value) !== undefined
  );
}

/** @param lists minimum number of items of the arrays around positions; `at` of them have been checked */
function hasShape(value: JsonValue | undefined, lists: readonly number[], at = 0): boolean {
  if (!isArray(value)) return false;
  const least = lists[at];
  if (least === undefined) return value.length >= POSITION_LENGTH && value.every(isNumber);
  return value.length >= least && value.every((item) => hasShape(item, lists, at + 1));
}

/** The member that holds the strings of a LanguageProperty, also in key-values form (ETSI GS CIM 009, clause 4.5.4). */
export const LANGUAGE_MAP = 'languageMap';

/**
 * Returns the texts of a LanguageProperty in key-values form: a string, or a list of strings, for each language.
 * Undefined if the values are anything else.
 */
export function languagesOf(object: JsonObject): readonly JsonValue[] | undefined {
  const map = member(object, LANGUAGE_MAP);
  if (!isObject(map)) return undefined;
  const texts = Object.values(map);
  return texts.every(isText) ? texts : undefined;
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string' || (isArray(value) && value.every((item) => typeof item === 'string'));
}
