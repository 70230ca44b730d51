import {
  compareDecimals,
  type Decimal,
  decimalOf,
  decimalOfDouble,
  isDoubleMultipleOf,
  isMultipleOf,
} from './decimal.js';

/** A JSON value as returned by `parseJson`: numbers that a double cannot represent are exact. */
export type JsonValue = null | boolean | number | LosslessNumber | string | readonly JsonValue[] | JsonObject;

/** A JSON object; use {@link member} to read members, because their names come from outside. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

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

/** Returns an own member of the object, never an inherited one such as `constructor`. */
export function member<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns the items of an array; a single value as an array of one. */
export function itemsOf(value: JsonValue): readonly JsonValue[] {
  return isArray(value) ? value : [value];
}

/** Returns the strings in a JSON array; none if the value is not an array. */
export function stringsOf(value: JsonValue | undefined): readonly string[] {
  return isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/**
 * Makes an object with these members. `__proto__` becomes an ordinary member, as in JSON.parse. Takes a fraction of the
 * time of Object.fromEntries.
 */
export function objectOf(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const [name, value] of entries) {
    if (name !== '__proto__') object[name] = value;
    else Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
  }
  return object;
}

/** Returns the object without the members with these names; the object itself if it has none of them, which is the usual case. */
export function omitMembers(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  for (const name of names)
    if (Object.hasOwn(object, name))
      return objectOf(Object.entries(object).filter(([other]) => !names.has(other)));
  return object;
}

/** Whether two values are equal as JSON: neither the order of members nor the spelling of numbers matters. */
export function jsonEquals(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof LosslessNumber)
    return other instanceof LosslessNumber && compareNumbers(one, other) === 0;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => jsonEquals(item, other[index]));
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && jsonEquals(one[name], other[name]))
  );
}

/**
 * Returns an equal value that has parts in common with another value: those that stand at the same place in both, with
 * their members in the same order, are the same objects.
 */
export function sharingParts(value: JsonValue, other: JsonValue | undefined): JsonValue {
  if (isArray(value) && isArray(other)) {
    const items = value.map((item, index) => sharingParts(item, other[index]));
    return items.length === other.length && items.every((item, index) => item === other[index])
      ? other
      : items;
  }
  if (!isObject(value) || !isObject(other)) return value;
  const [names, others] = [Object.keys(value), Object.keys(other)];
  const parts = names.map((name) => sharingParts(value[name] ?? null, member(other, name)));
  const isSame =
    names.length === others.length &&
    names.every((name, index) => name === others[index] && parts[index] === other[name]);
  return isSame ? other : objectOf(names.map((name, index) => [name, parts[index] ?? null]));
}

/** Returns the JSON Schema type of a value; all numbers are `number`. */
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

/** Whether a value has a JSON Schema type: 1.0 is an integer. */
export function isOfType(value: JsonValue, type: string): boolean {
  return type === 'integer' ? isInteger(value) : jsonType(value) === type;
}

/** Returns the JSON pointer (RFC 6901) with these reference tokens, without the `#` of a fragment. */
export function pointerOf(tokens: readonly string[]): string {
  return pointerTo('', ...tokens);
}

/** Extends a JSON pointer by further tokens. */
export function pointerTo(base: string, ...tokens: readonly (string | number)[]): string {
  let pointer = base;
  for (const token of tokens) pointer += `/${typeof token === 'number' ? token : escapeToken(token)}`;
  return pointer;
}

function escapeToken(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}

/** Returns the reference tokens of a JSON pointer; undefined if the text is not a pointer. */
export function tokensOf(pointer: string): readonly string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the pointer as the fragment of a URI (RFC 6901 section 6), without `#`. */
export function fragmentOf(tokens: readonly string[]): string {
  // Everything that encodeURI leaves unencoded is allowed in a fragment, except `#`. It throws for a lone surrogate.
  return encodeURI(pointerOf(tokens).replaceAll(/[\uD800-\uDFFF]/gu, '\uFFFD')).replaceAll('#', '%23');
}

/** Follows one token of a pointer: to a member of an object, or an item of an array. */
export function childAt(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (isObject(value)) return member(value, token);
  if (!isArray(value) || !/^(?:0|[1-9]\d*)$/.test(token)) return undefined;
  return value[Number(token)];
}

/** A fault at one place of an input. */
export interface InputIssue {
  /** JSON Pointer (RFC 6901) into the input. */
  readonly pointer: string;
  /** A sentence or predicate for people. */
  readonly detail: string;
}

/** A JSON number, exactly as it was written. */
export type JsonNumber = number | LosslessNumber;

let hasCreatedAny = false;

/** Whether this thread has ever created an exact number. Most never do, and then need not search for any. */
export function hasCreatedLosslessNumbers(): boolean {
  return hasCreatedAny;
}

/** The proposal "JSON.parse source text access", which TypeScript does not know yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

function toJSON(this: LosslessNumber): object {
  return rawJSON(this.text);
}

/**
 * A number that a double cannot represent: an integer beyond 2^53, or a decimal with more digits. See {@link isLossy}.
 *
 * JSON.stringify writes it as it was read. It cannot be sent to another thread: that throws a DataCloneError.
 */
export class LosslessNumber {
  readonly text: string;
  readonly decimal: Decimal;
  /** An own property, because an object with a function is never cloned silently. */
  readonly toJSON = toJSON;

  /** @param text a JSON number with an exponent of less than ten digits */
  constructor(text: string) {
    this.text = text;
    this.decimal = decimalOf(text);
    hasCreatedAny = true;
  }

  get isInteger(): boolean {
    return this.decimal.exponent >= 0;
  }

  /** The same text for all spellings of the number. */
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

/**
 * Whether a JSON number would change if it were read as a double and written again: 9007199254740993 and
 * 0.1000000000000000001 would. Those beyond the range of doubles do not count.
 */
export function isLossy(literal: string): boolean {
  const double = Number(literal);
  // A double represents at least fifteen digits exactly, unless it is very small.
  if ((literal.length <= 15 && !/[eE]/.test(literal)) || !Number.isFinite(double)) return false;
  // Nearly all programs write doubles this way.
  if (String(double) === literal) return false;
  return compareDecimals(decimalOf(literal), decimalOfDouble(double)) !== 0;
}

export function isNumber(value: unknown): value is JsonNumber {
  return typeof value === 'number' || value instanceof LosslessNumber;
}

export function isInteger(value: unknown): boolean {
  return value instanceof LosslessNumber ? value.isInteger : Number.isInteger(value);
}

/**
 * Returns a negative number, zero or a positive number if the first is less than, equal to or greater than the second.
 * Accepts infinite numbers, but not NaN.
 */
export function compareNumbers(one: JsonNumber, other: JsonNumber): number {
  const areDoubles = typeof one === 'number' && typeof other === 'number';
  if (areDoubles || one === Infinity || one === -Infinity || other === Infinity || other === -Infinity)
    return compareDoubles(doubleOf(one), doubleOf(other));
  return compareDecimals(decimalIn(one), decimalIn(other));
}

/** Whether a number is a whole multiple of another, both taken as written. @param divisor finite, not zero */
export function isMultiple(value: JsonNumber, divisor: JsonNumber): boolean {
  if (typeof value === 'number' && typeof divisor === 'number') return isDoubleMultipleOf(value, divisor);
  return Number.isFinite(doubleOf(value)) && isMultipleOf(decimalIn(value), decimalIn(divisor));
}

function compareDoubles(one: number, other: number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Returns the number itself, or the nearest double. */
export function doubleOf(number: JsonNumber): number {
  return typeof number === 'number' ? number : number.double;
}

function decimalIn(number: JsonNumber): Decimal {
  return typeof number === 'number' ? decimalOfDouble(number) : number.decimal;
}
