import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import { hasFormat } from '../../../../sidecar/schemas/json-schema/formats.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { schemaTasks } from '../../../../sidecar/schemas/json-schema/tasks.js';
import { compileSchema } from '../../../../sidecar/schemas/json-schema/validator.js';
import { exampleTasks } from '../../../../sidecar/schemas/validation/tasks.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { parseJson } from '../../../../sidecar/shared/json/lossless-json.js';

const INT64 = '9223372036854775807';
const schemaOf = (text: string) => parseJson(text) as JsonObject;

/** Whether a text is valid by the text of a schema. */
function isValid(schema: string, document: string): boolean {
  const { firstFault } = compileSchema(resolveReferencesIn(schemaOf(schema)));
  return firstFault(parseJson(document) as JsonValue) === undefined;
}

/** Integers around 2^53, where each second one has no double, and around 2^63. */
const integers = fc.oneof(
  fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 8n }),
  fc.bigInt({ min: 2n ** 63n - 3n, max: 2n ** 63n + 3n }),
  fc.bigInt({ min: -3n, max: 3n }),
);

const KEYWORDS: Readonly<Record<string, (value: bigint, asked: bigint) => boolean>> = {
  minimum: (value, asked) => value >= asked,
  maximum: (value, asked) => value <= asked,
  exclusiveMinimum: (value, asked) => value > asked,
  exclusiveMaximum: (value, asked) => value < asked,
  const: (value, asked) => value === asked,
  multipleOf: (value, asked) => value % asked === 0n,
};

describe('numbers beyond doubles, in schemas and documents', () => {
  for (const [keyword, holds] of Object.entries(KEYWORDS))
    it(`integers of any size are compared exactly: ${keyword}`, () => {
      const asked = keyword === 'multipleOf' ? integers.filter((one) => one > 0n) : integers;
      fc.assert(
        fc.property(integers, asked, (value, limit) => {
          const expected = holds(value, limit);
          const schema = `{"${keyword}": ${limit}}`;
          assert.equal(isValid(schema, String(value)), expected, `${schema} ${value}`);
          const inside = `{"properties": {"a": {"items": {"allOf": [{"$ref": "#/$defs/b"}]}}}, "$defs": {"b": ${schema}}}`;
          assert.equal(isValid(inside, `{"a": [0, ${value}]}`), expected && holds(0n, limit));
          assert.equal(isValid(`{"not": ${schema}}`, `${value}.0`), !expected);
        }),
        { numRuns: 60 },
      );
    });

  it('the format int64 accepts exactly the integers of 64 bits, down to the last digit', () => {
    fc.assert(
      fc.property(integers, fc.constantFrom(1n, -1n), (size, sign) => {
        const value = size * sign;
        const expected = BigInt.asIntN(64, value) === value;
        assert.equal(isValid('{"format": "int64"}', String(value)), expected, String(value));
        assert.equal(isValid('{"items": {"format": "int64"}}', `[${value}.0, 1]`), expected, String(value));
        assert.equal(hasFormat('int64', parseJson(String(value)) as JsonValue), expected, String(value));
      }),
    );
    assert.equal(isValid('{"format": "int64"}', '1e30'), false);
    assert.equal(isValid('{"format": "date"}', '9007199254740993'), true);
    assert.equal(isValid('{"format": "date", "maximum": 9007199254740993}', '"x"'), false);
  });

  it('types, lists of values and repeated items are decided by the exact numbers', () => {
    const cases: readonly (readonly [schema: string, document: string, expected: boolean])[] = [
      ['{"type": "integer"}', INT64, true],
      ['{"type": "number"}', INT64, true],
      ['{"type": "string"}', INT64, false],
      ['{"type": "object"}', INT64, false],
      ['{"type": "integer"}', '9007199254740992.5', false],
      ['{"type": "number"}', '9007199254740992.5', true],
      ['{"type": "integer"}', '9007199254740993.0', true],
      [`{"enum": [1, ${INT64}]}`, INT64, true],
      [`{"enum": [1, ${INT64}]}`, '9223372036854775806', false],
      [`{"enum": [1, ${INT64}]}`, '9223372036854775808', false],
      [`{"const": {"a": [${INT64}]}}`, `{"a": [${INT64}.0]}`, true],
      [`{"const": {"a": [${INT64}]}}`, '{"a": [9223372036854775806]}', false],
      ['{"uniqueItems": true}', '[9007199254740992, 9007199254740993]', true],
      ['{"uniqueItems": true}', '[9007199254740993, {"a": 9007199254740993.0}, 9007199254740993.0]', false],
      ['{"multipleOf": 0.0000000000000000000001}', '0.1234567890123456789012', true],
      ['{"multipleOf": 0.1}', '0.3000000000000000000001', false],
      ['{"multipleOf": 1e-400}', '3', true],
      [
        '{"exclusiveMaximum": 972783798187987123879878123.18878137}',
        '972783798187987123879878123.188781371',
        false,
      ],
      ['{"propertyNames": {"enum": ["a"]}}', `{"a": ${INT64}}`, true],
      [`{"propertyNames": {"maxLength": ${INT64}}, "minimum": ${INT64}}`, '{"a": 1}', true],
      [`{"items": {"maximum": 5}, "maxItems": ${INT64}}`, `[5, 4, ${INT64}]`, false],
    ];
    for (const [schema, document, expected] of cases)
      assert.equal(isValid(schema, document), expected, `${schema} ${document}`);
  });

  it('changes by one are detected, however large the numbers are', () => {
    const overall = (before: string, after: string) =>
      compareSchemas(schemaOf(before), schemaOf(after)).overall;
    for (const [before, after, expected] of [
      ['{"const": 9007199254740993}', '{"const": 9007199254740992}', 'breaking'],
      ['{"const": 9007199254740993}', '{"const": 9007199254740995}', 'breaking'],
      ['{"const": 9007199254740993}', '{"const": 9007199254740993.0}', 'compatible'],
      [`{"enum": [1, ${INT64}]}`, '{"enum": [1, 9223372036854775806]}', 'narrowing'],
      [
        `{"type": "integer", "maximum": ${INT64}}`,
        '{"type": "integer", "maximum": 9223372036854775806}',
        'narrowing',
      ],
      [
        `{"type": "integer", "maximum": 9223372036854775806}`,
        `{"type": "integer", "maximum": ${INT64}}`,
        'compatible',
      ],
      [`{"minimum": 9007199254740992}`, `{"minimum": 9007199254740993}`, 'narrowing'],
      [`{"multipleOf": 18014398509481986}`, `{"multipleOf": 9007199254740993}`, 'compatible'],
      [`{"type": "string", "maxLength": 4}`, `{"type": "string", "maxLength": ${INT64}}`, 'compatible'],
      [`{"type": "string", "maxLength": ${INT64}}`, `{"type": "string", "maxLength": 4}`, 'narrowing'],
    ] as const)
      assert.equal(overall(before, after), expected, `${before} ${after}`);
    assert.deepEqual(
      schemaTasks.changedPointers({ before: `{"a": ${INT64}}`, after: '{"a": 9223372036854775806}' }),
      [{ op: 'replace', pointer: '/a' }],
    );
  });

  it('an example has the exact numbers of its schema', () => {
    const schema = `{"properties": {"n": {"const": ${INT64}}, "m": {"type": "integer", "minimum": 9007199254740993}, "o": {"type": "integer", "minimum": 9007199254740993, "maximum": 9007199254740993}}, "required": ["n", "m", "o"]}`;
    const { example, faults } = exampleTasks.makeExample({ schema, entityType: 'Meter' });
    assert.deepEqual(faults, []);
    assert.match(example, new RegExp(`"n":${INT64},.*"o":9007199254740993}`));
  });
});
