/** The building blocks of q (clause 4.9): the paths and values in its conditions. */
import type { QLink, QPath, QOperand, QValue } from './q-ast.js';
import { temporalKindOf } from './q-time.js';
import type { Scanner } from './scanner.js';

const NAME_RUN = /(?:[\p{L}\p{M}\p{N}_:/#.%@?&+-]|~(?!=))+/uy;
const NAME_START = /^[\p{L}_]/u;
const HIERARCHICAL_IRI = /^[A-Za-z][A-Za-z0-9+-]*:\/\//;
const NEXT_ABSOLUTE_IRI = /\.(?:[A-Za-z][A-Za-z0-9+-]*:\/\/|urn:)/g;
const MEMBER_NAME = /[^\][.\u0000-\u001f\u007f]+/uy;
const BRACE_TEXT = /[^{}\u0000-\u001f\u007f]+/uy;
const MAX_BRACES_DEPTH = 16;

const A_NAME = 'an attribute name';

/**
 * Splits a run of name characters into its dotted names; undefined if a name is missing or does not begin with a letter
 * or `_`.
 *
 * In clause 4.9 there are only short names, so a dot is always a separator. Brokers also accept IRIs, which contain
 * dots themselves. The rule here:
 * - a short name or compact IRI (`speed`, `ex:speed`) ends at the first dot;
 * - in an absolute IRI (`scheme://…` or `urn:…`), the dots up to its last `/` or `#` (`urn:`: its last `:`) belong to
 *   the IRI, and so does the whole authority; a dot after that is a separator;
 * - `.scheme://` and `.urn:` begin a new name.
 */
function splitDottedNames(run: string): readonly string[] | undefined {
  const names: string[] = [];
  let start = 0;
  for (;;) {
    const end = endOfName(run, start);
    const name = run.slice(start, end);
    if (!NAME_START.test(name)) return undefined;
    names.push(name);
    if (end >= run.length) return names;
    start = end + 1;
  }
}

function endOfName(run: string, start: number): number {
  let from = start;
  const urn = run.startsWith('urn:', start);
  const scheme = urn ? 'urn:' : HIERARCHICAL_IRI.exec(run.slice(start, start + 64))?.[0];
  if (scheme !== undefined) {
    NEXT_ABSOLUTE_IRI.lastIndex = start + scheme.length;
    const bound = NEXT_ABSOLUTE_IRI.exec(run)?.index ?? run.length;
    const iri = run.slice(start + scheme.length, bound);
    const lastDelimiter = urn ? iri.lastIndexOf(':') : Math.max(iri.lastIndexOf('/'), iri.lastIndexOf('#'));
    // Without a path, all dots belong to the authority.
    if (lastDelimiter < 0 && !urn) return bound;
    from = start + scheme.length + lastDelimiter + 1;
    const dot = run.indexOf('.', from);
    return dot < 0 || dot > bound ? bound : dot;
  }
  const dot = run.indexOf('.', from);
  return dot < 0 ? run.length : dot;
}

/** Reads `a.b.c`, `a.b[x.y]` or the linked-entity forms `a{b}`, `a{Type:b}`, `a{Type}.b`. */
export function readPath(scanner: Scanner): QPath {
  const names = readDottedNames(scanner);
  if (scanner.peek() === '{') return { names, valuePath: [], link: readLink(scanner) };
  return { names, valuePath: readValuePath(scanner), link: null };
}

function readDottedNames(scanner: Scanner): readonly string[] {
  const start = scanner.position;
  const run = scanner.match(NAME_RUN);
  if (run === undefined) scanner.fail(A_NAME);
  return splitDottedNames(run) ?? scanner.fail('attribute names, each beginning with a letter', start);
}

function readValuePath(scanner: Scanner): readonly string[] {
  if (!scanner.take('[')) return [];
  const members: string[] = [];
  do {
    members.push(scanner.match(MEMBER_NAME) ?? scanner.fail('a member name'));
  } while (scanner.take('.'));
  if (!scanner.take(']')) scanner.fail('"]"');
  return members;
}

function readLink(scanner: Scanner): QLink {
  const start = scanner.position;
  let depth = 0;
  do {
    if (scanner.take('{')) {
      depth += 1;
      if (depth > MAX_BRACES_DEPTH) scanner.fail(`at most ${MAX_BRACES_DEPTH} nested braces`);
      if (scanner.match(BRACE_TEXT) === undefined)
        scanner.fail('a type or an attribute of the linked entity');
    } else if (scanner.take('}')) {
      depth -= 1;
    } else if (scanner.match(BRACE_TEXT) === undefined) {
      scanner.fail('"}"');
    }
  } while (depth > 0);
  const inner = scanner.text.slice(start + 1, scanner.position - 1);
  return { inner, rest: scanner.take('.') ? readDottedNames(scanner) : [] };
}

/** Lookahead for the end of an unquoted value. */
const VALUE_END = String.raw`(?=$|[;|),\s]|\.\.)`;
const NUMBER = new RegExp(String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?${VALUE_END}`, 'y');
const TEMPORAL = new RegExp(
  String.raw`(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:\d\d)?${VALUE_END}|\d{4}-\d\d-\d\d${VALUE_END}`,
  'y',
);

/**
 * Quotation marks that word processors and web pages substitute for `"`, and invisible characters. As part of a value,
 * they would make `!=` match everything.
 */
const PASTED = String.raw`\p{Quotation_Mark}\p{Cf}\u00b4\u2032\u2033`;
const BARE_RUN = new RegExp(
  String.raw`(?:(?!\.\.)[^\s;|),(<>{}[\]^\u0060\\\u0000-\u001f\u007f${PASTED}])+`,
  'uy',
);
const PASTED_AROUND = new RegExp(`^[${PASTED}]|[${PASTED}]$`, 'u');
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:./;
const QUOTED = /"(?:[^"\\\u0000-\u001f]|\\.)*"/uy;

const A_VALUE = 'a value (a number, a "quoted string", true, false, a date or time, a URI)';

/** Reads one value, a list `a,b` or a range `a..b`, as allowed after `==` and `!=`. */
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

/** Reads the single value after `>`, `>=`, `<` or `<=`: any value that can be ordered. */
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
  // An operator sign in a bare word is far more likely a typo (`a===5`) than part of a string.
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
 * pattern. Without quotes, the pattern ends before the next `;`, `|` or `)` that is not inside its own brackets.
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
  if (PASTED_AROUND.test(pattern)) scanner.fail('a pattern, quoted only with "…"', start);
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
      // A `]` right after the opening bracket (or after `^`) is a member of the class.
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
