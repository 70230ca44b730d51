import { hasHugeExponent } from './decimal.js';
import { closingQuote, parseJson } from './lossless-json.js';
import { LosslessNumber } from './json.js';

/** A text is not JSON, or is JSON that two parsers could interpret differently. */
export class JsonSyntaxError extends Error {
  /** @param detail completes "line 1, column 2: …" */
  constructor(
    readonly line: number,
    readonly column: number,
    readonly detail: string,
    /** The text is JSON, but nested too deeply. */
    readonly isTooDeep = false,
  ) {
    super(`line ${line}, column ${column}: ${detail}`);
  }
}

/** The content of a {@link JsonSyntaxError} as plain data, which can be sent between threads. */
export interface Unreadable {
  /** Starting at 1. */
  readonly line: number;
  /** Starting at 1, in UTF-16 code units. */
  readonly column: number;
  /** Completes "line 1, column 2: …". */
  readonly detail: string;
  readonly isTooDeep: boolean;
}

/** How to read a text. */
export interface ReadJsonOptions {
  /** Whether numbers beyond the range of doubles are allowed; they are read as Infinity. @default false */
  readonly anyNumber?: boolean;
  /** Whether members may be called `__proto__`, which libraries that assign members one by one lose. @default true */
  readonly anyName?: boolean;
}

/** Reads a text that {@link checkJson} accepts; the value is the same as from `parseJson`. */
export function readJson(
  text: string,
  options: ReadJsonOptions = {},
): { readonly value: unknown } | { readonly unreadable: Unreadable } {
  return readFast(text) ?? readChecked(text, options);
}

/**
 * Reads most texts that {@link checkJson} accepts, in half the time: if the value has as many members as the text has
 * names, no member occurs twice.
 *
 * @returns undefined if the careful check is needed
 */
function readFast(text: string): { readonly value: unknown } | undefined {
  try {
    const value = parseJson(text);
    return countMembers(value, 0) === countNames(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function readChecked(
  text: string,
  options: ReadJsonOptions,
): { readonly value: unknown } | { readonly unreadable: Unreadable } {
  try {
    checkJson(text, options);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { line, column, detail, isTooDeep } = error;
    return { unreadable: { line, column, detail, isTooDeep } };
  }
  return { value: parseJson(text) };
}

const COLON = 0x3a;
const WHITESPACE_CODES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Counts the names of members in a JSON text: the strings before a colon. */
function countNames(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = closingQuote(text, at) + 1;
    // Few names are followed by a space, and a regular expression takes longer than all the rest.
    while (WHITESPACE_CODES.has(text.charCodeAt(at))) at += 1;
    if (text.charCodeAt(at) === COLON) names += 1;
  }
  return names;
}

/**
 * Counts the members of all objects in a value. Returns NaN if a member is called `__proto__`, a number is infinite, or
 * the value is nested too deeply, because these need the careful check.
 *
 * @param depth number of arrays and objects around the value
 */
function countMembers(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return value === Infinity || value === -Infinity ? NaN : 0;
  if (value instanceof LosslessNumber) return 0;
  if (depth === MAX_DEPTH) return NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) count += countMembers(item, depth + 1);
    return count;
  }
  // Inherited members would be counted too, which only leads to the careful check.
  for (const name in value) {
    if (name === '__proto__') return NaN;
    count += 1 + countMembers((value as Readonly<Record<string, unknown>>)[name], depth + 1);
  }
  return count;
}

/** Maximum nesting depth of arrays and objects; recursive functions would overflow the stack on deeper ones. */
const MAX_DEPTH = 500;

const NUMBER_OR_WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const WHITESPACE = /[ \t\n\r]*/y;

/** An array or object that is not closed yet; for an object, `members` are the names so far. */
interface OpenContainer {
  readonly members: Set<string> | undefined;
}

/**
 * Checks that a text is JSON (RFC 8259) that all parsers interpret in the same way: no member occurs twice in an
 * object, no number is beyond the range of doubles (section 6) or has an exponent of ten digits, and the nesting is at
 * most 500 levels. Takes linear time, without recursion.
 *
 * @throws JsonSyntaxError
 */
export function checkJson(text: string, { anyNumber = false, anyName = true }: ReadJsonOptions = {}): void {
  const open: OpenContainer[] = [];
  let at = skipWhitespace(text, 0);
  for (;;) {
    // A value, or the end of an empty array or object.
    const character = text[at];
    if (character === '{' || character === '[') {
      if (open.length === MAX_DEPTH) throw errorAt(text, at, `nested deeper than ${MAX_DEPTH} levels`, true);
      const inner: OpenContainer = { members: character === '{' ? new Set() : undefined };
      const first = skipWhitespace(text, at + 1);
      if (text[first] === closing(inner)) at = first + 1;
      else {
        open.push(inner);
        at = inner.members === undefined ? first : memberEnd(text, first, inner.members, anyName);
        continue;
      }
    } else at = scalarEnd(text, at, anyNumber);

    // After a value.
    for (;;) {
      at = skipWhitespace(text, at);
      const around = open.at(-1);
      if (around === undefined) {
        if (at < text.length) throw errorAt(text, at, 'expected the end of the text');
        return;
      }
      if (text[at] === closing(around)) {
        open.pop();
        at += 1;
        continue;
      }
      if (text[at] !== ',') throw errorAt(text, at, `expected a comma or ${closing(around)}`);
      at = skipWhitespace(text, at + 1);
      if (around.members !== undefined) at = memberEnd(text, at, around.members, anyName);
      break;
    }
  }
}

function closing({ members }: OpenContainer): string {
  return members === undefined ? ']' : '}';
}

/** Reads the name of a member and the colon. @returns the start of its value */
function memberEnd(text: string, start: number, members: Set<string>, anyName: boolean): number {
  if (text[start] !== '"') throw errorAt(text, start, 'expected the name of a member in double quotes');
  const end = stringEnd(text, start);
  const literal = text.slice(start, end);
  const name = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (members.has(name)) throw errorAt(text, start, `the member ${truncated(literal)} occurs twice`);
  if (!anyName && name === '__proto__') throw errorAt(text, start, 'a member must not be called "__proto__"');
  members.add(name);
  const colon = skipWhitespace(text, end);
  if (text[colon] !== ':') throw errorAt(text, colon, 'expected a colon');
  return skipWhitespace(text, colon + 1);
}

function scalarEnd(text: string, start: number, anyNumber: boolean): number {
  if (text[start] === '"') return stringEnd(text, start);
  NUMBER_OR_WORD.lastIndex = start;
  if (!NUMBER_OR_WORD.test(text)) throw errorAt(text, start, 'expected a value');
  const end = NUMBER_OR_WORD.lastIndex;
  const literal = text.slice(start, end);
  const isBeyond = Math.abs(Number(literal)) === Infinity;
  if (isBeyond && !anyNumber)
    throw errorAt(text, start, 'the number is beyond the range of IEEE 754 doubles');
  if (!isBeyond && hasHugeExponent(literal))
    throw errorAt(text, start, 'the exponent of the number is too large');
  return end;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) throw errorAt(text, at, 'a control character in a string must be escaped');
    if (code === 0x5c) {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(text)) throw errorAt(text, at, 'this is not a valid JSON escape');
      at = ESCAPE.lastIndex - 1;
    }
  }
  throw errorAt(text, start, 'the string is not closed');
}

function skipWhitespace(text: string, start: number): number {
  WHITESPACE.lastIndex = start;
  WHITESPACE.test(text);
  return WHITESPACE.lastIndex;
}

function truncated(literal: string): string {
  return literal.length > 100 ? `${literal.slice(0, 100)}…"` : literal;
}

function errorAt(text: string, at: number, detail: string, isTooDeep = false): JsonSyntaxError {
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) {
    line += 1;
    lineStart = end + 1;
  }
  const isOver = at >= text.length;
  return new JsonSyntaxError(
    line,
    at - lineStart + 1,
    isOver && detail.startsWith('expected') ? `the text ends, ${detail}` : detail,
    isTooDeep,
  );
}
