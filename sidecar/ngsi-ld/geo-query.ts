import { NgsiLdSyntaxError } from './syntax-error.js';

/** The nesting depth of `coordinates` for each geometry (RFC 7946 § 3.1; a position counts as one level). */
export const GEOMETRY_DEPTHS = {
  Point: 1,
  MultiPoint: 2,
  LineString: 2,
  MultiLineString: 3,
  Polygon: 3,
  MultiPolygon: 4,
} as const;

/** The geometry that contains others. */
export const GEOMETRY_COLLECTION = 'GeometryCollection';

/** Types of GeoJSON geometries (RFC 7946 § 3.1). */
export const GEOMETRY_TYPES: readonly string[] = [...Object.keys(GEOMETRY_DEPTHS), GEOMETRY_COLLECTION];

const RELATIONS = ['within', 'contains', 'intersects', 'equals', 'disjoint', 'overlaps'] as const;
const NEAR = /^near;(maxDistance|minDistance)==((?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

export type GeometryType = keyof typeof GEOMETRY_DEPTHS;

/** Longitude and latitude (degrees, WGS 84), optionally altitude (metres). */
export type Position = readonly [number, number] | readonly [number, number, number];
type Coordinates = Position | readonly Coordinates[];

type GeoRelation =
  | { readonly kind: 'near'; readonly bound: 'maxDistance' | 'minDistance'; readonly metres: number }
  | { readonly kind: (typeof RELATIONS)[number] };

/** A geoquery (ETSI GS CIM 009 V1.9.1, clause 4.10). `coordinates` match the geometry, and polygon rings are closed. */
export interface GeoQuery {
  readonly relation: GeoRelation;
  readonly geometry: GeometryType;
  readonly coordinates: Coordinates;
  readonly geoproperty: string;
}

export interface GeoQueryText {
  readonly georel?: string | undefined;
  readonly geometry?: string | undefined;
  readonly coordinates?: string | undefined;
  /** The default is `location`. */
  readonly geoproperty?: string | undefined;
}

/**
 * Parses the parameters of a geoquery; `georel`, `geometry` and `coordinates` must be given together.
 *
 * @throws NgsiLdSyntaxError naming the missing or invalid parameter
 */
export function parseGeoQuery(text: GeoQueryText): GeoQuery {
  const relation = parseGeoRelation(text.georel ?? missing('georel'));
  const geometry = parseGeometryType(text.geometry ?? missing('geometry'));
  const coordinates = parseCoordinates(geometry, text.coordinates ?? missing('coordinates'));
  const geoproperty = text.geoproperty ?? 'location';
  if (geoproperty === '') missing('geoproperty');
  return { relation, geometry, coordinates, geoproperty };
}

function missing(parameter: string): never {
  throw new NgsiLdSyntaxError(
    parameter,
    0,
    'a value (georel, geometry and coordinates must be given together)',
    '',
  );
}

function parseGeoRelation(georel: string): GeoRelation {
  const relation = RELATIONS.find((name) => name === georel);
  if (relation !== undefined) return { kind: relation };
  const near = NEAR.exec(georel);
  if (near !== null) {
    const metres = Number(near[2]);
    if (metres > 0 && Number.isFinite(metres)) {
      return { kind: 'near', bound: near[1] === 'maxDistance' ? 'maxDistance' : 'minDistance', metres };
    }
  }
  const expected = georel.startsWith('near')
    ? 'near;maxDistance==N or near;minDistance==N with N metres, greater than 0'
    : `near;maxDistance==N, near;minDistance==N, ${RELATIONS.join(', ')}`;
  throw new NgsiLdSyntaxError('georel', 0, expected, georel);
}

function isGeometryType(name: string): name is GeometryType {
  return Object.hasOwn(GEOMETRY_DEPTHS, name);
}

function parseGeometryType(name: string): GeometryType {
  if (isGeometryType(name)) return name;
  throw new NgsiLdSyntaxError('geometry', 0, `one of ${Object.keys(GEOMETRY_DEPTHS).join(', ')}`, name);
}

function parseCoordinates(geometry: GeometryType, text: string): Coordinates {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new NgsiLdSyntaxError('coordinates', 0, 'a JSON array', text);
  }
  const problem = coordinatesProblem(geometry, parsed);
  if (problem !== undefined) throw new NgsiLdSyntaxError('coordinates', 0, problem, text);
  return parsed as Coordinates;
}

/**
 * Returns what was expected instead of the coordinates of a GeoJSON geometry (RFC 7946 § 3.1), to complete "expected
 * …"; undefined if they are valid.
 */
export function coordinatesProblem(geometry: GeometryType, coordinates: unknown): string | undefined {
  return nestingProblem(coordinates, GEOMETRY_DEPTHS[geometry], geometry);
}

function nestingProblem(value: unknown, depth: number, geometry: GeometryType): string | undefined {
  if (depth === 1) {
    return isPosition(value) ? undefined : 'positions [longitude, latitude] with a latitude of -90 to 90';
  }
  if (!Array.isArray(value) || value.length === 0) return `arrays nested as in a ${geometry}`;
  for (const item of value) {
    const problem = nestingProblem(item, depth - 1, geometry);
    if (problem !== undefined) return problem;
  }
  if (depth !== 2) return undefined;
  if (geometry.endsWith('LineString') && value.length < 2) return 'a line of at least 2 positions';
  if (geometry.endsWith('Polygon') && !isClosedRing(value)) {
    return 'polygon rings of at least 4 positions, the last equal to the first';
  }
  return undefined;
}

/** Whether a value is a GeoJSON position. */
export function isPosition(value: unknown): value is Position {
  if (!Array.isArray(value) || value.length < 2 || value.length > 3) return false;
  return value.every((part) => Number.isFinite(part)) && Math.abs(Number(value[1])) <= 90;
}

function isClosedRing(ring: readonly unknown[]): boolean {
  return ring.length >= 4 && JSON.stringify(ring[0]) === JSON.stringify(ring.at(-1));
}
