import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ANNOTATIONS, ASSERTIONS, DIALECT_URIS } from '../../../../sidecar/schemas/json-schema/keywords.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { faultsOf, loopsOf, usabilityFaults } from '../../../../sidecar/schemas/json-schema/usability.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { compileSchema } from '../../../../sidecar/schemas/json-schema/validator.js';
import { parseJson } from '../../../../sidecar/shared/json/lossless-json.js';
import { runs } from '../../../support/thoroughness.js';
import { column, columns } from '../../../support/columns.js';

const A = 'https://example.com/a.json';

describe('the check of a schema', () => {
  it('the check of a schema finds each invalid keyword in every draft, with its pointer', () => {
    for (const $schema of Object.values(DIALECT_URIS)) {
      const schema = {
        $schema,
        type: 'objekt',
        properties: { a: { minimum: '1' }, b: { items: { required: 'x' } }, c: { type: ['string', 'text'] } },
        allOf: [],
      };
      assert.deepEqual(
        pointersOf(schema).sort(),
        ['/allOf', '/properties/a/minimum', '/properties/b/items/required', '/properties/c/type/1', '/type'],
        $schema,
      );
    }
  });

  it('the check of a schema checks a part of another draft against that draft, with its pointer', () => {
    const part = { $id: 'http://a.example/part', $schema: DIALECT_URIS['2020-12'], minLength: 'x' };
    const around = { $schema: DIALECT_URIS['draft-07'], definitions: { part } };
    assert.deepEqual(column(usabilityFaults(resolveReferencesIn(around)), 'pointer'), [
      '/definitions/part/minLength',
    ]);
  });

  it('the check of a schema reports the fault without the errors of alternatives that were not meant', () => {
    const [fault, ...others] = faultsOf(resolveReferencesIn({ properties: { a: { type: 'objekt' } } }));
    assert.deepEqual(others, []);
    assert.equal(fault?.pointer, '/properties/a/type');
    assert.match(fault.detail, /^type must be equal to one of the allowed values: array, boolean/);
  });

  it('the check of a schema explains the right notation for keywords of another draft, or of a more lenient reader', () => {
    const said = (schema: JsonObject) => column(faultsOf(resolveReferencesIn(schema)), 'detail');
    assert.deepEqual(said({ items: [{}], contains: 5 }), [
      'items must be a schema: an object, true or false; draft 2020-12 has a list of schemas in prefixItems',
      'contains must be a schema: an object, true or false',
    ]);
    assert.deepEqual(said({ exclusiveMinimum: true, required: true }).sort(), [
      'exclusiveMinimum must be number; true next to minimum is draft-04 syntax',
      'required must be array of names, next to properties',
    ]);
    const [loose, wrong] = [String.raw`^\d\-\d$`, '('].map((pattern) => said({ pattern }).join());
    assert.match(loose ?? '', /: Invalid escape; with the flag u, .* must not have a backslash/);
    assert.match(wrong ?? '', /: Unterminated group$/);
  });

  it('the check of a schema accepts an enum with a repeated value, or without values, anywhere', () => {
    for (const $schema of Object.values(DIALECT_URIS)) {
      const twice = { enum: ['on', 'on'] };
      const schema = { $schema, ...twice, items: twice, dependencies: { a: { enum: [] } }, allOf: [twice] };
      assert.deepEqual(faultsOf(resolveReferencesIn(schema)), [], $schema);
    }
  });

  it('the check of a schema finds faults of members whose names begin alike', () => {
    for (const $schema of [DIALECT_URIS['draft-07'], DIALECT_URIS['2020-12']])
      assert.deepEqual(
        [...new Set(pointersOf({ $schema, dependencies: { a: 5, ab: 5, abc: { minimum: 'x' } } }))].sort(),
        ['/dependencies/a', '/dependencies/ab', '/dependencies/abc/minimum'],
        $schema,
      );
  });

  it('the check of a schema reads each draft by its own rules', () => {
    const items = [{ type: 'string' }];
    assert.deepEqual(pointersOf({ $schema: DIALECT_URIS['draft-07'], items }), []);
    assert.deepEqual(pointersOf({ $schema: DIALECT_URIS['2019-09'], items }), []);
    assert.deepEqual(pointersOf({ items }), ['/items']);
    assert.deepEqual(pointersOf({ $schema: DIALECT_URIS['draft-07'], minContains: 'x' }), []);
  });

  it('the check of a schema finds invalid regular expressions, also as keys, and names them', () => {
    const schema = {
      properties: { a: { pattern: '(' }, b: { pattern: '\\p{Letter}(?=x)\\u0041{2000}' } },
      patternProperties: { '[a': true, '^a/b~': { pattern: '\\y' } },
    };
    const faults = faultsOf(resolveReferencesIn(schema));
    assert.deepEqual(faults.map(({ pointer }) => pointer).sort(), [
      '/patternProperties/[a',
      '/patternProperties/^a~1b~0/pattern',
      '/properties/a/pattern',
    ]);
    for (const [pattern, reason] of [
      ['(', 'Unterminated group'],
      ['[a', 'Unterminated character class'],
      ['\\y', 'Invalid escape'],
    ] as const)
      assert.ok(
        faults.some(({ detail }) => detail.includes(`pattern ${pattern} `) && detail.includes(reason)),
        pattern,
      );
  });

  it('the check of a schema accepts unknown keywords, whatever their content, and unknown formats', () => {
    const schema: JsonObject = {
      $schemaVersion: '0.1',
      modelTags: ['x'],
      'x-ngsi': { type: 'Property', $ref: 7, pattern: '(' },
      nullable: true,
      id: 'old',
      $async: true,
      discriminator: { propertyName: 7 },
      properties: { a: { format: 'text' }, b: { format: 'constructor' }, c: { minimum: { const: 1 } } },
    };
    assert.deepEqual(pointersOf(schema), ['/properties/c/minimum']);
  });

  it('the check of a schema reports faults of other documents at the reference, and only of the used parts', () => {
    const stored = new Map<string, JsonValue>([
      [
        A,
        { definitions: { x: { items: { pattern: '(' }, minLength: -1 }, unused: { type: 7, pattern: '[' } } },
      ],
    ]);
    const faults = faultsOf(
      resolveReferencesIn({ properties: { p: { $ref: `${A}#/definitions/x` } } }, stored),
    );
    assert.deepEqual(column(faults, 'pointer'), ['/properties/p/$ref', '/properties/p/$ref']);
    assert.match(faults[0]?.detail ?? '', /a\.json#\/definitions\/x\/minLength/);
    assert.match(faults[1]?.detail ?? '', /a\.json#\/definitions\/x\/items\/pattern/);
  });
});

describe('the usability of a schema', () => {
  const detailsOf = (schema: JsonObject) =>
    columns(usabilityFaults(resolveReferencesIn(schema)), 'pointer', 'detail');

  it('the check whether a schema is usable reports wrong keywords first, and then circles', () => {
    assert.deepEqual(detailsOf({ properties: { a: { type: 'string' } } }), []);
    const circle = { anyOf: [{ $ref: '#' }] };
    assert.deepEqual(column(usabilityFaults(resolveReferencesIn({ ...circle, minimum: 'x' })), 'pointer'), [
      '/minimum',
    ]);
    assert.deepEqual(detailsOf(circle), [
      ['/anyOf/0/$ref', 'leads back here without descending into the value, so validation would never end'],
    ]);
  });

  it('a schema in which the check finds nothing compiles, whatever the values of its keywords', () => {
    const text = fc.constantFrom('string', 'integer', 'null', 'uri', 'a', '(', '{', '', '__proto__');
    const scalar = fc.oneof(
      text,
      fc.integer({ min: -2, max: 5 }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
    );
    const keyword = fc.constantFrom(...ASSERTIONS, ...ANNOTATIONS, 'additionalItems', 'nullable', '$async');
    const { value } = fc.letrec<{ value: JsonValue; schema: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        scalar,
        tie('schema'),
        fc.array(fc.oneof(scalar, tie('schema')), { maxLength: 3 }),
        fc.dictionary(text, fc.oneof(tie('schema'), fc.array(text)), { maxKeys: 2 }),
      ),
      schema: fc.oneof(fc.boolean(), fc.dictionary(keyword, tie('value'), { maxKeys: 3 })),
    }));
    const schemas = fc.tuple(
      fc.constantFrom(...Object.values(DIALECT_URIS)),
      fc.dictionary(keyword, value, { maxKeys: 4 }),
    );
    fc.assert(
      fc.property(schemas, ([$schema, keywords]) => {
        const linked = resolveReferencesIn(parseJson(JSON.stringify({ $schema, ...keywords })) as JsonObject);
        if (usabilityFaults(linked).length === 0) compileSchema(linked);
      }),
      { numRuns: runs(500) },
    );
  });

  it('a schema with many faults has a hundred of them reported', () => {
    const wrong = (count: number) => ({
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, { minimum: 'x' }]),
      ),
    });
    assert.equal(faultsOf(resolveReferencesIn(wrong(100))).length, 100);
    assert.equal(faultsOf(resolveReferencesIn(wrong(101))).length, 100);
  });
});

describe('references that never descend into the value', () => {
  it('references that never descend into the value are found, whatever keywords form the circle', () => {
    const circles: readonly (readonly [JsonObject, string])[] = [
      [{ $ref: '#' }, '/$ref'],
      [{ anyOf: [{ type: 'string' }, { $ref: '#' }] }, '/anyOf/1/$ref'],
      [{ dependentSchemas: { a: { $ref: '#' } } }, '/dependentSchemas/a/$ref'],
      [{ dependencies: { a: { $ref: '#' } } }, '/dependencies/a/$ref'],
      [{ allOf: [{}, { $ref: '#' }] }, '/allOf/1/$ref'],
      [{ oneOf: [{}, { $ref: '#' }] }, '/oneOf/1/$ref'],
      [{ not: { $ref: '#' } }, '/not/$ref'],
      [{ if: {}, then: { $ref: '#' } }, '/then/$ref'],
      [{ if: {}, else: { $ref: '#' } }, '/else/$ref'],
      [{ $defs: { a: { not: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' }, '/$defs/a/not/$ref'],
      [{ if: { $ref: '#/$defs/a' }, $defs: { a: { then: { $ref: '#' } } } }, '/if/$ref'],
    ];
    for (const [schema, pointer] of circles)
      assert.deepEqual(
        loopsOf(resolveReferencesIn(schema)).map((fault) => fault.pointer),
        [pointer],
        JSON.stringify(schema),
      );
  });

  it('circular references that descend into the value are not reported', () => {
    for (const keyword of ['items', 'additionalProperties', 'contains', 'propertyNames', 'unevaluatedItems'])
      assert.deepEqual(loopsOf(resolveReferencesIn({ [keyword]: { $ref: '#' } })), [], keyword);
    assert.deepEqual(loopsOf(resolveReferencesIn({ properties: { a: { anyOf: [{ $ref: '#' }] } } })), []);
    assert.deepEqual(
      loopsOf(
        resolveReferencesIn({ $defs: { a: true }, allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] }),
      ),
      [],
    );
  });
});

function pointersOf(schema: JsonObject): string[] {
  return column(faultsOf(resolveReferencesIn(schema)), 'pointer');
}
