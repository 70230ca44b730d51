import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { childAt, fragmentOf, pointerOf, tokensOf } from '../../../../sidecar/shared/json/json.js';
import { documentUri, resolveUri } from '../../../../sidecar/schemas/json-schema/uri.js';
import { unicodeText } from '../../../support/unicode-text.js';

/** Tokens that look like escapes. */
const ESCAPES = fc.string({ unit: fc.constantFrom('~', '0', '1', '/') });

it('JSON pointers have the tokens from which they are made, whatever their characters (RFC 6901)', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(unicodeText(), ESCAPES)), (tokens) => {
      assert.deepEqual(tokensOf(pointerOf(tokens)), tokens);
      const decoded = resolveUri(`#${fragmentOf(tokens)}`)?.fragment;
      assert.equal(decoded, pointerOf(tokens));
    }),
  );
  assert.equal(fragmentOf(['a#b/c']), '/a%23b~1c');
  assert.equal(fragmentOf(['half \ud800 a pair']), '/half%20%EF%BF%BD%20a%20pair');
  assert.deepEqual(tokensOf(''), []);
  assert.deepEqual(tokensOf('/'), ['']);
  assert.deepEqual(tokensOf('/~01/~10/~0~1'), ['~1', '/0', '~/']);
});

it('a text without a slash, or with a tilde that escapes nothing, is not a JSON pointer', () => {
  for (const text of ['a', 'a/b', '/~', '/~2', '#/a']) assert.equal(tokensOf(text), undefined, text);
});

it('JSON pointers lead to own members, and to items by plain indexes only', () => {
  assert.equal(childAt({ a: 1 }, 'a'), 1);
  assert.equal(childAt({}, 'toString'), undefined);
  assert.equal(childAt(['x', 'y'], '1'), 'y');
  for (const token of ['01', '-1', '-', '1.0', 'length', '2'])
    assert.equal(childAt(['x', 'y'], token), undefined, token);
});

it('URIs of documents have one form each, absolute and without fragment', () => {
  for (const [text, uri] of [
    ['https://EXAMPLE.com:443/a/../b.json#/x', 'https://example.com/b.json'],
    ['https://example.com', 'https://example.com/'],
    ['urn:example:a#', 'urn:example:a'],
    ['relative.json', undefined],
    ['', undefined],
    ['schema:///x', undefined],
  ] as const)
    assert.equal(documentUri(text), uri, text);
});
