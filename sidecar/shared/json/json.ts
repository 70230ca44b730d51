import { compareNumbers, isInteger, LosslessNumber } from './lossless-number.js';

/** A JSON value as `parseJson` gives it: numbers that no double holds are exact. */
export type JsonValue = null | boolean | number | LosslessNumber | string | readonly JsonValue[] | JsonObject;

/** A JSON object; members are read with {@link member}, for their names are the author's. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A JSON Schema: an object of keywords, or a boolean. */
export type Schema = JsonObject | boolean;

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isSchema(value: JsonValue | undefined): value is Schema {
  return typeof value === 'boolean' || isObject(value);
}

/** The object's own member; never one that every object inherits, such as `constructor`. */
export function member<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The strings in a JSON array; none when the value is not an array. */
export function stringsOf(value: JsonValue | undefined): readonly string[] {
  return isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/**
 * An object of these members. `__proto__` becomes an ordinary member, as JSON.parse makes it. Takes a fraction of the time
 * of Object.fromEntries.
 */
export function objectOf(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const [name, value] of entries) {
    if (name !== '__proto__') object[name] = value;
    else Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
  }
  return object;
}

/** Whether two values are the same JSON: the order of an object's members does not count, nor how a number is written. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof LosslessNumber)
    return other instanceof LosslessNumber && compareNumbers(one, other) === 0;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
}

/** The type of a value, by the name that schemas have for it; all numbers are numbers. */
export function jsonType(value: JsonValue): 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (value instanceof LosslessNumber) return 'number';
  if (isObject(value)) return 'object';
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return 'number';
    default:
      return 'string';
  }
}

/** Whether a value is of a type of JSON Schema: 1.0 is an integer. */
export function isOfType(value: JsonValue, type: string): boolean {
  return type === 'integer' ? isInteger(value) : jsonType(value) === type;
}
