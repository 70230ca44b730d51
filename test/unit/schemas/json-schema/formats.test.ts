import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import { generateExample } from '../../../../sidecar/schemas/json-schema/example.js';
import {
  FORMATS as CHECKED,
  hasFormat,
  typesRefusedBy,
} from '../../../../sidecar/schemas/json-schema/formats.js';
import { words } from '../../../support/words.js';
import { isArray, type JsonValue } from '../../../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../support/validator.js';

const FORMATS = words(`
  date-time date time duration uri email hostname ipv4 ipv6 uuid regex uri-template json-pointer byte
  int32 int64 float double password binary text idn-email constructor __proto__
`);

const SAMPLES: readonly JsonValue[] = [
  ...words(`
    2024-01-31T12:00:00Z 2024-02-30 2024-01-31 12:00:00Z PT1H urn:a:b a@example.org city.example 192.0.2.1
    2001:db8::1 123e4567-e89b-12d3-a456-426614174000 ( {a} /a/~0 YQ==
  `),
  'a b',
  5,
  1.5,
  2 ** 40,
  2 ** 70,
  null,
  true,
  [],
  {},
];

const TYPES = ['null', 'boolean', 'object', 'array', 'string', 'integer', 'number'];

describe('examples of formats', () => {
  it('examples of each checked format match the format, and differ', () => {
    for (const format of Object.keys(CHECKED).filter((name) => typesRefusedBy(name).includes('string'))) {
      const items = { type: 'string', format };
      const count = format === 'byte' ? 1 : 2;
      const schema = { type: 'array', items, minItems: count, uniqueItems: true };
      const check = createValidator(resolveReferencesIn(schema));
      const { example, faults } = generateExample(schema, new Map(), { check });
      assert.deepEqual([isArray(example) && example.length, faults], [count, []], format);
    }
  });
});

/** Strings that match a format that the official suite does not have, and similar ones that do not. */
const DATE_TIMES_OF_ISO = {
  have: ['2024-01-01T10:00:00', '2024-01-01T10:00:00+02'],
  haveNot: ['2024-01-01 10:00:00', '2024-01-01T10:60:00'],
};

describe('a format', () => {
  it('the format iso-date-time does not need a time zone', () => {
    for (const text of DATE_TIMES_OF_ISO.have) assert.ok(hasFormat('iso-date-time', text), text);
    for (const text of DATE_TIMES_OF_ISO.haveNot) assert.ok(!hasFormat('iso-date-time', text), text);
  });

  it('a value has a format exactly if a validator accepts it', () => {
    const values = fc.oneof(
      fc.constantFrom(...SAMPLES),
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const validators = new Map(
      FORMATS.map((format) => [format, createValidator(resolveReferencesIn({ format }))]),
    );
    fc.assert(
      fc.property(fc.constantFrom(...FORMATS), values, (format, value) => {
        assert.equal(hasFormat(format, value), validators.get(format)?.(value).length === 0, format);
      }),
      { numRuns: 2000 },
    );
  });

  it('a format narrows a schema exactly if it refuses a value of its types', () => {
    const refusals = new Map(
      FORMATS.map((format) => {
        const validate = createValidator(resolveReferencesIn({ format }));
        return [format, SAMPLES.filter((sample) => validate(sample).length > 0)];
      }),
    );
    for (const [format, refused] of refusals) {
      for (const type of TYPES) {
        const isNarrower = refused.some(
          (value) => createValidator(resolveReferencesIn({ type }))(value).length === 0,
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

  it('a format of 64 bits accepts every integer of 32 bits', () => {
    const [small, large] = [
      { type: 'integer', format: 'int32' },
      { type: 'integer', format: 'int64' },
    ];
    assert.equal(compareSchemas(small, large).overall, 'compatible');
    assert.equal(compareSchemas(large, small).overall, 'narrowing');
  });

  it('a format narrows a list of values exactly if it refuses one of them', () => {
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
