import {
  doubleOf,
  isArray,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  pointerOf,
} from '../../shared/json/json.js';
import { GEOMETRY_COLLECTION, GEOMETRY_DEPTHS, GEOMETRY_TYPES } from '../geo-query.js';
import { didYouMean, Findings } from './findings.js';
import { formatValue } from '../../shared/format-value.js';

const DEPTHS: ReadonlyMap<JsonValue | undefined, number> = new Map(Object.entries(GEOMETRY_DEPTHS));

/** Whether an object is meant as a GeoJSON geometry, which is a value although it has a `type`. */
export function isGeometry(value: JsonValue | undefined): value is JsonObject {
  if (!isObject(value)) return false;
  const type = member(value, 'type');
  return DEPTHS.has(type)
    ? Object.hasOwn(value, 'coordinates')
    : type === GEOMETRY_COLLECTION && Object.hasOwn(value, 'geometries');
}

/** Returns the geometry in a string of JSON, which clause 4.7.2 allows; undefined if there is none. */
export function geometryInText(text: string): JsonObject | undefined {
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  if (!isObject(parsed)) return undefined;
  const [type, coordinates] = [member(parsed, 'type'), member(parsed, 'coordinates')];
  const depth = DEPTHS.get(type);
  // Only these two members, because the nesting of the text has not been limited.
  return type === undefined ||
    coordinates === undefined ||
    depth === undefined ||
    nests(coordinates, depth + 1)
    ? undefined
    : { type, coordinates };
}

function nests(value: JsonValue, depth: number): boolean {
  return isArray(value) && (depth === 1 || value.some((item) => nests(item, depth - 1)));
}

/** Reports faults of the value of a GeoProperty (clause 4.7.1), each at the position or ring concerned. */
export function checkGeometry(value: JsonValue, findings: Findings): void {
  if (typeof value === 'string') checkText(value, findings);
  else if (!isObject(value)) findings.fault('type', `must be a GeoJSON geometry, is ${formatValue(value)}`);
  else checkObject(value, findings);
}

/** Places inside a string have no pointer, so only the first fault is reported. */
function checkText(text: string, findings: Findings): void {
  const geometry = geometryInText(text);
  const inside = new Findings();
  if (geometry !== undefined) checkObject(geometry, inside);
  const [first] = inside.faults;
  if (geometry === undefined) findings.fault('type', `must be a GeoJSON geometry, is ${formatValue(text)}`);
  else if (first !== undefined)
    findings.fault(first.keyword, `contains a geometry whose ${pointerOf(first.tokens)} ${first.detail}`);
}

function checkObject(geometry: JsonObject, findings: Findings): void {
  const type = member(geometry, 'type');
  const depth = DEPTHS.get(type);
  if (type === GEOMETRY_COLLECTION) checkCollection(geometry, findings);
  else if (typeof type === 'string' && depth !== undefined) checkCoordinates(geometry, type, depth, findings);
  else if (type === undefined)
    findings.fault('required', `must be a GeoJSON geometry with a type (${GEOMETRY_TYPES.join(', ')})`);
  else {
    const meant = typeof type === 'string' ? didYouMean(type, GEOMETRY_TYPES) : '';
    findings.fault('enum', `must be the type of a GeoJSON geometry, is ${formatValue(type)}${meant}`, 'type');
  }
}

function checkCollection(geometry: JsonObject, findings: Findings): void {
  findings.warn(
    'geometry-collection',
    'is a GeometryCollection, which NGSI-LD does not support (clause 4.7.1)',
  );
  const geometries = member(geometry, 'geometries');
  if (!isArray(geometries)) {
    findings.fault('required', 'must have geometries, an array');
    return;
  }
  findings.enter('geometries');
  for (const [index, item] of geometries.entries()) {
    findings.enter(String(index));
    checkGeometry(item, findings);
    findings.leave();
  }
  findings.leave();
}

function checkCoordinates(geometry: JsonObject, type: string, depth: number, findings: Findings): void {
  const coordinates = member(geometry, 'coordinates');
  if (coordinates === undefined) {
    findings.fault('required', `is a ${type} and must have coordinates`);
    return;
  }
  findings.enter('coordinates');
  checkLevel(coordinates, depth, type, findings);
  findings.leave();
}

/** The meaning of the numbers of a position (RFC 7946, section 3.1.1). */
const NUMBERS = ['a longitude, a number', 'a latitude, a number', 'an altitude, a number'];

/** `misshapen`: arrays and numbers are in the wrong places, so all other items would be wrong in the same way. */
type NestingCheck = 'right' | 'wrong' | 'misshapen';

function checkLevel(value: JsonValue, depth: number, type: string, findings: Findings): NestingCheck {
  if (depth === 1) return checkPosition(value, findings);
  if (!isArray(value) || value.length === 0) {
    const what = depth === 2 ? 'an array of positions' : 'an array of arrays of positions';
    findings.fault('type', `must be ${what} in a ${type}, is ${formatValue(value)}`);
    return 'misshapen';
  }
  let outcome: NestingCheck = 'right';
  for (const [index, item] of value.entries()) {
    findings.enter(String(index));
    const found = checkLevel(item, depth - 1, type, findings);
    findings.leave();
    if (found === 'misshapen') return found;
    if (found === 'wrong') outcome = found;
  }
  return depth === 2 && outcome === 'right' ? checkLine(value, type, findings) : outcome;
}

function checkPosition(value: JsonValue, findings: Findings): NestingCheck {
  if (!isArray(value) || value.length < 2 || value.some(isArray)) {
    findings.fault('type', `must be a position, numbers [longitude, latitude], is ${formatValue(value)}`);
    return 'misshapen';
  }
  const wrong = value.flatMap((item, index) =>
    isNumber(item) && Number.isFinite(doubleOf(item)) ? [] : [index],
  );
  for (const index of wrong)
    findings.fault(
      'type',
      `must be ${NUMBERS[index] ?? 'a number'}, is ${formatValue(value[index])}`,
      String(index),
    );
  if (wrong.length > 0) return 'misshapen';
  // RFC 7946 defines the meaning of the numbers but does not forbid other values; some brokers accept them.
  if (Math.abs(Number(value[1])) > 90)
    findings.warn(
      'latitude',
      `is ${formatValue(value)}; latitudes are -90 to 90, and the longitude comes first`,
    );
  return 'right';
}

function checkLine(line: readonly JsonValue[], type: string, findings: Findings): NestingCheck {
  if (type.endsWith('LineString') && line.length < 2) {
    findings.fault('minItems', 'must be a line of at least 2 positions, has 1');
    return 'wrong';
  }
  if (!type.endsWith('Polygon')) return 'right';
  if (line.length < 4) {
    findings.fault('minItems', `must be a ring of at least 4 positions, has ${line.length}`);
    return 'wrong';
  }
  if (JSON.stringify(line[0]) === JSON.stringify(line.at(-1))) return 'right';
  findings.fault('const', 'must be a closed ring: the last position must equal the first');
  return 'wrong';
}
