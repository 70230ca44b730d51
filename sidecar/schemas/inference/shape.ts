import { hasFormat } from '../json-schema/formats.js';
import { INFERENCE_LIMITS } from './errors.js';
import type { GeometryType } from './geojson.js';

/** The formats that can be inferred. */
const FORMATS = ['date-time', 'date', 'time', 'uuid', 'email', 'ipv4', 'ipv6', 'uri'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * What a string must look like to be considered for a format; the format's own check then decides.
 *
 * For `uri`, only strings that are not URIs by accident: `Mo-Fr:08:00` and `A:1` are URIs according to RFC 3986. A UUID
 * in a URN is treated like any other URN.
 */
const FORMAT_PATTERNS: Readonly<Record<Format, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\d[Tt]/,
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d/,
  uuid: /^[\dA-Fa-f]{8}-/,
  email: /@/,
  ipv4: /^\d{1,3}\./,
  ipv6: /^[\dA-Fa-f]{0,4}:[\dA-Fa-f:.]*$/,
  uri: /^(?:urn:[^:]+:|[a-z][a-z\d+.-]*:\/\/|(?:mailto|tel|geo|did|data):)/i,
};

/** Matches every string that can have a format, and few others. */
const MAY_HAVE_FORMAT = /[:@]|^[\dA-Fa-f]+[.-]/;

/**
 * Returns the format of a string, by the same check as validation. It is the first that fits, so that each string has
 * at most one: with several, a sample with fewer formats could narrow the schema.
 */
export function formatOf(text: string): Format | undefined {
  if (text.length > INFERENCE_LIMITS.formattedLength || !MAY_HAVE_FORMAT.test(text)) return undefined;
  return FORMATS.find((format) => FORMAT_PATTERNS[format].test(text) && hasFormat(format, text));
}

/** Whether a string that is known to be a reference, such as an entity's id, is a URI by the same check as validation. */
export function hasUriFormat(text: string): boolean {
  return text.length <= INFERENCE_LIMITS.formattedLength && hasFormat('uri', text);
}

/** The types of JSON Schema, in the order in which schemas list them; `fraction` means numbers that are not integers. */
const TYPES = ['object', 'array', 'string', 'integer', 'fraction', 'boolean', 'null'] as const;
export type ShapeType = (typeof TYPES)[number];

/**
 * What was observed at one place in all samples. Every observation adds to a set, or drops something permanently.
 * Therefore neither the order nor the repetition of samples matters, and more samples only ever widen the shape.
 *
 * Samples may have as many places as characters, so whatever a place does not need is left out.
 */
export interface Shape {
  /** For a member: how many of the enclosing objects have it. */
  count: number;
  /** A set of types, as a combination of the bits of {@link bitOf}. */
  types: number;
  /** The common format of all strings; null if there is none, undefined before the first string. */
  format?: Format | null;
  /** Whether all strings are ids of NGSI-LD entities; undefined before the first string. */
  areEntityIds?: boolean;
  /** Distinct strings, as long as they can be an enumeration; null if they cannot, or if enumerations are off. */
  words?: Set<string> | null;
  /** The shape of all items of all arrays; undefined while there are none. */
  items?: Shape;
  objects?: ObjectsShape;
}

/** The objects at one place. Well-known kinds of objects are not described by their members. */
export interface ObjectsShape {
  /** Types of the GeoJSON geometries among the objects. */
  geometries?: Set<GeometryType>;
  /** The shape of the texts in the language maps among the objects; undefined if there are no language maps. */
  languages?: Shape;
  /** Names of members that, as the only member, make an object the wrapping of a value, such as `languageMap`. */
  wrappings?: Set<string>;
  /** Number of other objects. */
  others: number;
  /** The members of the other objects, by name; undefined if there are too many names. */
  members: Map<string, Shape> | undefined;
}

export function bitOf(type: ShapeType): number {
  return 1 << TYPES.indexOf(type);
}

/** Returns the types in a set, in the order of {@link TYPES}. */
export function typesIn(types: number): readonly ShapeType[] {
  return TYPES.filter((type) => (types & bitOf(type)) !== 0);
}

export function emptyShape(): Shape {
  return { count: 0, types: 0 };
}

export function noObjects(): ObjectsShape {
  return { others: 0, members: new Map() };
}

/** Whether all objects at a place are language maps. */
export function isLanguageMapOnly({ geometries, languages, others }: ObjectsShape): boolean {
  return languages !== undefined && geometries === undefined && others === 0;
}

/** Whether all objects at a place are geometries. */
export function isGeometryOnly({ geometries, languages, others }: ObjectsShape): boolean {
  return geometries !== undefined && languages === undefined && others === 0;
}
