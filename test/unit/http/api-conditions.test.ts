import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { isNotModified, readPreconditions } from '../../../sidecar/http/api/answer.js';
import { RequestRefusedError } from '../../../sidecar/http/refused.js';
import { words } from '../../support/words.js';

it('If-Match of a write gives ETags, or any by *', () => {
  for (const [header, expected] of [
    [undefined, undefined],
    ['*', '*'],
    ['"a"', ['a']],
    ['"a", "b" ,"c"', ['a', 'b', 'c']],
    ['""', ['']],
    ['"a,b"', ['a,b']],
  ] as const) {
    assert.deepEqual(readPreconditions({ 'if-match': header }), { ifMatch: expected, ifNoneMatchAny: false });
  }
  assert.deepEqual(readPreconditions({ 'if-none-match': '*' }), { ifMatch: undefined, ifNoneMatchAny: true });
});

it('If-Match of a write accepts an ETag that a compressing proxy has changed', () => {
  for (const header of ['W/"a"', '"a-gzip"', '"a--gzip"', '"a;gzip"', '"a-br"', 'W/"a-zstd"']) {
    const { ifMatch } = readPreconditions({ 'if-match': header });
    assert.ok(ifMatch?.includes('a'), header);
  }
  for (const tag of ['a-gz', 'gzip', 'a-gzip-b', 'a-GZIP'])
    assert.deepEqual(readPreconditions({ 'if-match': `"${tag}"` }).ifMatch, [tag]);
  assert.deepEqual(
    readPreconditions({ 'if-match': '"a-br"' }).ifMatch,
    ['a-br', 'a'],
    'one that ends like that',
  );
});

it('unreadable conditions of writes are refused, because they would not be enforced', () => {
  for (const header of [
    ...words(`
    a "a a" "a",b 'a' w/"a" , "a",,"b"
  `),
    '',
    '"a" "b"',
    '*, "a"',
    '"a b"',
  ])
    assert.throws(() => readPreconditions({ 'if-match': header }), RequestRefusedError, header);
  for (const header of ['"a"', '', '*, "a"', 'W/"a"'])
    assert.throws(() => readPreconditions({ 'if-none-match': header }), RequestRefusedError, header);
});

it('conditions of writes are read or refused in linear time, whatever the header contains', () => {
  const piece = fc.constantFrom('"', 'W/', ',', ' ', '*', 'a', '\t');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        readPreconditions({ 'if-match': pieces.join('') });
      } catch (error) {
        assert.ok(error instanceof RequestRefusedError);
      }
    }),
  );
  assert.throws(() => readPreconditions({ 'if-match': `${'"a", '.repeat(10_000)}x` }), RequestRefusedError);
  assert.throws(() => readPreconditions({ 'if-match': `"a"${' '.repeat(60_000)}x` }), RequestRefusedError);
});

it('conditions of reads match the ETag in any list, weak or strong, and *', () => {
  for (const header of ['"e"', 'W/"e"', '"x", "e"', '"x",W/"e" , "y"', '*', ' * '])
    assert.equal(isNotModified(header, 'e'), true, header);
  for (const header of ['', '"x"', 'e', '"E"', '"e', '"ee"', '"x,e"'])
    assert.equal(isNotModified(header, 'e'), false, header);
});
