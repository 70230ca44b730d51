import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import fc from 'fast-check';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import { exampleOf } from '../../../../sidecar/schemas/json-schema/example.js';
import { hasFormat, typesRefusedBy } from '../../../../sidecar/schemas/json-schema/formats.js';
import { isArray, type JsonValue } from '../../../../sidecar/shared/json/json.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/references.js';
import { createValidator } from '../../../../sidecar/schemas/json-schema/validator.js';

const FORMATS = [
  ...['date-time', 'date', 'time', 'duration', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'regex'],
  ...['uri-template', 'json-pointer', 'byte', 'int32', 'int64', 'float', 'double', 'password', 'binary'],
  ...['text', 'idn-email', 'constructor', '__proto__'],
];

const SAMPLES: readonly JsonValue[] = [
  ...[
    '2024-01-31T12:00:00Z',
    '2024-02-30',
    '2024-01-31',
    '12:00:00Z',
    'PT1H',
    'urn:a:b',
    'a b',
    'a@example.org',
  ],
  ...[
    'city.example',
    '192.0.2.1',
    '2001:db8::1',
    '123e4567-e89b-12d3-a456-426614174000',
    '(',
    '{a}',
    '/a/~0',
    'YQ==',
  ],
  ...[5, 1.5, 2 ** 40, 2 ** 60, null, true, [], {}],
];

const TYPES = ['null', 'boolean', 'object', 'array', 'string', 'integer', 'number'];

describe('examples of formats', () => {
  it('examples of each format that is checked have it, and differ', () => {
    for (const format of Object.keys(fullFormats).filter((name) => typesRefusedBy(name).includes('string'))) {
      const items = { type: 'string', format };
      const count = format === 'byte' ? 1 : 2;
      const schema = { type: 'array', items, minItems: count, uniqueItems: true };
      const { example, faults } = exampleOf(schema, { check: createValidator(resolveWith(schema)) });
      assert.deepEqual([isArray(example) && example.length, faults], [count, []], format);
    }
  });
});

describe('a format', () => {
  it('a value has a format exactly if a validator accepts it', () => {
    const values = fc.oneof(
      fc.constantFrom(...SAMPLES),
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const validators = new Map(FORMATS.map((format) => [format, createValidator(resolveWith({ format }))]));
    fc.assert(
      fc.property(fc.constantFrom(...FORMATS), values, (format, value) => {
        assert.equal(hasFormat(format, value), validators.get(format)?.(value).length === 0, format);
      }),
      { numRuns: 2000 },
    );
  });

  it('a format narrows a schema exactly where it refuses a value of its types', () => {
    const refusals = new Map(
      FORMATS.map((format) => {
        const validate = createValidator(resolveWith({ format }));
        return [format, SAMPLES.filter((sample) => validate(sample).length > 0)];
      }),
    );
    for (const [format, refused] of refusals) {
      for (const type of TYPES) {
        const isNarrower = refused.some(
          (value) => createValidator(resolveWith({ type }))(value).length === 0,
        );
        for (const after of [
          { type, format },
          { type: [type, 'string'], format },
          { type: [type, 'null'], format },
        ]) {
          const { overall } = compareSchemas({ type }, after);
          assert.equal(overall, isNarrower ? 'narrowing' : 'compatible', JSON.stringify({ type, after }));
        }
      }
    }
  });

  it('a format narrows a list of values exactly where it refuses one of them', () => {
    const lists = fc.uniqueArray(fc.constantFrom(...SAMPLES), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...FORMATS), lists, (format, list) => {
        const isKept = list.every((value) => hasFormat(format, value));
        const { overall } = compareSchemas({ enum: list }, { format });
        assert.equal(overall, isKept ? 'compatible' : 'narrowing');
      }),
    );
  });
});
