/** Converts a drawn shape to a geoquery, and back. Pure. */

/** Degrees of longitude and latitude (WGS 84). */
export interface Point {
  readonly lon: number;
  readonly lat: number;
}

export type Shape =
  | { readonly kind: 'circle'; readonly centre: Point; readonly metres: number }
  | { readonly kind: 'box'; readonly from: Point; readonly to: Point };

type GeoFields = Readonly<Record<'georel' | 'geometry' | 'coordinates', string>>;

const METRES_PER_DEGREE = 111_320;

/** Returns the parameters for a shape: `near` a point, or `within` a polygon. */
export function geoQueryOf(shape: Shape): GeoFields {
  if (shape.kind === 'circle') {
    const { centre, metres } = shape;
    return {
      georel: `near;maxDistance==${Math.max(1, Math.round(metres))}`,
      geometry: 'Point',
      coordinates: `[${degrees(centre.lon)},${degrees(centre.lat)}]`,
    };
  }
  const [west, east] = [shape.from.lon, shape.to.lon].sort((a, b) => a - b) as [number, number];
  const [south, north] = [shape.from.lat, shape.to.lat].sort((a, b) => a - b) as [number, number];
  // Counterclockwise, and closed (RFC 7946 § 3.1.6).
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ].map(([lon = 0, lat = 0]) => `[${degrees(lon)},${degrees(lat)}]`);
  return { georel: 'within', geometry: 'Polygon', coordinates: `[[${ring.join(',')}]]` };
}

/** Returns the shape of a geoquery; undefined if it cannot be drawn here. */
export function shapeOf(fields: Partial<GeoFields>): Shape | undefined {
  let coordinates: unknown;
  try {
    coordinates = JSON.parse(fields.coordinates ?? '');
  } catch {
    return undefined;
  }
  const metres = /^near;maxDistance==(\d+(?:\.\d+)?)$/.exec(fields.georel ?? '')?.[1];
  if (metres !== undefined && fields.geometry === 'Point') {
    const centre = pointOf(coordinates);
    return centre && { kind: 'circle', centre, metres: Number(metres) };
  }
  if (fields.georel !== 'within' || fields.geometry !== 'Polygon' || !Array.isArray(coordinates))
    return undefined;
  const [ring, ...holes] = coordinates as readonly unknown[];
  if (holes.length > 0 || !Array.isArray(ring) || ring.length !== 5) return undefined;
  const points = (ring as readonly unknown[]).map(pointOf);
  const [a, b, c, d, e] = points;
  if (!a || !b || !c || !d || !e) return undefined;
  const isBox = a.lat === b.lat && b.lon === c.lon && c.lat === d.lat && d.lon === a.lon && e.lon === a.lon;
  return isBox && e.lat === a.lat ? { kind: 'box', from: a, to: c } : undefined;
}

/** Returns the metres between two points, accurate enough for a circle that is drawn by hand. */
export function metresBetween(a: Point, b: Point): number {
  const north = (b.lat - a.lat) * METRES_PER_DEGREE;
  const east = (b.lon - a.lon) * METRES_PER_DEGREE * Math.cos((a.lat * Math.PI) / 180);
  return Math.hypot(north, east);
}

/** Returns the degrees of latitude and longitude that a distance spans at a point. */
export function degreesOf(metres: number, { lat }: Point): { readonly lat: number; readonly lon: number } {
  const across = Math.max(0.01, Math.cos((lat * Math.PI) / 180));
  return { lat: metres / METRES_PER_DEGREE, lon: metres / METRES_PER_DEGREE / across };
}

function degrees(value: number): string {
  return String(Number(value.toFixed(5)));
}

function pointOf(value: unknown): Point | undefined {
  if (!Array.isArray(value)) return undefined;
  const [lon, lat] = value as readonly unknown[];
  return typeof lon === 'number' && typeof lat === 'number' ? { lon, lat } : undefined;
}
