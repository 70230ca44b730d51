import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readPreferences } from '../../../sidecar/http/purge-answer.js';
import { processorTimer } from '../../support/processor-time.js';

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
  it(`readPreferences reads ${JSON.stringify(header)}`, () => {
    assert.deepEqual(readPreferences(header), expected);
  });

it('readPreferences uses the first occurrence of a repeated preference', () => {
  assert.deepEqual(readPreferences('return=minimal, return=representation'), NONE);
  assert.deepEqual(readPreferences(['return=minimal', 'Return=representation']), NONE);
  assert.deepEqual(readPreferences('return, return=representation'), NONE);
  assert.deepEqual(readPreferences('return=representation, return=minimal'), FULL);
  assert.deepEqual(readPreferences('respond-async=no, respond-async'), NONE);
  assert.deepEqual(readPreferences('respond-async, respond-async=no'), ASYNC);
});

it('readPreferences reads no preference from within a quoted string', () => {
  assert.deepEqual(readPreferences('x="a, respond-async"'), NONE);
  assert.deepEqual(readPreferences('x="a, respond-async, b", return=representation'), FULL);
  assert.deepEqual(readPreferences(String.raw`x="\", respond-async, \""`), NONE);
  assert.deepEqual(readPreferences(String.raw`x="\\", respond-async`), ASYNC);
  assert.deepEqual(readPreferences('x; y="return=representation,"'), NONE);
});

it('readPreferences ignores a header that does not match the grammar as a whole', () => {
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
      assert.deepEqual(readPreferences(header), NONE, header);
});

it('readPreferences finds a preference among any others, at any position', () => {
  fc.assert(
    fc.property(
      fc.array(other, { maxLength: 4 }),
      fc.array(other, { maxLength: 4 }),
      fc.constantFrom('respond-async', 'return=representation', 'return = "representation"'),
      parameters,
      fc.constantFrom(',', ', ', ' ,\t', ', ,'),
      (before, after, asked, more, separator) => {
        const header = [...before, asked + more, ...after].join(separator);
        assert.deepEqual(readPreferences(header), asked.startsWith('respond') ? ASYNC : FULL);
        assert.deepEqual(readPreferences([...before, ...after].join(separator)), NONE);
      },
    ),
  );
});

it('readPreferences reads the longest headers without delay, whatever they contain', () => {
  for (const part of ['x;', 'x="', '"\\', ' ', ',', 'x=y;', '\\', 'x ', 'x;x=', '; '])
    for (const end of ['', '"', '\u0000'])
      for (const start of ['', 'x', 'x="']) {
        const usedMs = processorTimer();
        readPreferences(start + part.repeat(32_000) + end);
        assert.ok(usedMs() < 5000, JSON.stringify([start, part, end]));
      }
});
