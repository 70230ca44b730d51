import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { preferencesOf } from '../../../sidecar/http/purge-answer.js';

const NONE = { respondAsync: false, representation: false };
const ASYNC = { respondAsync: true, representation: false };
const FULL = { respondAsync: false, representation: true };
const BOTH = { respondAsync: true, representation: true };

const characters = (from: string) => fc.constantFrom(...Array.from(from));
const token = fc.string({ unit: characters("!#$%&'*+-.^_`|~09azAZ"), minLength: 1, maxLength: 6 });
/** A quoted string with all allowed characters, including commas, semicolons, quotes and backslashes. */
const quoted = fc
  .string({ unit: characters('\t ,;="\\aZ~!ÿ'), maxLength: 12 })
  .map((content) => `"${content.replaceAll(/["\\]/g, '\\$&')}"`);
const blanks = fc.string({ unit: characters(' \t'), maxLength: 2 });
const pair = fc
  .tuple(token, blanks, blanks, fc.option(fc.oneof(token, quoted)))
  .map(([name, before, after, value]) => (value === null ? name : `${name}${before}=${after}${value}`));
const parameters = fc
  .array(fc.tuple(blanks, blanks, fc.option(pair)), { maxLength: 3 })
  .map((all) => all.map(([before, after, one]) => `${before};${one === null ? '' : after + one}`).join(''));
/** An unknown preference. */
const other = fc
  .tuple(pair, parameters)
  .filter(([text]) => !/^(?:return|respond-async)(?:\s|=|$)/i.test(text))
  .map(([text, more]) => text + more);

for (const [header, expected] of [
  [undefined, NONE],
  ['', NONE],
  [' , ,', NONE],
  ['respond-async', ASYNC],
  ['Respond-Async; wait=10', ASYNC],
  ['respond-async=""', ASYNC],
  ['wait=10, respond-async', ASYNC],
  ['return=representation', FULL],
  ['return = "representation" ; a="b, c"', FULL],
  ['RETURN=Representation;', FULL],
  [String.raw`return="re\presentation"`, FULL],
  [['respond-async', 'return=representation'], BOTH],
  ['respond-asynchronously, xreturn=representation', NONE],
  ['respond-async=no', NONE],
  ['return=minimal', NONE],
  ['a; respond-async, b; return=representation', NONE],
] as const)
  it(`preferencesOf reads ${JSON.stringify(header)}`, () => {
    assert.deepEqual(preferencesOf(header), expected);
  });

it('preferencesOf uses the first occurrence of a repeated preference', () => {
  assert.deepEqual(preferencesOf('return=minimal, return=representation'), NONE);
  assert.deepEqual(preferencesOf(['return=minimal', 'Return=representation']), NONE);
  assert.deepEqual(preferencesOf('return, return=representation'), NONE);
  assert.deepEqual(preferencesOf('return=representation, return=minimal'), FULL);
  assert.deepEqual(preferencesOf('respond-async=no, respond-async'), NONE);
  assert.deepEqual(preferencesOf('respond-async, respond-async=no'), ASYNC);
});

it('preferencesOf reads no preference from within a quoted string', () => {
  assert.deepEqual(preferencesOf('x="a, respond-async"'), NONE);
  assert.deepEqual(preferencesOf('x="a, respond-async, b", return=representation'), FULL);
  assert.deepEqual(preferencesOf(String.raw`x="\", respond-async, \""`), NONE);
  assert.deepEqual(preferencesOf(String.raw`x="\\", respond-async`), ASYNC);
  assert.deepEqual(preferencesOf('x; y="return=representation,"'), NONE);
});

it('preferencesOf ignores a header that does not match the grammar as a whole', () => {
  for (const fault of [
    '"',
    'x="a',
    'x="a\\"',
    'x=',
    '=y',
    'x y',
    'x=a/b',
    '(x)',
    'x=a=b',
    'x="a"b',
    '; x',
    'x, =',
    'x;=',
    'x="\u0000"',
    'é',
    'x=é',
  ])
    for (const header of [`respond-async, ${fault}`, `${fault}, respond-async`])
      assert.deepEqual(preferencesOf(header), NONE, header);
});

it('preferencesOf finds a preference among any others, at any position', () => {
  fc.assert(
    fc.property(
      fc.array(other, { maxLength: 4 }),
      fc.array(other, { maxLength: 4 }),
      fc.constantFrom('respond-async', 'return=representation', 'return = "representation"'),
      parameters,
      fc.constantFrom(',', ', ', ' ,\t', ', ,'),
      (before, after, asked, more, separator) => {
        const header = [...before, asked + more, ...after].join(separator);
        assert.deepEqual(preferencesOf(header), asked.startsWith('respond') ? ASYNC : FULL);
        assert.deepEqual(preferencesOf([...before, ...after].join(separator)), NONE);
      },
    ),
  );
});

it('preferencesOf reads the longest headers without delay, whatever they contain', () => {
  for (const part of ['x;', 'x="', '"\\', ' ', ',', 'x=y;', '\\', 'x ', 'x;x=', '; '])
    for (const end of ['', '"', '\u0000'])
      for (const start of ['', 'x', 'x="']) {
        const startedMs = performance.now();
        preferencesOf(start + part.repeat(32_000) + end);
        assert.ok(performance.now() - startedMs < 5000, JSON.stringify([start, part, end]));
      }
});
