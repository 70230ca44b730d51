import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import {
  compilePattern,
  PATTERN_LIMITS,
  patternSize,
  PatternTooLargeError,
} from '../../../sidecar/ngsi-ld/pattern.js';
import { words } from '../../support/words.js';

const isTooLarge = (pattern: string) => {
  try {
    compilePattern('q', pattern);
    return false;
  } catch (error) {
    assert.ok(error instanceof PatternTooLargeError);
    assert.match(error.message, /^q contains a pattern that is too large/);
    return true;
  }
};

it('compilePattern accepts common patterns', () => {
  for (const pattern of [
    '',
    '^urn:ngsi-ld:Vehicle:\\d+$',
    '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
    '\\p{Lu}{3}',
  ])
    assert.equal(isTooLarge(pattern), false, pattern);
  const ids = Array.from({ length: 40 }, (_, index) => `urn:ngsi-ld:Car:${index}`);
  assert.equal(isTooLarge(`^(?:${ids.join('|')})$`), false);
});

it('compilePattern returns undefined for a pattern that RE2 cannot compile', () => {
  for (const pattern of ['(?=Car)', '(a)\\1', '(', '[', '*', ')', '\\'])
    assert.equal(compilePattern('q', pattern), undefined, pattern);
});

it('compilePattern refuses patterns that are long, or large because of repetitions, in any notation', () => {
  for (const pattern of [
    'a'.repeat(PATTERN_LIMITS.length + 1),
    'a{0,1000}'.repeat(2),
    'a{0,1000}'.repeat(100),
    '(((a{10}){10}){10}){10}',
    '(?:[^]x]{100}){100}',
    '(?P<name>\\x{10ffff}{500}){2,}',
    '(?i:\\Q(a\\E{1000}){3}',
    '(?:a|[[:alpha:]]]{40}){40}',
    '\\pL'.repeat(500),
  ])
    assert.equal(isTooLarge(pattern), true, pattern);
});

it('the limits of a pattern are 2048 characters and a size of 1000, independently of each other', () => {
  // A class is one state, however long it is written.
  assert.equal(isTooLarge(`[${'a'.repeat(PATTERN_LIMITS.length - 2)}]`), false);
  assert.equal(isTooLarge(`[${'a'.repeat(PATTERN_LIMITS.length - 1)}]`), true);
  assert.equal(isTooLarge('a'.repeat(PATTERN_LIMITS.size)), false);
  assert.equal(isTooLarge('a'.repeat(PATTERN_LIMITS.size + 1)), true);
  assert.deepEqual(PATTERN_LIMITS, { length: 2048, size: 1000 });
});

it('the size of a pattern is that of its parts, times their counted repetitions', () => {
  for (const [pattern, size] of [
    ['', 0],
    ['abc', 3],
    ['a*', 2],
    ['a{5}', 10],
    ['a{2,7}', 14],
    ['a{3,}', 8],
    ['a{0}', 2],
    ['a{7,2}', 14],
    ['[abc]', 1],
    ['[a\\pL\\pN]', 21],
    ['\\pL', 10],
    ['(ab)', 4],
    ['(ab){3}', 15],
    ['a|b', 3],
    ['\\Qa(c\\E', 3],
  ] as const)
    assert.equal(patternSize(pattern), size, pattern);
  const compiled = compilePattern('q', 'a{5}');
  assert.deepEqual([compiled?.size, compiled?.test('xaaaaax'), compiled?.test('aaaa')], [10, true, false]);
});

it('patternSize is never far below the number of states that RE2 makes', () => {
  const atom = fc.constantFrom(
    ...words(`
        a \\d [a-z] []a] [^]x] [[:alpha:]x] \\pL \\p{Greek} \\x{1F600} \\x41 .
        \\Qab(c\\E [\\]{9}] [a{900}] [[:] ^ $ \\b { } \\{5} , é 😀
      `),
  );
  const quantifiers = words('* + ? *? {3} {0,7} {2,} {1,2}? {,5} {0}');
  const quantifier = fc.constantFrom('', '', '', ...quantifiers);
  const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
    pattern: fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    part: fc
      .tuple(
        fc.oneof(
          { depthSize: 'small' },
          atom,
          tie('pattern').map((inner) => `(${inner})`),
          tie('pattern').map((inner) => `(?i:${inner})`),
          fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
        ),
        quantifier,
      )
      .map((parts) => parts.join('')),
  }));
  let compiled = 0;
  fc.assert(
    fc.property(pattern, (text) => {
      const size = patternSize(text);
      if (size > 20_000) return;
      let real: number;
      try {
        real = RE2JS.compile(text).programSize();
      } catch {
        return;
      }
      compiled += 1;
      // RE2 adds some states of its own at the start and the end.
      assert.ok(real <= 2 * size + 6, `${real} states of ${text}, taken for ${size}`);
    }),
    { numRuns: 600 },
  );
  assert.ok(compiled > 100, `${compiled} patterns could be compiled`);
});

it('patternSize takes linear time for any text', () => {
  for (const part of ['(', ')', '[', '{', '{1', '\\', '\\Q', '[:', '[[:', '\\p{', '\\x{', '{1000}', '(a'])
    assert.ok(patternSize(part.repeat(PATTERN_LIMITS.length)) >= 0);
});
