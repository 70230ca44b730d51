import { RE2JS } from 're2js';
import { GatewayError } from '../shared/errors.js';

/** A regular expression of RE2 (idPattern, `~=`). It may match anywhere in a text, and takes linear time. */
export interface Pattern {
  /** The approximate number of states; matching takes at most this number times the length of the text, in steps. */
  readonly size: number;
  readonly test: (text: string) => boolean;
}

/** Limits of a pattern, so that compiling it takes a few milliseconds, and matching a few microseconds per character. */
export const PATTERN_LIMITS = {
  /** In UTF-16 code units. */
  length: 2048,
  /** Number of states with all counted repetitions written out, as computed by {@link patternSize}. */
  size: 1000,
} as const;

/** A pattern so large that compiling it would block the process. */
export class PatternTooLargeError extends GatewayError {
  readonly kind = 'badRequestData';

  /** @param parameter the query parameter that contains the pattern */
  constructor(readonly parameter: string) {
    const { length, size } = PATTERN_LIMITS;
    super(
      `${parameter} contains a pattern that is too large: it may have at most ${length} ` +
        `characters, and about ${size} when counted repetitions such as a{0,9} are expanded.`,
    );
  }
}

/**
 * Compiles a pattern sent by a client.
 *
 * @param parameter the query parameter that contains the pattern
 * @returns undefined if RE2 cannot compile it (look-around, back-references, syntax errors)
 * @throws PatternTooLargeError before anything is compiled
 */
export function compilePattern(parameter: string, pattern: string): Pattern | undefined {
  if (pattern.length > PATTERN_LIMITS.length) throw new PatternTooLargeError(parameter);
  const size = patternSize(pattern);
  if (size > PATTERN_LIMITS.size) throw new PatternTooLargeError(parameter);
  try {
    const compiled = RE2JS.compile(pattern);
    return { size, test: (text) => compiled.test(text) };
  } catch {
    return undefined;
  }
}

/** Number of states counted for a Unicode property, which is a table of up to some hundred ranges. */
const PROPERTY_SIZE = 10;

const LITERAL = /\\Q([^]*?)(?:\\E|$)/y;
const PROPERTY = /\\[pP](?:\{[^}]*\}|.)/sy;
const ESCAPE = /\\(?:x\{[^}]*\}|[^])/y;
const CLASS_START = /\[\^?\]?/y;
const NAMED_CLASS = /\[:\^?\w+:\]/y;
const COUNTED = /\{(\d+)(?:(,)(\d*))?\}/y;

/**
 * Estimates the number of states of a pattern with its counted repetitions written out; never less than half the number
 * that RE2 makes. Takes linear time, and accepts any text, even if it is not a pattern.
 */
export function patternSize(pattern: string): number {
  let at = 0;
  /** The sizes of the open groups, innermost last, each without its `last` part. */
  const open = [0];
  let last = 0;

  const take = (expression: RegExp): RegExpExecArray | undefined => {
    expression.lastIndex = at;
    const found = expression.exec(pattern) ?? undefined;
    if (found !== undefined) at = expression.lastIndex;
    return found;
  };
  /** Completes the last part, to which no further quantifier can apply. */
  const begin = (size: number): void => {
    open.push((open.pop() ?? 0) + last);
    last = size;
  };
  const classSize = (): number => {
    let size = 1;
    while (at < pattern.length && pattern[at] !== ']') {
      if (take(PROPERTY)) size += PROPERTY_SIZE;
      else if (take(NAMED_CLASS) === undefined && take(ESCAPE) === undefined) at += 1;
    }
    at += 1;
    return size;
  };

  while (at < pattern.length) {
    const counted = take(COUNTED);
    if (counted !== undefined) {
      const [, least, comma, most] = counted;
      const times = comma !== undefined && most === '' ? Number(least) + 1 : Number(most ?? least);
      last = (last + 1) * Math.max(times, Number(least), 1);
      continue;
    }
    const literal = take(LITERAL);
    if (literal !== undefined) begin((literal[1] ?? '').length);
    else if (take(PROPERTY)) begin(PROPERTY_SIZE);
    else if (take(ESCAPE)) begin(1);
    else if (take(CLASS_START)) begin(classSize());
    else {
      const sign = pattern[at];
      at += 1;
      if (sign === '(') {
        begin(0);
        open.push(0);
      } else if (sign === ')') {
        begin(0);
        // An unmatched closing bracket is a syntax error, which RE2 finds at once.
        last = (open.length > 1 ? (open.pop() ?? 0) : 0) + 2;
      } else if (sign === '*' || sign === '+' || sign === '?') last += 1;
      else begin(1);
    }
  }
  return open.reduce((sum, size) => sum + size, last);
}
