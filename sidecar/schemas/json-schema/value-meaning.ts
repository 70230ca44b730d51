import {
  doubleOf,
  isObject,
  type JsonObject,
  type JsonValue,
  member,
  type Schema,
} from '../../shared/json/json.js';
import { Facts } from './facts.js';
import { conjunctsOf, schemasIn } from './flat-graph.js';
import type { Targets } from './flatten.js';

/**
 * How a description names its unit, as Smart Data Models write it: `Units:'km/h'`. Without quotes, it is one word at the end
 * of a sentence: `Unit: see unitCode` names none.
 */
const UNIT = /\bunits?\s*:\s*(?:'([^']*)'|"([^"]*)"|([^\s.,;'"]+)(?=\.?\s*$|\.\s))/i;

/** Symbols of units depend on case (`mW`, `MW`), words do not (`Celsius`). */
const WORDS = /^[a-z]{5,}(?: [a-z]+)*$/i;

/** The unit that schemas of a value name, in `x-ngsi.units` or a description; words in lower case. */
export function unitOf(atoms: readonly JsonObject[]): string | undefined {
  for (const atom of atoms) {
    const hint = member(atom, 'x-ngsi');
    const named = isObject(hint) ? (member(hint, 'units') ?? member(hint, 'unit')) : undefined;
    const unit = plain(named ?? statedUnit(member(atom, 'description')));
    if (unit !== undefined) return WORDS.test(unit) ? unit.toLowerCase() : unit;
  }
  return undefined;
}

function statedUnit(description: JsonValue | undefined): string | undefined {
  const match = typeof description === 'string' ? UNIT.exec(description) : null;
  return match?.[1] ?? match?.[2] ?? match?.[3];
}

function plain(unit: JsonValue | undefined): string | undefined {
  const text = typeof unit === 'string' ? unit.trim().replaceAll(/\s+/g, ' ') : '';
  return text === '' ? undefined : text;
}

/** All the types there are, integers and fractions as two. */
const ALL_TYPES = 7;

/** The types that the value can have, numbers as one; none where nothing is said. `null` is the type of no value. */
export function valueTypesOf({ types }: Facts): readonly string[] {
  if (types.size === ALL_TYPES) return [];
  const names = [...types].map((type) => (type === 'integer' || type === 'fraction' ? 'number' : type));
  return [...new Set(names)].filter((name) => name !== 'null').map((name) => NOUNS[name] ?? name);
}

const NOUNS: Readonly<Record<string, string>> = {
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
};

/** Strings of these formats are not texts to brokers and clients, but points or lengths of time. */
const READINGS: Readonly<Record<string, string>> = {
  'date-time': 'a date and time',
  'iso-date-time': 'a date and time',
  date: 'a date',
  time: 'a time of day',
  'iso-time': 'a time of day',
  duration: 'a duration',
};

const TEXT = 'a text';

/** How strings of the value are read; none where nothing says that there are strings. */
export function readingsOf(facts: Facts, atoms: readonly JsonObject[], targets: Targets): readonly string[] {
  if (!facts.types.has('string') || facts.types.size === ALL_TYPES) return [];
  const always = facts.atoms.flatMap(readingIn);
  if (always.length > 0) return distinct(always);
  const ways = atoms
    .flatMap((atom) => [...schemasIn(atom, 'anyOf'), ...schemasIn(atom, 'oneOf')])
    .map((way) => new Facts([...facts.schemas, way], targets))
    .filter((way) => way.types.has('string'))
    .flatMap((way) => {
      const own = way.atoms.flatMap(readingIn);
      return own.length > 0 ? own : [TEXT];
    });
  return ways.length > 0 ? distinct(ways) : [TEXT];
}

function readingIn(atom: JsonObject): readonly string[] {
  const format = member(atom, 'format');
  const reading =
    typeof format === 'string' && Object.hasOwn(READINGS, format) ? READINGS[format] : undefined;
  return reading === undefined ? [] : [reading];
}

/** Which coordinate comes first. */
export type CoordinateOrder = 'latitude' | 'longitude';

const LATITUDE = String.raw`\blat(?:itude)?s?\b`;
const LONGITUDE = String.raw`\b(?:lon|lng|long|longitude)s?\b`;
const BETWEEN = String.raw`[\s,;/|()\[\]-]*(?:and |then )?`;
const LATITUDE_FIRST = new RegExp(`${LATITUDE}${BETWEEN}${LONGITUDE}`, 'i');
const LONGITUDE_FIRST = new RegExp(`${LONGITUDE}${BETWEEN}${LATITUDE}`, 'i');

/** The greatest latitude and longitude, in degrees. */
const GREATEST: Readonly<Record<number, CoordinateOrder>> = { 90: 'latitude', 180: 'longitude' };

/**
 * The order of coordinates, where a description, or names or bounds of the first two items tell it. Values that are neither
 * lists nor objects have none.
 */
export function coordinateOrderOf(
  { types }: Facts,
  atoms: readonly JsonObject[],
  targets: Targets,
): CoordinateOrder | undefined {
  if (!types.has('array') && !types.has('object')) return undefined;
  for (const atom of atoms) {
    const described = orderIn(member(atom, 'description'));
    if (described !== undefined) return described;
    const [first, second] = schemasIn(atom, 'prefixItems').map((item) => coordinateOf(item, targets));
    if (first !== undefined && second !== undefined && first !== second) return first;
  }
  return undefined;
}

function orderIn(description: JsonValue | undefined): CoordinateOrder | undefined {
  if (typeof description !== 'string') return undefined;
  const [latitudes, longitudes] = [LATITUDE_FIRST.test(description), LONGITUDE_FIRST.test(description)];
  if (latitudes === longitudes) return undefined;
  return latitudes ? 'latitude' : 'longitude';
}

function coordinateOf(item: Schema, targets: Targets): CoordinateOrder | undefined {
  const atoms = conjunctsOf([item], targets).filter(isObject);
  for (const text of atoms.flatMap((atom) => [member(atom, 'title'), member(atom, 'description')])) {
    if (typeof text !== 'string') continue;
    const [isLatitude, isLongitude] = [
      new RegExp(LATITUDE, 'i').test(text),
      new RegExp(LONGITUDE, 'i').test(text),
    ];
    if (isLatitude !== isLongitude) return isLatitude ? 'latitude' : 'longitude';
  }
  const { value } = new Facts([item], targets).upperBound();
  return GREATEST[doubleOf(value)];
}

function distinct(items: readonly string[]): readonly string[] {
  return [...new Set(items)];
}
