import { hasHugeExponent } from './decimal.js';
import {
  hasCreatedLosslessNumbers,
  isArray,
  isLossy,
  isObject,
  type JsonObject,
  type JsonValue,
  LosslessNumber,
  objectOf,
  pointerTo,
  jsonEquals,
} from './json.js';

/**
 * Precedes the digits of an exact number while the surrounding text is read. It is random, so no input can contain it.
 */
const PLACEHOLDER = crypto.getRandomValues(new Uint32Array(4)).join('-');

/** The fewest digits and points of a number without an exponent that a double may not represent. */
const LONG = 16;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * An escape in a name, up to the colon. V8's JSON.parse may confuse such a name with another name containing a
 * backslash that it parsed earlier (nodejs/node#63785). By sending both texts, a client could hide a member.
 */
const ESCAPED_NAME = /\\.[^"\\]*"\s*:/s;

/**
 * Parses a text like JSON.parse, except that numbers that a double cannot represent become {@link LosslessNumber}s, but
 * numbers beyond the range of doubles Infinity. As fast as JSON.parse if the text has no such numbers and no escapes in names.
 *
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseJson(text: string): unknown {
  return parse(text, isLossy);
}

/**
 * Like parseJson, but numbers beyond the range of doubles can be written again as they were too, unless their exponents have
 * ten digits or more.
 *
 * @throws {SyntaxError} if the text is not JSON
 */
export function parseToKeep(text: string): unknown {
  return parse(
    text,
    (literal) => !hasHugeExponent(literal) && (!Number.isFinite(Number(literal)) || isLossy(literal)),
  );
}

/** Parses a text like JSON.parse; all numbers become doubles. @throws {SyntaxError} if the text is not JSON */
export function parseWithDoubles(text: string): unknown {
  return parse(text);
}

/** @param isExact whether a number becomes a LosslessNumber */
function parse(text: string, isExact?: (literal: string) => boolean): unknown {
  // Needed even if the text is parsed again below: the marks must not turn an invalid text into valid JSON.
  const value: unknown = JSON.parse(text);
  // Most texts have no escape at all, and that is found out in a fraction of the time.
  const marksNumber = isExact !== undefined && mayHave(text, isExact) ? isExact : undefined;
  if (marksNumber === undefined && !(text.includes('\\') && ESCAPED_NAME.test(text))) return value;
  const { marked, names } = insertPlaceholders(text, marksNumber);
  return marked === text ? value : replacePlaceholders(JSON.parse(marked), names);
}

/**
 * Whether a JSON text may contain a number to be kept exactly; if not, it contains none. Long ones are found by looking at one
 * character in sixteen, because a regular expression would take half as long as JSON.parse.
 */
function mayHave(text: string, isExact: (literal: string) => boolean): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isOfNumber(text, at)) continue;
    let [start, end] = [at, at + 1];
    while (isOfNumber(text, start - 1)) start -= 1;
    while (isOfNumber(text, end)) end += 1;
    if (end - start >= LONG && mayBeExact(numberAt(text, start), isExact)) return true;
    while (at + LONG < end) at += LONG;
  }
  return LARGE_EXPONENT.test(text);
}

/** Digits in a string may look like a number that is too large to calculate with: whether they are one is not known yet. */
function mayBeExact(literal: string, isExact: (literal: string) => boolean): boolean {
  return hasHugeExponent(literal) || isExact(literal);
}

/** Returns the number that begins at an index; an empty text for digits in a string that are none. */
function numberAt(text: string, start: number): string {
  NUMBER.lastIndex = start;
  return NUMBER.test(text) ? text.slice(start, NUMBER.lastIndex) : '';
}

/** Whether there is a digit or a point at an index. */
function isOfNumber(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/** Parses a text with parseWithDoubles; undefined if the text is not JSON. */
export function tryParseJson(text: string): unknown {
  // Most deletes are answered without a body, and an exception for each of them would be slow.
  if (text === '') return undefined;
  try {
    return parseWithDoubles(text);
  } catch {
    return undefined;
  }
}

/** An exact number and its place. */
export interface LocatedNumber {
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  readonly number: LosslessNumber;
}

/** Yields the exact numbers in a value of bounded depth, in order. */
export function* losslessNumbersIn(value: JsonValue, pointer = ''): Iterable<LocatedNumber> {
  if (value instanceof LosslessNumber) yield { pointer, number: value };
  else if (isArray(value))
    for (const [index, item] of value.entries()) yield* losslessNumbersIn(item, pointerTo(pointer, index));
  else if (isObject(value))
    for (const [name, item] of Object.entries(value))
      yield* losslessNumbersIn(item, pointerTo(pointer, name));
}

/** Whether a value of bounded depth contains an exact number. */
export function hasLosslessNumber(value: JsonValue): boolean {
  return hasCreatedLosslessNumbers() && containsLossless(value);
}

function containsLossless(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof LosslessNumber) return true;
  if (isArray(value)) return value.some(containsLossless);
  for (const name of Object.keys(value)) if (containsLossless(value[name] ?? null)) return true;
  return false;
}

/** Returns a text that is the same for all values that are equal as JSON; see `jsonEquals`. */
export function canonicalJson(value: JsonValue): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (value instanceof LosslessNumber) return value.canonical;
  // -0 and 0 are the same number.
  if (!isObject(value)) return value === 0 ? '0' : JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, held]) => `${JSON.stringify(name)}:${canonicalJson(held)}`,
  );
  return `{${members.sort().join()}}`;
}

/** If one of two lists has at most this many values, comparing all pairs is faster than making canonical texts. */
const MAX_PAIRWISE = 16;

/** Returns the values that are also on the list, efficiently for any lengths. */
export function intersection(values: readonly JsonValue[], list: readonly JsonValue[]): readonly JsonValue[] {
  if (Math.min(values.length, list.length) <= MAX_PAIRWISE)
    return values.filter((value) => list.some((one) => jsonEquals(one, value)));
  const texts = new Set(list.map(canonicalJson));
  return values.filter((value) => texts.has(canonicalJson(value)));
}

/** Returns the value with the nearest doubles instead of exact numbers; the value itself if there are none. */
export function withDoubles(value: JsonValue): JsonValue {
  if (!hasLosslessNumber(value)) return value;
  if (value instanceof LosslessNumber) return value.double;
  if (isArray(value)) return value.map(withDoubles);
  const entries = Object.entries(value as JsonObject);
  return objectOf(entries.map(([name, item]) => [name, withDoubles(item)] as const));
}

/** @returns the text with marks instead of numbers that a double cannot represent, and of names with escapes; and those names */
function insertPlaceholders(
  text: string,
  marksNumber: ((literal: string) => boolean) | undefined,
): { readonly marked: string; readonly names: readonly string[] } {
  /** The index of each name, by its literal. */
  const names = new Map<string, number>();
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      const start = at;
      at = closingQuote(text, at);
      const literal = text.slice(start, at + 1);
      if (!literal.includes('\\') || !isColonNext(text, at + 1)) continue;
      const index = names.get(literal) ?? names.size;
      names.set(literal, index);
      marked += `${text.slice(copied, start)}"${PLACEHOLDER}${index}"`;
      copied = at + 1;
      continue;
    }
    if (marksNumber === undefined || (code !== 0x2d && (code < 0x30 || code > 0x39))) continue;
    const literal = numberAt(text, at);
    if (marksNumber(literal)) {
      marked += `${text.slice(copied, at)}"${PLACEHOLDER}${literal}"`;
      copied = at + literal.length;
    }
    at += literal.length - 1;
  }
  return {
    marked: marked + text.slice(copied),
    names: Array.from(names.keys(), (literal) => JSON.parse(literal) as string),
  };
}

function isColonNext(text: string, from: number): boolean {
  COLON.lastIndex = from;
  return COLON.test(text);
}

const COLON = /[ \t\n\r]*:/y;

/** Replaces marks by what they represent, in place. Without recursion, because a text may be nested to any depth. */
function replacePlaceholders(root: unknown, names: readonly string[]): unknown {
  if (typeof root !== 'object' || root === null) return toLossless(root);
  const open: object[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const members = Object.entries(at);
    const isRenamed = members.some(([name]) => name.startsWith(PLACEHOLDER));
    for (const [name, held] of members) {
      if (typeof held === 'object' && held !== null) open.push(held as object);
      const value = toLossless(held);
      if (!isRenamed && value === held) continue;
      if (isRenamed) Reflect.deleteProperty(at, name);
      const own = name.startsWith(PLACEHOLDER) ? (names[Number(name.slice(PLACEHOLDER.length))] ?? '') : name;
      // Not by assignment, because a member may be called __proto__.
      Object.defineProperty(at, own, { value, configurable: true, enumerable: true, writable: true });
    }
  }
  return root;
}

function toLossless(value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(PLACEHOLDER)
    ? new LosslessNumber(value.slice(PLACEHOLDER.length))
    : value;
}

/** Returns the index of the closing quote of a string; the length of the text if it is not closed. */
export function closingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}
