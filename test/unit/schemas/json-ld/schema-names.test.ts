import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namesInSchema } from '../../../../sidecar/schemas/json-ld/generated-context.js';

describe('the names in a schema', () => {
  it('the names in a schema are those of properties, at any depth and wherever schemas are allowed', () => {
    const schema = {
      allOf: [{ $ref: '#/$defs/common' }, { properties: { a: { type: 'object', properties: { b: {} } } } }],
      properties: { a: true, list: { items: { properties: { c: {} } } } },
      then: { properties: { d: {} } },
      patternProperties: { '^x': { properties: { e: {} } } },
      $defs: { common: { properties: { f: { anyOf: [{ properties: { g: {} } }] } } } },
    };
    assert.deepEqual([...namesInSchema(schema)].sort(), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'list']);
  });

  it('the names in a schema include names that keywords and objects have', () => {
    const schema = {
      properties: {
        properties: { properties: { enum: {} } },
        constructor: {},
        default: { properties: { z: {} } },
      },
    };
    assert.deepEqual(namesInSchema(schema), ['properties', 'enum', 'constructor', 'default', 'z']);
    assert.deepEqual(namesInSchema(JSON.parse('{"properties": {"__proto__": {}}}')), ['__proto__']);
  });

  const inner = { properties: { found: {} } };

  for (const keyword of ['const', 'default', 'enum', 'example', 'examples', 'x-anything']) {
    it(`the names in a schema are not those of data under ${keyword}`, () => {
      assert.deepEqual(namesInSchema({ [keyword]: inner }), []);
      assert.deepEqual(namesInSchema({ [keyword]: [inner] }), []);
    });
  }

  for (const keyword of ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions']) {
    it(`the names in a schema are those of the schemas under ${keyword}, whatever these are called`, () => {
      assert.deepEqual(namesInSchema({ [keyword]: { enum: inner, 'x-name': inner } }), ['found']);
    });
  }

  it('a value that is not a schema has no names', () => {
    for (const other of [true, false, null, 5, 'properties', { properties: ['a'] }, { required: ['r'] }])
      assert.deepEqual(namesInSchema(other), []);
  });
});
