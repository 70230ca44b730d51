import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  compareDecimals,
  decimalOf,
  decimalOfDouble,
  isDoubleMultipleOf,
  isMultipleOf,
  multiplyExact,
} from '../../../../sidecar/shared/json/decimal.js';

/** A JSON number, and the same number as a fraction of integers. */
interface Case {
  readonly literal: string;
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Numbers with few different digits, so that many are equal or multiples of each other, in all notations. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.nat(200).map(String), fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String)),
    fraction: fc.option(fc.stringMatching(/^[0125]{1,4}$/), { nil: undefined }),
    exponent: fc.option(fc.integer({ min: -12, max: 12 }), { nil: undefined }),
  })
  .map(({ sign, whole, fraction, exponent }) => {
    const digits = BigInt(`${sign}${whole}${fraction ?? ''}`);
    const shift = (exponent ?? 0) - (fraction?.length ?? 0);
    return {
      literal: `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`,
      numerator: shift < 0 ? digits : digits * 10n ** BigInt(shift),
      denominator: shift < 0 ? 10n ** BigInt(-shift) : 1n,
    };
  });

it('decimals are ordered like the fractions that they represent', () => {
  fc.assert(
    fc.property(cases, cases, (one, other) => {
      const difference = one.numerator * other.denominator - other.numerator * one.denominator;
      const order = compareDecimals(decimalOf(one.literal), decimalOf(other.literal));
      assert.equal(Math.sign(order), difference === 0n ? 0 : difference < 0n ? -1 : 1);
      if (difference === 0n) assert.deepEqual(decimalOf(one.literal), decimalOf(other.literal));
    }),
  );
});

it('a decimal is a multiple of another exactly if the quotient of the fractions is an integer', () => {
  const divisors = cases.filter(({ numerator }) => numerator !== 0n);
  fc.assert(
    fc.property(cases, divisors, fc.integer({ min: -50, max: 50 }), (value, divisor, factor) => {
      const [by, isWhole] = [
        decimalOf(divisor.literal),
        (value.numerator * divisor.denominator) % (value.denominator * divisor.numerator) === 0n,
      ];
      assert.equal(isMultipleOf(decimalOf(value.literal), by), isWhole);
      const { isNegative, digits, exponent } = by;
      const multiple = `${BigInt(`${isNegative ? '-' : ''}${digits}`) * BigInt(factor)}e${exponent}`;
      assert.ok(isMultipleOf(decimalOf(multiple), by), `${multiple} of ${divisor.literal}`);
    }),
  );
});

it('a double becomes the decimal of its shortest text', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const { isNegative, digits, exponent } = decimalOfDouble(value);
      assert.equal(Number(`${isNegative ? '-' : ''}${digits || '0'}e${exponent}`), value === 0 ? 0 : value);
    }),
  );
});

it('multiples of decimals are found that a division of doubles misses', () => {
  for (const [value, divisor] of [
    ...[19.99, 1.11, 8.69, 0.94, 4.35, 1e15 + 0.25, -0.07, 0].map((value) => [value, 0.01] as const),
    ...([
      [0.3, 0.1],
      [0.0075, 0.0001],
      [12391239123, 1e-8],
      [1e308, 0.5],
    ] as const),
    ...([
      [1e308, 1e-308],
      [1.7e308, 5e-324],
      [1e22, 1e21],
    ] as const),
  ])
    assert.ok(isDoubleMultipleOf(value, divisor), `${value} of ${divisor}`);
  for (const [value, divisor] of [
    ...([
      [19.995, 0.01],
      [0.00751, 0.0001],
      [1e308, 0.123456789],
      [1e-308, 1e308],
    ] as const),
    ...([
      [0.1 + 0.2, 0.1],
      [35, 1.5],
      [Infinity, 1],
      [NaN, 1],
    ] as const),
  ])
    assert.ok(!isDoubleMultipleOf(value, divisor), `${value} of ${divisor}`);
});

it('a multiple of a decimal is the double that its text means', () => {
  assert.deepEqual(
    [
      multiplyExact(0.1, 3),
      multiplyExact(0.01, 1999),
      multiplyExact(0.7, -3),
      multiplyExact(5, 3),
      multiplyExact(0.1, 0),
    ],
    [0.3, 19.99, -2.1, 15, 0],
  );
});

it('a text that is not a number is refused', () => {
  for (const text of [
    '',
    '.',
    '1.',
    'NaN',
    'Infinity',
    '1e',
    ' 1',
    '1e-9999999999',
    '1e-1' + '0'.repeat(400),
  ])
    assert.throws(() => decimalOf(text), SyntaxError);
});
