/**
 * An exact decimal number: `digits` × 10^`exponent`. The digits have no leading or trailing zeros, so that equal
 * numbers have equal members; zero has no digits.
 */
export interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** Matches an exponent too large to calculate with: ten digits or more. */
const HUGE_EXPONENT = /[eE][+-]?0*[1-9]\d{9}/;

/** Whether the exponent of a literal is so large that {@link decimalOf} refuses it. */
export function hasHugeExponent(literal: string): boolean {
  return HUGE_EXPONENT.test(literal);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Parses a JSON number literal. @throws {SyntaxError} if the text is not such a literal, or its exponent is huge */
export function decimalOf(literal: string): Decimal {
  const parts = NUMBER.exec(literal);
  if (parts === null || hasHugeExponent(literal))
    throw new SyntaxError(`${literal.slice(0, 100)} is not a decimal number.`);
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  const significant = trimLeadingZeros(whole + fraction);
  const digits = trimTrailingZeros(significant);
  if (digits === '') return { isNegative: false, digits, exponent: 0 };
  return {
    isNegative: sign === '-',
    digits,
    exponent: Number(exponent) - fraction.length + significant.length - digits.length,
  };
}

/**
 * Converts a double to the number that its shortest decimal text represents. So 0.1 is exactly a tenth.
 *
 * @throws {SyntaxError} for Infinity and NaN
 */
export function decimalOfDouble(value: number): Decimal {
  return decimalOf(String(value));
}

/** Returns a negative number, zero or a positive number if the first number is less than, equal to or greater than the second. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  const [sign, otherSign] = [signOf(one), signOf(other)];
  return sign === otherSign ? sign * compareMagnitudes(one, other) : sign - otherSign;
}

/**
 * Whether a number is a whole multiple of another. The time depends on the length of the digits, not on the exponents.
 *
 * @param divisor not zero
 */
export function isMultipleOf(value: Decimal, divisor: Decimal): boolean {
  const shift = value.exponent - divisor.exponent;
  if (value.digits === '') return true;
  // The digits do not end with a zero, so they are not divisible by ten.
  if (shift < 0) return false;
  const modulus = BigInt(divisor.digits);
  return ((BigInt(value.digits) % modulus) * powerOfTen(shift, modulus)) % modulus === 0n;
}

/**
 * Whether a double is a whole multiple of another, both converted by {@link decimalOfDouble}: 19.99 is a multiple of
 * 0.01. Infinity and NaN never are.
 *
 * @param divisor finite, not zero
 */
export function isDoubleMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  return isMultipleOf(decimalOfDouble(value), decimalOfDouble(divisor));
}

/** Multiplies a double by a whole number and returns the nearest double: three times 0.1 is 0.3. */
export function multiplyExact(value: number, factor: number): number {
  if (Number.isInteger(value) || !Number.isSafeInteger(factor)) return value * factor;
  const { isNegative, digits, exponent } = decimalOfDouble(value);
  return Number(`${BigInt(`${isNegative ? '-' : ''}${digits}`) * BigInt(factor)}e${exponent}`);
}

function signOf({ isNegative, digits }: Decimal): number {
  if (digits === '') return 0;
  return isNegative ? -1 : 1;
}

function compareMagnitudes(one: Decimal, other: Decimal): number {
  const magnitude = one.digits.length + one.exponent - (other.digits.length + other.exponent);
  if (magnitude !== 0) return magnitude;
  if (one.digits === other.digits) return 0;
  return one.digits < other.digits ? -1 : 1;
}

/** Computes 10^exponent modulo a number, by repeated squaring. */
function powerOfTen(exponent: number, modulus: bigint): bigint {
  let power = 1n % modulus;
  let base = 10n % modulus;
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = (power * base) % modulus;
    base = (base * base) % modulus;
  }
  return power;
}

function trimLeadingZeros(digits: string): string {
  let start = 0;
  while (digits[start] === '0') start += 1;
  return digits.slice(start);
}

function trimTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
