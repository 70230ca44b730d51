import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { columns } from '../../../support/columns.js';

describe('the proofs of the change report', () => {
  it('the change report proves that alternatives cover each other', () => {
    const equal: readonly (readonly [JsonObject, JsonObject])[] = [
      [{ type: ['string', 'number'] }, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
      [{ enum: [1, 'a'] }, { oneOf: [{ const: 'a' }, { const: 1 }] }],
      [{ type: 'null' }, { type: ['string', 'null'], enum: ['', null] }],
      [{ type: ['boolean', 'null'] }, { enum: [true, null, false] }],
      [
        { anyOf: [{ type: 'string' }, { type: 'null' }] },
        { anyOf: [{ type: 'null' }, { type: 'string' }, { type: 'number' }] },
      ],
      [geometries('Point', 'Polygon'), geometries('Polygon', 'Point', 'LineString')],
      [{ not: { type: ['string', 'null'] } }, { not: { type: 'string' } }],
      [conditional(['x', 'y']), conditional(['x'])],
      [
        { allOf: [{ contains: { const: 1 }, minContains: 3 }, { contains: { const: 1 } }] },
        { contains: { const: 1 }, minContains: 2 },
      ],
      [
        { allOf: [{ contains: { const: 1 }, maxContains: 1 }, { contains: { const: 1 } }] },
        { contains: { const: 1 }, maxContains: 2 },
      ],
      [
        { contains: { type: 'string' }, maxContains: 1 },
        { contains: { const: 'a' }, minContains: 0, maxContains: 1 },
      ],
      [{ multipleOf: 0.3 }, { multipleOf: 0.1 }],
      [{ type: 'number', multipleOf: 1 }, { type: 'integer' }],
      [
        { type: 'number', multipleOf: 2, exclusiveMinimum: 0 },
        { type: 'integer', minimum: 1 },
      ],
      [{ multipleOf: 1e300 }, { multipleOf: 1e-300 }],
      [{ required: ['a'] }, { dependentRequired: { a: ['a'] } }],
      [{}, { dependentRequired: { a: ['a'] } }],
      [{ dependencies: { a: ['b', 'c'] } }, { dependentRequired: { a: ['b'] } }],
      [{ dependentRequired: { a: ['b', 'c'] } }, { dependencies: { a: ['b'] } }],
      [{ dependencies: { a: { required: ['b'] } } }, { dependentSchemas: { a: { required: ['b'] } } }],
      [{ dependentSchemas: { a: { required: ['b'] } } }, { dependencies: { a: { required: ['b'] } } }],
    ];
    for (const [before, after] of equal)
      assert.equal(compareSchemas(before, after).overall, 'compatible', JSON.stringify([before, after]));
    assert.equal(compareSchemas(geometries('Point', 'Polygon'), geometries('Point')).overall, 'narrowing');
    const report = compareSchemas(conditional(['x']), conditional(['x', 'y']));
    assert.deepEqual(
      report.differences.map((one) => [one.pointer, one.class]),
      [['/then/required', 'narrowing']],
    );
  });

  it('the change report does not prove schemas that only look alike', () => {
    const text = { type: 'string' };
    const open: readonly (readonly [JsonObject, JsonObject])[] = [
      // Names that a pattern matched are now subject to additionalProperties.
      [{ patternProperties: { '^a': true }, additionalProperties: false }, { additionalProperties: false }],
      [{ patternProperties: { '^a': true }, additionalProperties: text }, { properties: { ab: text } }],
      // Required members count towards the minimum number.
      [{ required: ['a', 'b'], minProperties: 3 }, { minProperties: 5 }],
      // The condition is known in one branch only.
      [{}, { if: text, else: text }],
      [{ type: 'boolean' }, { enum: [true, null] }],
      [{ contains: text }, { contains: text, maxContains: 1 }],
      [
        { contains: text, minContains: 1 },
        { contains: text, minContains: 2 },
      ],
      [{ prefixItems: [{ type: 'number' }], items: text }, { items: text }],
      [{ items: text, maxItems: 3 }, { prefixItems: [text, { const: 'a' }] }],
      [{ anyOf: [text, { type: 'null' }] }, { anyOf: [text] }],
      [{ not: { type: ['string', 'null'] } }, { not: { type: ['string', 'null', 'number'] } }],
      [
        { contains: text, maxContains: 2 },
        { contains: { type: 'string', minLength: 1 }, maxContains: 1 },
      ],
      [
        { contains: { type: 'string', minLength: 1 }, maxContains: 1 },
        { contains: text, maxContains: 1 },
      ],
      [{ oneOf: [text, { type: 'null' }] }, { oneOf: [text, { type: 'string' }] }],
      [{ oneOf: [text, { minLength: 2 }] }, { oneOf: [{ minLength: 2 }] }],
      [
        { anyOf: [{ properties: { a: text } }, { required: ['b'] }], unevaluatedProperties: false },
        { properties: { a: text }, unevaluatedProperties: { type: 'number' } },
      ],
      [{ patternProperties: { '^a': text }, unevaluatedProperties: false }, { unevaluatedProperties: false }],
      [
        { if: { required: ['b'] }, then: { properties: { a: true } }, unevaluatedProperties: false },
        { if: { required: ['a'] }, then: { properties: { b: true } }, unevaluatedProperties: false },
      ],
      [{ dependentRequired: { a: ['b'] } }, { dependentRequired: { a: ['b', 'c'] } }],
      [{ propertyNames: { maxLength: 5 } }, { propertyNames: { maxLength: 4 } }],
      [{ multipleOf: 2 }, { multipleOf: 4 }],
      [
        { type: 'number', multipleOf: 0.5 },
        { type: 'number', multipleOf: 1 },
      ],
      // A circle proves nothing.
      [{}, { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { minimum: 5 }] } } }],
    ];
    for (const [before, after] of open)
      assert.notEqual(compareSchemas(before, after).overall, 'compatible', JSON.stringify([before, after]));
  });

  it('the change report proves that a schema without valid documents can refuse nothing more', () => {
    const none: readonly JsonObject[] = [
      { type: 'string', enum: [1] },
      { minimum: 2, maximum: 1, type: 'number' },
      { type: 'object', required: ['a'], properties: { a: false } },
      { allOf: [{ type: 'string' }, { type: 'null' }] },
    ];
    for (const before of none)
      assert.equal(compareSchemas(before, { const: 'other' }).overall, 'compatible', JSON.stringify(before));
    const forbidden = { properties: { a: false } };
    assert.equal(compareSchemas(forbidden, { properties: { a: { type: 'string' } } }).overall, 'compatible');
  });

  it('the change report proves changes of recursive schemas, however they are unrolled', () => {
    const list = (type: JsonValue) => ({ properties: { value: { type }, next: { $ref: '#' } } });
    const node = (type: JsonValue, next: JsonObject) => ({ properties: { value: { type }, next } });
    const unrolled = (type: JsonValue) => {
      const again = { $ref: '#/$defs/node' };
      return { ...again, $defs: { node: node(type, node(type, again)) } };
    };
    for (const [type, overall] of [
      [['number', 'string'], 'compatible'],
      ['integer', 'narrowing'],
      ['string', 'breaking'],
    ] as const)
      assert.equal(compareSchemas(list('number'), unrolled(type)).overall, overall, String(type));
  });

  it('the change report terminates on schemas that multiply, and classifies unproven changes as narrowing', () => {
    const doubling = (leaf: JsonObject): JsonObject => {
      const $defs: Record<string, JsonObject> = { d40: leaf };
      for (let index = 0; index < 40; index += 1) {
        const next = { $ref: `#/$defs/d${index + 1}` };
        $defs[`d${index}`] = {
          anyOf: [
            { ...next, title: 'a' },
            { type: 'object', required: ['a'], properties: { a: next, b: next } },
          ],
        };
      }
      return { $ref: '#/$defs/d0', $defs };
    };
    assert.equal(
      compareSchemas(doubling({ type: 'number', minimum: 1 }), doubling({ type: 'number', minimum: 2 }))
        .overall,
      'narrowing',
    );
  });

  it('the change report has steps left for the keywords next to many lists of alternatives', () => {
    const choice = (index: number, type: JsonValue): JsonObject => ({
      oneOf: [
        { required: [`p${index}`], properties: { [`p${index}`]: { type } } },
        { required: [`q${index}`] },
      ],
    });
    const model = (type: JsonValue, last: JsonObject): JsonObject => ({
      allOf: Array.from({ length: 14 }, (_, index) => choice(index, index === 3 ? type : 'string')),
      properties: { z: { anyOf: [{ const: 1 }, { const: 2 }, last] } },
    });
    const before = model('string', { const: 3 });
    const after = model(['string', 'number'], { type: 'integer' });
    assert.deepEqual(columns(compareSchemas(before, after).differences, 'pointer', 'reason'), [
      ['/allOf/3/oneOf', 'structure'],
      ['/properties/z/anyOf/2/const', 'values'],
      ['/allOf/3/oneOf/0/properties/p3/type', 'type'],
    ]);
  });

  it('the change report proves that deeply nested alternatives accept what differently nested ones accept', () => {
    const either = (...anyOf: readonly JsonObject[]) => ({ anyOf });
    const [text, number] = [{ type: 'string' }, { type: 'number' }];
    const [two, three] = [{ enum: [2] }, { enum: [3] }];
    const pairs: readonly (readonly [JsonObject, JsonObject])[] = [
      [
        either(three, either(either(three, either(text, { type: 'null' })), text)),
        either(either(either({ type: ['number'] }, { type: ['number'] }), { type: ['null', 'string'] }), two),
      ],
      [
        either({ const: 2 }, either({ const: 1 }, either(three, either({ const: 3 }, { const: 2 }))), three),
        either(either(two, either(number, { type: ['string'] }), three), two),
      ],
    ];
    for (const [one, other] of pairs) assert.equal(compareSchemas(one, other).overall, 'compatible');
  });
});

function geometries(...types: readonly string[]): JsonObject {
  return {
    oneOf: types.map((type) => ({
      type: 'object',
      required: ['type', 'coordinates'],
      properties: { type: { enum: [type] }, coordinates: { type: 'array' } },
    })),
  };
}

function conditional(required: readonly string[]): JsonObject {
  return { if: { properties: { kind: { const: 1 } } }, then: { required } };
}
