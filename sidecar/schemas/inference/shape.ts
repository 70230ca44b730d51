import { hasFormat } from '../json-schema/formats.js';
import { INFERENCE_LIMITS } from './errors.js';
import type { GeometryType } from './geojson.js';

/** The formats that are inferred. */
const FORMATS = ['date-time', 'date', 'time', 'uuid', 'email', 'ipv4', 'ipv6', 'uri'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * What a string must look like to be taken for one of a format; the format's own check decides then.
 *
 * Of URIs, only those that are not written by accident: `Mo-Fr:08:00` and `A:1` are URIs to RFC 3986. A UUID in a URN is
 * one URN among others.
 */
const LOOKS: Readonly<Record<Format, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\d[Tt]/,
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d/,
  uuid: /^[\dA-Fa-f]{8}-/,
  email: /@/,
  ipv4: /^\d{1,3}\./,
  ipv6: /^[\dA-Fa-f]{0,4}:[\dA-Fa-f:.]*$/,
  uri: /^(?:urn:[^:]+:|[a-z][a-z\d+.-]*:\/\/|(?:mailto|tel|geo|did|data):)/i,
};

/** Matches every string with a format, and few others. */
const MAY_HAVE_FORMAT = /[:@]|^[\dA-Fa-f]+[.-]/;

/**
 * The format of a string by the same check that validation makes; the first that fits, so that each string has at most
 * one. Were there several, samples with fewer of them could narrow the schema.
 */
export function formatOf(text: string): Format | undefined {
  if (text.length > INFERENCE_LIMITS.formattedLength || !MAY_HAVE_FORMAT.test(text)) return undefined;
  return FORMATS.find((format) => LOOKS[format].test(text) && hasFormat(format, text));
}

/** Whether a string that is known to be a reference, such as an entity's id, is a URI by the check of validation. */
export function hasUriFormat(text: string): boolean {
  return text.length <= INFERENCE_LIMITS.formattedLength && hasFormat('uri', text);
}

/** Types of JSON as JSON Schema names them, in the order in which schemas list them; fractions are its other numbers. */
const TYPES = ['object', 'array', 'string', 'integer', 'fraction', 'boolean', 'null'] as const;
export type ShapeType = (typeof TYPES)[number];

/**
 * What was seen at one place in all samples. Everything seen is added to sets, or drops something for good. Therefore neither
 * the order of the samples nor repeating one makes a difference, and more of them only ever widen the shape.
 *
 * Samples may have as many places as characters: what a place need not have is undefined.
 */
export interface Shape {
  /** Of a member: how many of the objects around it have it. */
  count: number;
  /** A set of types, by the bits of {@link bitOf}. */
  types: number;
  /** The one format of all strings; null when they have none in common, undefined before the first string. */
  format: Format | null | undefined;
  /** Whether all strings are ids of NGSI-LD entities; undefined before the first string. */
  areEntityIds: boolean | undefined;
  /** Distinct strings as long as they can be an enumeration; null when not, or when enumerations are not wanted. */
  words: Set<string> | null | undefined;
  /** All items of all arrays; undefined while these are empty. */
  items: Shape | undefined;
  objects: ObjectsShape | undefined;
}

/** The objects at one place. Well-known ones are not taken apart. */
export interface ObjectsShape {
  /** Types of the GeoJSON geometries among them. */
  geometries: Set<GeometryType> | undefined;
  /** What the language maps among them hold for their languages; undefined when there is none. */
  languages: Shape | undefined;
  /** Names of the members that alone make an object the wrapping of a value, such as `languageMap`. */
  wrappings: Set<string> | undefined;
  /** How many others there are. */
  others: number;
  /** The members of the others, by name; undefined when there are too many names. */
  members: Map<string, Shape> | undefined;
}

const BITS: Readonly<Record<ShapeType, number>> = {
  object: 1,
  array: 2,
  string: 4,
  integer: 8,
  fraction: 16,
  boolean: 32,
  null: 64,
};

export function bitOf(type: ShapeType): number {
  return BITS[type];
}

/** The types of a set, in the order of {@link TYPES}. */
export function typesIn(types: number): readonly ShapeType[] {
  return TYPES.filter((type) => (types & BITS[type]) !== 0);
}

export function emptyShape(): Shape {
  return {
    count: 0,
    types: 0,
    format: undefined,
    areEntityIds: undefined,
    words: undefined,
    items: undefined,
    objects: undefined,
  };
}

export function noObjects(): ObjectsShape {
  return { geometries: undefined, languages: undefined, wrappings: undefined, others: 0, members: new Map() };
}

/** Whether all objects at a place are language maps. */
export function isLanguageMapOnly({ geometries, languages, others }: ObjectsShape): boolean {
  return languages !== undefined && geometries === undefined && others === 0;
}

/** Whether all objects at a place are geometries. */
export function isGeometryOnly({ geometries, languages, others }: ObjectsShape): boolean {
  return geometries !== undefined && languages === undefined && others === 0;
}
