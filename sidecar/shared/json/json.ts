import {
  compareDecimals,
  type Decimal,
  decimalOf,
  decimalOfDouble,
  isDoubleMultipleOf,
  isMultipleOf,
} from './decimal.js';

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

/** The items of an array; a single value as an array of one. */
export function itemsOf(value: JsonValue): readonly JsonValue[] {
  return isArray(value) ? value : [value];
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

/** The object without the members of these names; itself where it has none of them, as is usual. */
export function without(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  for (const name of names)
    if (Object.hasOwn(object, name))
      return objectOf(Object.entries(object).filter(([other]) => !names.has(other)));
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

/** A JSON pointer (RFC 6901) of these reference tokens, without the `#` of a fragment. */
export function pointerOf(tokens: readonly string[]): string {
  return pointerTo('', ...tokens);
}

/** A JSON pointer that goes on from another one. */
export function pointerTo(base: string, ...tokens: readonly (string | number)[]): string {
  let pointer = base;
  for (const token of tokens) pointer += `/${typeof token === 'number' ? token : escaped(token)}`;
  return pointer;
}

function escaped(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

/** The reference tokens of a JSON pointer; undefined when the text is not a pointer. */
export function tokensOf(pointer: string): readonly string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer as the fragment of a URI (RFC 6901 section 6), without `#`. */
export function fragmentOf(tokens: readonly string[]): string {
  // What encodeURI leaves alone may stand in a fragment, except `#`. It throws on half a surrogate pair.
  return encodeURI(pointerOf(tokens).replaceAll(/[\uD800-\uDFFF]/gu, '\uFFFD')).replaceAll('#', '%23');
}

/** One step of a pointer: a member of an object, or an item of an array. */
export function step(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (isObject(value)) return member(value, token);
  if (!isArray(value) || !/^(?:0|[1-9]\d*)$/.test(token)) return undefined;
  return value[Number(token)];
}

/** What is wrong at one place of an input. */
export interface InputIssue {
  /** JSON Pointer (RFC 6901) into the input. */
  readonly pointer: string;
  /** A sentence or predicate for people. */
  readonly detail: string;
}

/** A number of JSON, exactly as it was written. */
export type JsonNumber = number | LosslessNumber;

/** What an exact number gives to JSON.stringify; a property of each, since what has a function is never copied silently. */
let jsonOf = (number: LosslessNumber): string => number.text;

let areThereAny = false;

/** Whether this thread has met an exact number yet. Most never do, and need not look for any. */
export function areThereLosslessNumbers(): boolean {
  return areThereAny;
}

function toJSON(this: LosslessNumber): string {
  return jsonOf(this);
}

/**
 * A number that no double holds: an integer beyond 2^53, or a decimal of more digits. {@link isLossy} says which these are.
 *
 * It cannot be sent to another thread (a DataCloneError says so), and JSON.stringify writes it as a string: `writeJson` writes
 * it as it was.
 */
export class LosslessNumber {
  readonly text: string;
  readonly decimal: Decimal;
  readonly toJSON = toJSON;

  /** @param text a number of JSON, not so large that it is beyond the range of doubles */
  constructor(text: string) {
    this.text = text;
    this.decimal = decimalOf(text);
    areThereAny = true;
  }

  get isInteger(): boolean {
    return this.decimal.exponent >= 0;
  }

  /** The same for all ways to write the number. */
  get canonical(): string {
    const { isNegative, digits, exponent } = this.decimal;
    return `${isNegative ? '-' : ''}${digits}e${exponent}`;
  }

  /** The nearest double. */
  get double(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }
}

/** Does some work while JSON.stringify writes exact numbers in another way. */
export function writingNumbers<Result>(
  write: (number: LosslessNumber) => string,
  work: () => Result,
): Result {
  const before = jsonOf;
  jsonOf = write;
  try {
    return work();
  } finally {
    jsonOf = before;
  }
}

/**
 * Whether a number of JSON would change if it were read as a double and written again: 9007199254740993 and
 * 0.1000000000000000001 would.
 */
export function isLossy(literal: string): boolean {
  const double = Number(literal);
  // A double holds fifteen digits at least, unless it is very small.
  if ((literal.length <= 15 && !/[eE]/.test(literal)) || !Number.isFinite(double)) return false;
  // As nearly all programs write doubles.
  if (String(double) === literal) return false;
  return compareDecimals(decimalOf(literal), decimalOfDouble(double)) !== 0;
}

export function isNumber(value: unknown): value is JsonNumber {
  return typeof value === 'number' || value instanceof LosslessNumber;
}

export function isInteger(value: unknown): boolean {
  return value instanceof LosslessNumber ? value.isInteger : Number.isInteger(value);
}

/** Negative, zero or positive, as the first is less than, equal to or greater than the second; infinite ones too, but not NaN. */
export function compareNumbers(one: JsonNumber, other: JsonNumber): number {
  const areDoubles = typeof one === 'number' && typeof other === 'number';
  if (areDoubles || one === Infinity || one === -Infinity || other === Infinity || other === -Infinity)
    return compareDoubles(doubleOf(one), doubleOf(other));
  return compareDecimals(decimalIn(one), decimalIn(other));
}

/** Whether a number is a whole multiple of another, each taken as it is written. @param divisor finite, not zero */
export function isMultiple(value: JsonNumber, divisor: JsonNumber): boolean {
  if (typeof value === 'number' && typeof divisor === 'number') return isDoubleMultipleOf(value, divisor);
  return Number.isFinite(doubleOf(value)) && isMultipleOf(decimalIn(value), decimalIn(divisor));
}

function compareDoubles(one: number, other: number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The number itself, or the double nearest to it. */
export function doubleOf(number: JsonNumber): number {
  return typeof number === 'number' ? number : number.double;
}

function decimalIn(number: JsonNumber): Decimal {
  return typeof number === 'number' ? decimalOfDouble(number) : number.decimal;
}
