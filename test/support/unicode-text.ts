import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;

const character = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(
  (n) => String.fromCodePoint(n < SURROGATES_FROM ? n : n + SURROGATES),
  (text) => {
    if (typeof text !== 'string' || Array.from(text).length !== 1) throw new TypeError('not a character');
    const point = text.codePointAt(0) ?? 0;
    return point < SURROGATES_FROM ? point : point - SURROGATES;
  },
);

/**
 * Returns any text of Unicode. It is that of `unit: 'binary'`, for which fast-check first fills a
 * table of a million characters in each process.
 */
export function unicodeText(constraints: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: character });
}
