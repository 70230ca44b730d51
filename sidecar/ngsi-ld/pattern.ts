import { RE2JS } from 're2js';
import { GatewayError } from '../shared/errors.js';

/** A regular expression of RE2 (idPattern, `~=`), searched for anywhere in a text in linear time. */
export interface Pattern {
  /** About how many states it has; looking for it in a text takes at most this times the length of the text in steps. */
  readonly size: number;
  readonly test: (text: string) => boolean;
}

/** Limits of a pattern, so that compiling it takes some milliseconds, and each character of a text some microseconds. */
export const PATTERN_LIMITS = {
  /** UTF-16 units. */
  length: 2048,
  /** States when all counted repetitions are written out, by {@link patternSize}. */
  size: 1000,
} as const;

/** A pattern whose compilation would block the process. */
export class PatternTooLargeError extends GatewayError {
  readonly kind = 'badRequestData';

  /** @param parameter the query parameter that holds it */
  constructor(readonly parameter: string) {
    const { length, size } = PATTERN_LIMITS;
    super(
      `${parameter} holds a pattern that is too large: it may have at most ${length} ` +
        `characters, and about ${size} once counted repetitions such as a{0,9} are written out.`,
    );
  }
}

/**
 * Compiles a pattern that a client sent.
 *
 * @param parameter the query parameter that holds it
 * @returns undefined for one that RE2 cannot compile (look-around, back-references, mistakes)
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

/** States counted for a property of Unicode, which is a table of up to some hundred ranges. */
const PROPERTY_SIZE = 10;

const LITERAL = /\\Q([^]*?)(?:\\E|$)/y;
const PROPERTY = /\\[pP](?:\{[^}]*\}|.)/sy;
const ESCAPE = /\\(?:x\{[^}]*\}|[^])/y;
const CLASS_START = /\[\^?\]?/y;
const NAMED_CLASS = /\[:\^?\w+:\]/y;
const COUNTED = /\{(\d+)(?:(,)(\d*))?\}/y;

/**
 * About how many states a pattern has when its counted repetitions are written out, never less than half of the states that RE2
 * makes. Linear in its length, and safe for texts that are not patterns.
 */
export function patternSize(pattern: string): number {
  let at = 0;
  /** The sizes of the open sequences, the innermost last, each without its `last` part. */
  const open = [0];
  let last = 0;

  const take = (expression: RegExp): RegExpExecArray | undefined => {
    expression.lastIndex = at;
    const found = expression.exec(pattern) ?? undefined;
    if (found !== undefined) at = expression.lastIndex;
    return found;
  };
  /** Completes the last part: no quantifier can follow it. */
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
        // An unmatched closing bracket is a mistake, which RE2 finds at once.
        last = (open.length > 1 ? (open.pop() ?? 0) : 0) + 2;
      } else if (sign === '*' || sign === '+' || sign === '?') last += 1;
      else begin(1);
    }
  }
  return open.reduce((sum, size) => sum + size, last);
}
