import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import { exampleWith } from '../../../../sidecar/schemas/json-schema/example.js';
import {
  FORMATS as CHECKED,
  hasFormat,
  typesRefusedBy,
} from '../../../../sidecar/schemas/json-schema/formats.js';
import { words } from '../../../support/words.js';
import { isArray, type JsonValue } from '../../../../sidecar/shared/json/json.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../../sidecar/schemas/json-schema/validator.js';

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
      const check = createValidator(resolveWith(schema));
      const { example, faults } = exampleWith(schema, new Map(), { check });
      assert.deepEqual([isArray(example) && example.length, faults], [count, []], format);
    }
  });
});

/** Strings that match a format by its RFC, and similar ones that do not. */
const DECIDED: Readonly<Record<string, readonly [have: readonly string[], haveNot: readonly string[]]>> = {
  'date-time': [
    [
      '2024-02-29T23:59:59.1234567890123Z',
      '2016-12-31T23:59:60Z',
      '2017-01-01T00:59:60+01:00',
      '2024-01-01t00:00:00z',
    ],
    [
      '2024-01-01T10:60:00Z',
      '2024-01-01T10:00:00+02',
      '2024-01-01 10:00:00Z',
      '2024-01-01T10:00:60Z',
      '2024-01-01T10:00:00+02:60',
      '2024-01-01T24:00:00Z',
    ],
  ],
  date: [['2000-02-29'], ['1900-02-29', '2024-2-1', '2024-01-01\n']],
  time: [
    ['23:59:60Z', '15:59:60.5-08:00'],
    ['10:60:00Z', '10:00:00+02', '10:00:00', '23:59:60+01:00', '10:00:00+24:00'],
  ],
  'iso-date-time': [
    ['2024-01-01T10:00:00', '2024-01-01T10:00:00+02'],
    ['2024-01-01 10:00:00', '2024-01-01T10:60:00'],
  ],
  duration: [
    ['P1Y2M3DT4H5M6S', 'P2M', 'PT5M', 'P3W'],
    ['P1Y1D', 'PT1H1S', 'P', 'P1DT', 'P1W1D', 'P1.5D'],
  ],
  uuid: [['123E4567-e89b-12d3-a456-426614174000'], ['urn:uuid:123e4567-e89b-12d3-a456-426614174000']],
  uri: [
    ['urn:ngsi-ld:A:1', 'http://[::ffff:192.0.2.1]:80/a?b#c', 'http://a:@b:/', 'x:', 'mailto:a@b.example'],
    [
      'http://x:abc/',
      '//a/b',
      'http://[::1',
      'http:/[::1]',
      'http://a b/',
      'http://städte.example/',
      '1a:b',
      'http://x/%g0',
    ],
  ],
  'uri-reference': [
    ['', '../a?b#c', '//a:1/b', './1:b'],
    ['1:b', '//a:b/', 'a\\b', '/a"b'],
  ],
  iri: [['http://städte.example/ü?\u{E000}'], ['städte', 'http://x/\u{E000}', 'http://x/\n']],
  'iri-reference': [['städte#ü'], ['\\\\städte']],
  'uri-template': [
    ['{a.b}/{?c*,d:3}', "it's"],
    ['{a b}', '{a', '<', '{a:0}'],
  ],
  hostname: [['a.example'], ['a.example.', 'a..b', '-a']],
  regex: [['^[a-z]$'], ['\\a', '(']],
};

describe('a format', () => {
  for (const [format, [have, haveNot]] of Object.entries(DECIDED))
    it(`the format ${format} is that of its RFC`, () => {
      for (const text of have) assert.ok(hasFormat(format, text), text);
      for (const text of haveNot) assert.ok(!hasFormat(format, text), text);
    });

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

  it('a format narrows a schema exactly if it refuses a value of its types', () => {
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
