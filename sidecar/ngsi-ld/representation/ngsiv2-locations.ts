import { isArray, type JsonObject, type JsonValue } from '../../shared/json/json.js';
import { shown } from '../../shared/shown.js';

/** Types of NGSIv2 whose values are coordinates as text, `latitude, longitude` in degrees. */
export type LocationType = 'geo:point' | 'geo:line' | 'geo:polygon' | 'geo:box';

/** How many points each takes, and what it is called. */
const POINTS: Readonly<Record<LocationType, readonly [least: number, most: number, what: string]>> = {
  'geo:point': [1, 1, 'a point "latitude, longitude"'],
  'geo:line': [2, Infinity, 'an array of at least 2 points "latitude, longitude"'],
  'geo:polygon': [4, Infinity, 'an array of at least 4 points "latitude, longitude", the last as the first'],
  'geo:box': [2, 2, 'an array of 2 opposite points "latitude, longitude"'],
};

type Position = readonly [longitude: number, latitude: number];

/**
 * The GeoJSON geometry of a location in the simple format of NGSIv2, or what the value must be instead: the predicate of a
 * sentence.
 */
export function geometryOfLocation(type: LocationType, value: JsonValue): JsonObject | string {
  const [least, most, what] = POINTS[type];
  const points = (type === 'geo:point' ? [value] : isArray(value) ? value : []).map(positionIn);
  const positions = points.filter((one) => one !== undefined);
  const isWhole = positions.length === points.length && points.length >= least && points.length <= most;
  const [first, second] = positions;
  const isClosed = type !== 'geo:polygon' || String(first) === String(positions.at(-1));
  if (!isWhole || !isClosed || first === undefined) return `must be ${what}, is ${shown(value)}`;
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
