import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namesInSchema } from '../../../../sidecar/schemas/json-ld/generated-context.js';

describe('the names in a schema', () => {
  it('the names in a schema are those of properties, at any depth and wherever schemas stand', () => {
    const schema = {
      allOf: [{ $ref: '#/$defs/common' }, { properties: { a: { type: 'object', properties: { b: {} } } } }],
      properties: { a: true, list: { items: { properties: { c: {} } } } },
      then: { properties: { d: {} } },
      patternProperties: { '^x': { properties: { e: {} } } },
      $defs: { common: { properties: { f: { anyOf: [{ properties: { g: {} } }] } } } },
    };
    assert.deepEqual([...namesInSchema(schema)].sort(), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'list']);
  });

  it('the names in a schema are also names that keywords and objects have', () => {
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

  it('the names in a schema are found in definitions of any name', () => {
    const schema = {
      $defs: { default: { properties: { a: {} } } },
      dependentSchemas: { enum: { properties: { b: {} } } },
    };
    assert.deepEqual(namesInSchema(schema), ['a', 'b']);
  });

  it('the names in a schema do not include those in data', () => {
    const data = { properties: { nothing: {} } };
    const schema = {
      const: data,
      enum: [data],
      default: data,
      examples: [data],
      'x-note': data,
      required: ['r'],
    };
    assert.deepEqual(namesInSchema(schema), []);
    for (const other of [true, false, null, 5, 'properties', { properties: ['a'] }]) {
      assert.deepEqual(namesInSchema(other), []);
    }
  });
});
