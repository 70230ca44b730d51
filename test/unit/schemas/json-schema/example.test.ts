import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import {
  type ExampleFault,
  generateExample,
  type Example,
} from '../../../../sidecar/schemas/json-schema/example.js';
import { flatten } from '../../../../sidecar/schemas/json-schema/flatten.js';
import { isObject, type JsonObject, type JsonValue } from '../../../../sidecar/shared/json/json.js';
import { loopsOf } from '../../../../sidecar/schemas/json-schema/usability.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { exampleFor } from '../../../../sidecar/schemas/validation/tasks.js';
import { createValidator } from '../../../support/validator.js';
import { PARKING, SHARED_DOCUMENTS } from './city-models.js';
import { schemas } from './schema-arbitraries.js';
import { runs } from '../../../support/thoroughness.js';

describe('an example', () => {
  it('the example of a model is an entity that validates, with an id, its type and every attribute', () => {
    const schema = bundle(resolveReferencesIn(PARKING, SHARED_DOCUMENTS));
    const { example, faults } = exampleFor({ schema, entityType: 'Parking' });
    assert.deepEqual(faults, []);
    assert.deepEqual(createValidator(resolveReferencesIn(PARKING, SHARED_DOCUMENTS))(example), []);
    assert.ok(isObject(example));
    assert.deepEqual([example['id'], example['type']], ['urn:ngsi-ld:Parking:001', 'Parking']);
    assert.equal(example['refSpot'], 'urn:ngsi-ld:Spot:001');
    assert.deepEqual(example['owner'], ['urn:ngsi-ld:Owner:001']);
    assert.equal(Object.keys(example).length, 14);
  });

  it('the example of a model has an id and a type if they are allowed, even if they are not described', () => {
    const open = exampleFor({ schema: { properties: { a: { const: 1 } } }, entityType: 'T' });
    assert.deepEqual(open.example, { id: 'urn:ngsi-ld:T:001', type: 'T', a: 1 });
    assert.deepEqual([open.faults, open.normalizedFaults], [[], []]);
    const closed = { properties: { a: { const: 1 } }, additionalProperties: false };
    assert.deepEqual(exampleFor({ schema: closed, entityType: 'T' }).example, { a: 1 });
  });

  it('the example of a model has URIs for its relationships, of the type that their names suggest', () => {
    const types = { refDevice: 'Device', hasPart: 'Part', isIn: 'In', island: 'Island', '---': 'Entity' };
    const uri = { type: 'string', format: 'uri', description: 'Relationship. x' };
    const list = { type: 'array', description: 'Relationship. x' };
    for (const one of [uri, list]) {
      const properties = Object.fromEntries(Object.keys(types).map((name) => [name, one]));
      const { example } = exampleFor({ schema: { properties }, entityType: 'T' });
      assert.ok(isObject(example));
      for (const [name, type] of Object.entries(types)) {
        const id = `urn:ngsi-ld:${type}:001`;
        assert.deepEqual(example[name], one === uri ? id : [id]);
      }
    }
  });

  it('an example has everything that its required properties require', () => {
    const number = { type: 'integer', minimum: 1 };
    const properties = { a: number, b: number, c: number, d: number };
    for (const [keyword, value] of [
      ['dependentRequired', { a: ['b'], b: ['c'] }],
      ['dependencies', { a: ['b'], b: ['c'] }],
      ['dependentSchemas', { a: { required: ['b', 'c'] } }],
      ['dependencies', { a: { required: ['b'] }, b: { required: ['c'] } }],
    ] as const) {
      const schema: JsonObject = {
        properties,
        required: ['a'],
        additionalProperties: false,
        maxProperties: 3,
        [keyword]: value,
      };
      const { example } = exampleFor({ schema, entityType: 'T' });
      assert.deepEqual(example, { a: 1, b: 1, c: 1 }, `${keyword} ${JSON.stringify(value)}`);
    }
  });

  it('an example prefers the values that the schema itself names', () => {
    for (const [schema, expected] of [
      [{ const: { a: 1 } }, { a: 1 }],
      [{ enum: ['x', 'y'] }, 'x'],
      [{ type: 'string', default: 'd', examples: ['e'] }, 'd'],
      [{ type: 'string', default: 7, examples: ['e'] }, 'e'],
      [{ type: 'integer', minimum: 5, default: 1 }, 5],
      [{ allOf: [{ enum: [1, 2, 3] }, { enum: [3, 4] }] }, 3],
    ] satisfies [JsonObject, JsonValue][])
      assert.deepEqual(made(schema), { example: expected, faults: [] });
  });

  it('an example has null only if the schema lists no other value', () => {
    for (const [schema, expected] of [
      [{ enum: [null, 'a'] }, 'a'],
      [{ type: ['null', 'string'], enum: [null, 'b', 'c'] }, 'b'],
      [{ enum: [null] }, null],
      [{ type: ['null', 'boolean'] }, false],
      [{ type: 'string', default: 'd', const: 'x' }, 'x'],
      [{ default: null, examples: [null, 'e'] }, 'e'],
      [{ default: null, minLength: 5 }, 'text.'],
    ] satisfies [JsonObject, JsonValue][])
      assert.deepEqual(made(schema, () => []).example, expected);
  });

  it('items that must differ are the examples of their schema, in order', () => {
    const items = { type: 'string', examples: ['red', 'green'] };
    const schema = { type: 'array', items, minItems: 3, uniqueItems: true };
    const { example } = made(schema);
    assert.deepEqual(example, ['red', 'green', 'text 2']);
  });

  it('an example satisfies patterns, bounds, lengths, counts and dependencies', () => {
    for (const schema of [
      { type: 'string', minLength: 30, maxLength: 30 },
      { type: 'string', maxLength: 2 },
      { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$', minLength: 8 },
      { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, minItems: 3, uniqueItems: true },
      { type: 'number', minimum: 0.2, maximum: 0.3 },
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      { type: 'integer', exclusiveMinimum: 3, maximum: 4 },
      { type: 'integer', maximum: -7 },
      { type: 'integer', exclusiveMaximum: -7 },
      { type: 'integer', multipleOf: 5, exclusiveMaximum: -40 },
      { type: 'integer', exclusiveMinimum: 7 },
      { type: 'number', multipleOf: 0.25, minimum: 7.1 },
      { type: 'number', multipleOf: 0.1, minimum: 0.25, maximum: 0.35 },
      { type: 'number', multipleOf: 0.01, minimum: 19.985, exclusiveMaximum: 20 },
      { type: 'integer', multipleOf: 6, minimum: 100 },
      { allOf: [{ multipleOf: 4 }, { multipleOf: 6 }], type: 'integer' },
      { type: 'array', minItems: 4, uniqueItems: true, items: { type: 'integer', minimum: 3 } },
      { type: 'array', prefixItems: [{ const: 1 }, { type: 'boolean' }], items: false },
      { type: 'array', contains: { const: 'x' }, minContains: 2 },
      { type: 'array', maxItems: 0, items: { type: 'string' } },
      { type: 'object', minProperties: 3 },
      { type: 'object', properties: { a: true, b: true, c: true }, required: ['c'], maxProperties: 2 },
      {
        properties: { a: true },
        required: ['a'],
        dependentRequired: { a: ['b'] },
        dependentSchemas: { b: { properties: { c: { const: 1 } }, required: ['c'] } },
      },
      { type: 'object', required: ['x-1'], patternProperties: { '^x-': { type: 'number' } } },
      {
        type: 'object',
        properties: { k: { enum: ['a', 'b'] } },
        required: ['k'],
        if: { properties: { k: { const: 'a' } } },
        then: { required: ['x'] },
        else: { required: ['y'] },
      },
    ] satisfies JsonObject[])
      assertValid(schema);
  });

  it('an example enters a recursive schema once, and omits endless parts', () => {
    const tree = {
      type: 'object',
      properties: { value: { const: 1 }, children: { type: 'array', items: { $ref: '#' } } },
    };
    assert.deepEqual(made(tree), { example: { value: 1, children: [{ value: 1 }] }, faults: [] });
    const endless = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
    assert.notEqual(made(endless).faults.length, 0);
  });

  it('an example omits optional properties that cannot be made', () => {
    const schema = {
      type: 'object',
      properties: { a: { const: 1 }, b: { pattern: '^(?=a)b' }, c: { type: 'string', not: {} } },
    };
    assert.deepEqual(made(schema), { example: { a: 1 }, faults: [] });
  });

  it('making an example terminates on schemas that multiply', () => {
    const $defs: Record<string, JsonObject> = { d30: { type: 'string' } };
    for (let index = 0; index < 30; index += 1) {
      const next = { $ref: `#/$defs/d${index + 1}` };
      $defs[`d${index}`] = { type: 'object', properties: { a: next, b: next } };
    }
    assert.ok(isObject(made({ $ref: '#/$defs/d0', $defs }).example));
  });

  it('making an example terminates if a schema with a condition leads back to itself', () => {
    const again = { $ref: '#/$defs/d' };
    for (const condition of [{}, { required: ['b'] }, { not: {} }]) {
      const d = { if: condition, properties: { a: again } };
      const { example, faults } = made({ properties: { a: again }, $defs: { d } });
      assert.deepEqual(faults, []);
      assert.ok(JSON.stringify(example).length < 50, JSON.stringify(example));
    }
  });

  it('an example is the same for the same schema, and is checked by the given validator', () => {
    fc.assert(
      fc.property(
        schemas.filter((schema) => loopsOf(resolveReferencesIn(schema)).length === 0),
        (schema) => {
          const first = made(schema);
          const again = made(structuredClone(schema));
          assert.deepEqual([again.example, said(again.faults)], [first.example, said(first.faults)]);
          const found = createValidator(resolveReferencesIn(schema))(first.example);
          assert.deepEqual(said(found), said(first.faults));
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('an example validates for most schemas that any value satisfies', () => {
    const plain = fc.sample(
      schemas.filter((schema) => loopsOf(resolveReferencesIn(schema)).length === 0),
      { numRuns: 400, seed: 1 },
    );
    const valid = plain.filter((schema) => made(schema).faults.length === 0);
    assert.ok(valid.length > 300, `${valid.length} of ${plain.length}`);
  });

  it('making an example never changes properties that objects inherit', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"const":{"polluted":1}}},"required":["__proto__"]}',
    ) as JsonObject;
    made(schema);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });
});

function made(schema: JsonObject, check = createValidator(resolveReferencesIn(schema))): Example {
  const { root, targets } = flatten(resolveReferencesIn(schema));
  return generateExample(root, targets, { check });
}

function assertValid(schema: JsonObject): void {
  const { example, faults } = made(schema);
  assert.deepEqual(faults, [], JSON.stringify({ schema, example }));
}

function said(faults: readonly ExampleFault[]) {
  return faults.map(({ tokens, predicate }) => [tokens, predicate()]);
}
