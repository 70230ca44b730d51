import type { QOperand, QValue } from './q-ast.js';
import type { Scanner } from './q-scanner.js';
import { temporalKindOf } from './q-time.js';

/** The end of a value without quotes. */
const VALUE_END = String.raw`(?=$|[;|),\s]|\.\.)`;
const NUMBER = new RegExp(String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?${VALUE_END}`, 'y');
const TEMPORAL = new RegExp(
  String.raw`(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:\d\d)?${VALUE_END}|\d{4}-\d\d-\d\d${VALUE_END}`,
  'y',
);
const BARE_RUN = /(?:(?!\.\.)[^\s;|),("<>{}[\]^`'\\\u0000-\u001f\u007f])+/uy;
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:./;
const QUOTED = /"(?:[^"\\\u0000-\u001f]|\\.)*"/uy;

const A_VALUE = 'a value (a number, a "quoted string", true, false, a date or time, a URI)';

/** Reads one value, a list `a,b` or a range `a..b`, as `==` and `!=` take them. */
export function readOperand(scanner: Scanner): QOperand {
  const first = readValue(scanner);
  scanner.skipSpaces();
  if (scanner.take('..')) {
    scanner.skipSpaces();
    const start = scanner.position;
    const to = readValue(scanner);
    if (!areRangeEnds(first, to)) {
      scanner.fail('two numbers, two strings or two dates or times as the ends of a range', start);
    }
    return { kind: 'range', from: first, to };
  }
  const values = [first];
  while (scanner.take(',')) {
    scanner.skipSpaces();
    values.push(readValue(scanner));
    scanner.skipSpaces();
  }
  return values.length > 1 ? { kind: 'list', values } : { kind: 'value', value: first };
}

function areRangeEnds(from: QValue, to: QValue): boolean {
  const day = (value: QValue) => value.kind === 'date' || value.kind === 'dateTime';
  const orderable = from.kind !== 'boolean' && from.kind !== 'uri';
  return orderable && (from.kind === to.kind || (day(from) && day(to)));
}

/** Reads the one value that `>`, `>=`, `<` and `<=` take: anything with an order. */
export function readOrderedValue(scanner: Scanner): QValue {
  const start = scanner.position;
  const value = readValue(scanner);
  if (value.kind === 'boolean') scanner.fail('a value that can be greater or less', start);
  return value;
}

function readValue(scanner: Scanner): QValue {
  const start = scanner.position;
  if (scanner.peek() === '"') return { kind: 'string', value: readQuoted(scanner) };
  const temporal = scanner.match(TEMPORAL);
  if (temporal !== undefined) {
    const kind = temporalKindOf(temporal) ?? scanner.fail('a date or time that exists', start);
    return { kind, value: temporal };
  }
  const number = scanner.match(NUMBER);
  if (number !== undefined) {
    const value = Number(number);
    if (!Number.isFinite(value)) scanner.fail('a number that fits into 64 bits', start);
    return { kind: 'number', value, source: number };
  }
  return readBare(scanner, start);
}

function readBare(scanner: Scanner, start: number): QValue {
  const run = scanner.match(BARE_RUN);
  if (run === undefined) scanner.fail(A_VALUE);
  if (run === 'true' || run === 'false') return { kind: 'boolean', value: run === 'true' };
  if (URI.test(run)) return { kind: 'uri', value: run };
  // An operator sign in a bare word is far more often a slip (`a===5`) than part of a string.
  if (/[=!]/.test(run)) scanner.fail(A_VALUE, start);
  return { kind: 'text', value: run };
}

function readQuoted(scanner: Scanner): string {
  const start = scanner.position;
  const quoted = scanner.match(QUOTED);
  if (quoted === undefined) scanner.fail('a string with a closing quote', start);
  try {
    // The standard's quotedStr is the string of RFC 8259, escapes included.
    return JSON.parse(quoted) as string;
  } catch {
    return scanner.fail('a string with the escapes of JSON', start);
  }
}

/**
 * Reads the pattern after `~=` or `!~=`. In quotes, only `\"` is an escape; every other backslash belongs to the
 * pattern. Without quotes it goes up to the next `;`, `|` or `)` outside brackets of its own.
 */
export function readPattern(scanner: Scanner): { pattern: string; quoted: boolean } {
  const start = scanner.position;
  if (scanner.peek() === '"') {
    const quoted = scanner.match(QUOTED) ?? scanner.fail('a pattern with a closing quote', start);
    if (quoted.length === 2) scanner.fail('a pattern', start);
    return { pattern: quoted.slice(1, -1).replaceAll(/\\(["\\])/g, unescapeQuote), quoted: true };
  }
  const pattern = readBarePattern(scanner).trimEnd();
  if (pattern === '') scanner.fail('a pattern', start);
  return { pattern, quoted: false };
}

function unescapeQuote(escape: string, escaped: string): string {
  return escaped === '"' ? '"' : escape;
}

function readBarePattern(scanner: Scanner): string {
  const { text, position: start } = scanner;
  let depth = 0;
  let inClass = false;
  let at = start;
  for (; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '\\') at += 1;
    else if (inClass) inClass = sign !== ']';
    else if (sign === '[') {
      inClass = true;
      // A `]` right after the opening (or after `^`) is a member of the class.
      if (text.charAt(at + 1) === '^') at += 1;
      if (text.charAt(at + 1) === ']') at += 1;
    } else if (sign === '(') depth += 1;
    else if (depth > 0) depth -= sign === ')' ? 1 : 0;
    else if (sign === ';' || sign === '|' || sign === ')') break;
  }
  if (depth > 0 || inClass) scanner.fail('a pattern with balanced brackets (or in quotes)', start);
  scanner.position = Math.min(at, text.length);
  return text.slice(start, scanner.position);
}
