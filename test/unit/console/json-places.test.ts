import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rangeOfPointer } from '../../../console/editor/json-positions.js';

const TEXT = `{
  "type": "object",
  "a/b": {"x~y": 12, "list": [1, {"deep": true}, "three"]},
  "a\\u0062c": null
}`;

const at = (pointer: string, text = TEXT) => {
  const { from, to } = rangeOfPointer(text, pointer);
  return text.slice(from, to);
};

it('a pointer leads to the value that it names', () => {
  assert.equal(at('/type'), '"object"');
  assert.equal(at('/a~1b/x~0y'), '12');
  assert.equal(at('/a~1b/list/1/deep'), 'true');
  assert.equal(at('/a~1b/list/2'), '"three"');
  assert.equal(at('/abc'), 'null');
  assert.equal(at('/~01', '{"~1": 1, "/": 2}'), '1');
  assert.equal(at('/~10', '{"/0": 1, "~10": 2}'), '1');
});

it('the place of an object is that of its name, or of its beginning if it has no name', () => {
  assert.equal(at('/a~1b'), '"a/b"');
  assert.equal(at('/a~1b/list/1'), '{');
  assert.equal(at(''), '{');
});

it('a pointer to a missing value leads to the nearest existing one', () => {
  assert.equal(at('/a~1b/nothing/else'), '"a/b"');
  assert.equal(at('/type/minimum'), '"object"');
  assert.equal(at('/nothing'), '{');
});

it('an incomplete text has places as well', () => {
  assert.equal(at('/a', '{"a": 1, "b"'), '1');
  assert.equal(at('/b', '{"a": 1, "b": '), '{');
  assert.deepEqual(rangeOfPointer('', '/a'), { from: 0, to: 0 });
});
