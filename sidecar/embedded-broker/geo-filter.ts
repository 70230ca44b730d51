import { type JsonValue, isObject, member } from '../shared/json/json.js';
import { isPosition, type GeoQuery, type Position } from '../ngsi-ld/geo-query.js';
import { canonicalName } from './model.js';
import type { EntityFilter } from './q-filter.js';
import { refusals } from './refusal.js';

const EARTH_RADIUS_METRES = 6_371_008.8;

type PointLocation = 'inside' | 'boundary' | 'outside';

/**
 * Makes the filter of a geoquery (clause 4.10) for entities whose GeoProperty is a Point; other geometries never match.
 * Supported are near with a Point (great circle), and within, intersects, disjoint and equals with a Point, Polygon or
 * MultiPolygon (on the longitude/latitude plane).
 *
 * @throws Refusal 501 for anything else
 */
export function geoFilter(query: GeoQuery): EntityFilter {
  const name = canonicalName(query.geoproperty);
  const test = pointTest(query);
  return (entity) => {
    const attribute = entity.attributes.find((each) => each.name === name);
    return attribute?.instances.some(({ body }) => testPoint(member(body, 'value'), test)) ?? false;
  };
}

function testPoint(value: JsonValue | undefined, test: (point: Position) => boolean): boolean {
  if (value === undefined || !isObject(value) || member(value, 'type') !== 'Point') return false;
  const point: unknown = member(value, 'coordinates');
  return isPosition(point) && test(point);
}

function pointTest({ relation, geometry, coordinates }: GeoQuery): (point: Position) => boolean {
  if (relation.kind === 'near') {
    const { metres, bound } = relation;
    if (!isPosition(coordinates)) throw unsupported(relation.kind, geometry);
    return (point) => {
      const distance = distanceMetres(coordinates, point);
      return bound === 'maxDistance' ? distance <= metres : distance > metres;
    };
  }
  const placeOf = placer(relation.kind, geometry, coordinates);
  switch (relation.kind) {
    case 'within':
      return (point) => placeOf(point) === 'inside';
    case 'intersects':
      return (point) => placeOf(point) !== 'outside';
    case 'disjoint':
      return (point) => placeOf(point) === 'outside';
    case 'equals':
      return (point) => geometry === 'Point' && placeOf(point) === 'inside';
    case 'contains':
    case 'overlaps':
      throw unsupported(relation.kind, geometry);
  }
}

function unsupported(relation: string, geometry: string) {
  return refusals.notImplemented(`georel=${relation} with geometry=${geometry} is not supported`);
}

function placer(
  relation: string,
  geometry: string,
  coordinates: GeoQuery['coordinates'],
): (point: Position) => PointLocation {
  // parseGeoQuery has already checked the nesting of the coordinates for this geometry.
  switch (geometry) {
    case 'Point': {
      const [longitude, latitude] = coordinates as Position;
      return ([x, y]) => (x === longitude && y === latitude ? 'inside' : 'outside');
    }
    case 'Polygon':
      return (point) => placeInPolygon(point, coordinates as readonly (readonly Position[])[]);
    case 'MultiPolygon':
      return (point) => {
        const polygons = coordinates as readonly (readonly (readonly Position[])[])[];
        const places = polygons.map((polygon) => placeInPolygon(point, polygon));
        return (
          places.find((place) => place === 'inside') ??
          places.find((place) => place === 'boundary') ??
          'outside'
        );
      };
    default:
      throw unsupported(relation, geometry);
  }
}

/** Locates a point in a polygon. The first ring is the outline, the others are holes. */
function placeInPolygon(
  point: Position,
  [outline = [], ...holes]: readonly (readonly Position[])[],
): PointLocation {
  const place = placeInRing(point, outline);
  if (place !== 'inside') return place;
  for (const hole of holes) {
    const placeInHole = placeInRing(point, hole);
    if (placeInHole === 'boundary') return 'boundary';
    if (placeInHole === 'inside') return 'outside';
  }
  return 'inside';
}

/** Locates a point by counting the edges that a ray to the east crosses. */
function placeInRing([x, y]: Position, ring: readonly Position[]): PointLocation {
  let inside = false;
  for (let at = 1; at < ring.length; at += 1) {
    const [x1, y1] = ring[at - 1] ?? [Number.NaN, Number.NaN];
    const [x2, y2] = ring[at] ?? [Number.NaN, Number.NaN];
    const side = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
    const inBox =
      x >= Math.min(x1, x2) && x <= Math.max(x1, x2) && y >= Math.min(y1, y2) && y <= Math.max(y1, y2);
    if (side === 0 && inBox) return 'boundary';
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside ? 'inside' : 'outside';
}

/** Computes the great-circle distance (haversine), in metres. */
export function distanceMetres(from: Position, to: Position): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const latitudes = Math.sin(radians(to[1] - from[1]) / 2) ** 2;
  const longitudes = Math.sin(radians(to[0] - from[0]) / 2) ** 2;
  const half = latitudes + Math.cos(radians(from[1])) * Math.cos(radians(to[1])) * longitudes;
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(half)));
}
