import {
  compareDecimals,
  type Decimal,
  decimalOf,
  decimalOfDouble,
  isDoubleMultipleOf,
  isMultipleOf,
} from './decimal.js';

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
