import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../../sidecar/shared/json/json.js';
import { truncate, MAX_QUOTED_CHARS, quoted, formatValue } from '../../../sidecar/shared/format-value.js';

it('a text is shortened with an ellipsis only if it is too long', () => {
  assert.equal(truncate('abc', 3), 'abc');
  assert.equal(truncate('abcd', 3), 'abc…');
  assert.equal(truncate('', 0), '');
});

it('a text is never cut between the halves of a surrogate pair', () => {
  assert.equal(truncate('ab😀c', 3), 'ab…');
  assert.equal(truncate('ab😀c', 4), 'ab😀…');
  assert.equal(truncate('abc😀', 3), 'abc…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, maxChars) => {
      const short = truncate(text, maxChars);
      assert.doesNotThrow(() => encodeURIComponent(short));
      assert.ok(short === text || short.length <= maxChars + 1);
    }),
  );
});

it('a quoted text is escaped, in double quotes, and has a hundred characters at most', () => {
  assert.equal(quoted('a"b\n'), String.raw`"a\"b\n"`);
  assert.equal(quoted('x'.repeat(MAX_QUOTED_CHARS)), `"${'x'.repeat(100)}"`);
  assert.equal(quoted('x'.repeat(MAX_QUOTED_CHARS + 1)), `"${'x'.repeat(100)}…"`);
  assert.equal(quoted('xyz', 2), '"xy…"');
});

for (const [value, expected] of [
  [undefined, 'missing'],
  [null, 'null'],
  [true, 'true'],
  [1.5, '1.5'],
  ['a"', String.raw`"a\""`],
  ['x'.repeat(60), `"${'x'.repeat(60)}"`],
  ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
  [[], 'an empty array'],
  [[1, 2, 3, 4], '[1, 2, 3, 4]'],
  [[1, 2, 3, 4, 5], 'an array'],
  [['a', null], '["a", null]'],
  [[1, [2]], 'an array'],
  [[{ a: 1 }], 'an array'],
  [{}, 'an empty object'],
  [{ a: 1 }, 'an object'],
] as const satisfies readonly (readonly [JsonValue | undefined, string])[]) {
  it(`a value of its kind is shown as ${expected}`, () => {
    assert.equal(formatValue(value), expected);
  });
}

it('a value is shown in a few hundred characters, however large it is', () => {
  assert.ok(formatValue('x'.repeat(1_000_000)).length < 80);
  assert.ok(formatValue(['\u0000'.repeat(9999), '', '', '']).length < 500);
});
