import { askQuietly } from '../entities/entity-api.js';
import { useDebounced } from '../shared/use-debounced.js';
import { useLoad } from '../shared/use-load.js';
import { optionsIn } from '../../sidecar/shared/purge-options.js';
import { queryOf, type Field, type PurgeForm } from './form.js';
import { metresBetween, type Point, type Shape } from './geo-shape.js';

/** Maximum number of entities shown on the map. */
const MOST = 100;

/** Fields to leave out of the query: those for a location or a time, and those that say what to do with the matches. */
const LEFT_OUT: readonly Field[] = [
  ...(['georel', 'geometry', 'coordinates', 'geoproperty', 'drop', 'keep', 'timerel'] as const),
  ...(['timeAt', 'endTimeAt', 'timeproperty', 'datasetId'] as const),
  ...optionsIn('console'),
];

const NOWHERE: readonly Point[] = [];

/** Returns the locations of some entities that the rest of the form selects; empty if the broker does not answer. */
export function useEntityPlaces(form: PurgeForm, isWanted: boolean): readonly Point[] {
  const { tenant, link, fields } = form;
  const query = queryOf(form, LEFT_OUT);
  const property = fields.geoproperty?.trim() || 'location';
  const asked = useDebounced(JSON.stringify([isWanted && query !== '', query, property, tenant, link]), 450);
  const { value } = useLoad(asked, async (signal) => {
    const [isAsked, narrowing, name] = JSON.parse(asked) as [boolean, string, string];
    if (!isAsked) return NOWHERE;
    return placesIn(await askQuietly(`entities?${narrowing}&limit=${MOST}`, form, signal), name);
  });
  return value ?? NOWHERE;
}

/** Returns the first position in the geometry of each entity (RFC 7946). */
export function placesIn(entities: unknown, property: string): readonly Point[] {
  return [entities].flat().flatMap((entity: unknown) => {
    const attribute = [memberOf(entity, property)].flat()[0];
    let position = memberOf(memberOf(attribute, 'value'), 'coordinates');
    while (Array.isArray(position) && Array.isArray(position[0])) position = position[0] as unknown;
    const [lon, lat] = Array.isArray(position) ? (position as readonly unknown[]) : [];
    return typeof lon === 'number' && typeof lat === 'number' ? [{ lon, lat }] : [];
  });
}

function memberOf(value: unknown, name: string): unknown {
  return (Object(value) as Readonly<Record<string, unknown>>)[name];
}

/** Returns a shape around locations, with a margin; undefined if there are none. */
export function shapeAround(places: readonly Point[], kind: Shape['kind']): Shape | undefined {
  if (places.length === 0) return undefined;
  const lons = places.map(({ lon }) => lon);
  const lats = places.map(({ lat }) => lat);
  const [west, east] = [Math.min(...lons), Math.max(...lons)];
  const [south, north] = [Math.min(...lats), Math.max(...lats)];
  const room = Math.max(0.01, (east - west) * 0.1, (north - south) * 0.1);
  const from = { lon: Math.max(-180, west - room), lat: Math.max(-90, south - room) };
  const to = { lon: Math.min(180, east + room), lat: Math.min(90, north + room) };
  if (kind === 'box') return { kind, from, to };
  const centre = { lon: (west + east) / 2, lat: (south + north) / 2 };
  return {
    kind,
    centre,
    metres: Math.ceil(Math.max(...places.map((one) => metresBetween(centre, one))) * 1.1) + 500,
  };
}
