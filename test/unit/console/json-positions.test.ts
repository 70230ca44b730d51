import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Text } from '@codemirror/state';
import type { Position } from '../../../console/editor/errors.js';
import { rangeOf } from '../../../console/editor/json-positions.js';

const TEXT = `{
  "type": "object",
  "a/b": {"x~y": 12, "list": [1, {"deep": true}, "three"]},
  "a\\u0062c": null
}`;

/** The marked part of a text. */
const marked = (position: Position, text = TEXT) => {
  const { from, to } = rangeOf(Text.of(text.split('\n')), position);
  return text.slice(from, to);
};
const at = (pointer: string, text = TEXT) => marked({ pointer }, text);

it('a pointer leads to the value that it names', () => {
  assert.equal(at('/type'), '"object"');
  assert.equal(at('/a~1b/x~0y'), '12');
  assert.equal(at('/a~1b/list/1/deep'), 'true');
  assert.equal(at('/a~1b/list/2'), '"three"');
  assert.equal(at('/abc'), 'null');
  assert.equal(at('/~01', '{"~1": 1, "/": 2}'), '1');
  assert.equal(at('/~10', '{"/0": 1, "~10": 2}'), '1');
});

it('the position of an object is that of its name, or of its beginning if it has no name', () => {
  assert.equal(at('/a~1b'), '"a/b"');
  assert.equal(at('/a~1b/list/1'), '{');
  assert.equal(at(''), '{');
});

it('a pointer to a missing value leads to the nearest existing one', () => {
  assert.equal(at('/a~1b/nothing/else'), '"a/b"');
  assert.equal(at('/type/minimum'), '"object"');
  assert.equal(at('/nothing'), '{');
});

it('an incomplete text has positions as well', () => {
  assert.equal(at('/a', '{"a": 1, "b"'), '1');
  assert.equal(at('/b', '{"a": 1, "b": '), '{');
  assert.equal(at('/a', ''), '');
});

it('a line and a column lead to the rest of that line, and a line alone to all of it', () => {
  assert.equal(marked({ line: 2, column: 11 }), '"object",');
  assert.equal(marked({ line: 2 }), '  "type": "object",');
  assert.equal(marked({ line: 2, column: 11, pointer: '/abc' }), '"object",');
});

it('a line or a column beyond the text leads to the nearest character', () => {
  assert.equal(marked({ line: 99 }), '}');
  assert.equal(marked({ line: 0 }), '{');
  assert.equal(marked({ line: 2, column: 99 }), ',');
  assert.equal(marked({ line: 2, column: 0 }), '  "type": "object",');
  assert.equal(marked({ line: 2, column: 1 }, '{\n\n}'), '');
});
