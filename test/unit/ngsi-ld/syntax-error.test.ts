import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NgsiLdSyntaxError } from '../../../sidecar/ngsi-ld/syntax-error.js';

it('a syntax error states the expected input and its position, and quotes at most 24 characters from there', () => {
  const foundIn = (text: string, position: number) => {
    const error = new NgsiLdSyntaxError('q', position, 'a name', text);
    assert.deepEqual([error.parameter, error.position], ['q', position]);
    const start = `q: expected a name at position ${position}, found `;
    assert.ok(error.message.startsWith(start), error.message);
    return error.message.slice(start.length);
  };
  const text = 'abcdefghijklmnopqrstuvwxyz';
  assert.equal(foundIn(text, 2), '"cdefghijklmnopqrstuvwxyz"');
  assert.equal(foundIn(text, 1), '"bcdefghijklmnopqrstuvwxy…"');
  assert.equal(foundIn(text, 26), 'the end');
  assert.equal(foundIn('', 0), 'the end');
});
