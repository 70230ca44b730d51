import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import type { ChangeKind } from '../../../../sidecar/schemas/json-schema/differences.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/linker.js';
import { PARKING, SHARED_DOCUMENTS } from './city-models.js';

const BASE = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 10 },
    size: { type: 'number', minimum: 0 },
    kind: { enum: ['x', 'y'] },
  },
  required: ['name'],
};

/** The base with some members replaced. */
function variant({ properties = {}, ...rest }: JsonObject): JsonObject {
  return { ...BASE, ...rest, properties: { ...BASE.properties, ...(properties as JsonObject) } };
}

type Case = readonly [title: string, after: JsonObject, kind: ChangeKind, ...pointers: string[]];

describe('the change report', () => {
  const cases: readonly Case[] = [
    [
      'a new optional property',
      variant({ properties: { extra: { type: 'string' } } }),
      'compatible',
      '/properties/extra',
    ],
    [
      'an enum with more values',
      variant({ properties: { kind: { enum: ['y', 'x', 'z'] } } }),
      'compatible',
      '/properties/kind/enum',
    ],
    [
      'an enum with fewer values',
      variant({ properties: { kind: { enum: ['x'] } } }),
      'narrowing',
      '/properties/kind/enum',
    ],
    [
      'an enum of other values',
      variant({ properties: { kind: { enum: ['z'] } } }),
      'breaking',
      '/properties/kind/enum',
    ],
    [
      'another type',
      variant({ properties: { size: { type: 'string' } } }),
      'breaking',
      '/properties/size/type',
    ],
    [
      'a type more',
      variant({ properties: { name: { type: ['string', 'null'], maxLength: 10 } } }),
      'compatible',
      '/properties/name/type',
    ],
    [
      'a narrower type',
      variant({ properties: { size: { type: 'integer', minimum: 0 } } }),
      'narrowing',
      '/properties/size/type',
    ],
    [
      'a higher minimum',
      variant({ properties: { size: { type: 'number', minimum: 1 } } }),
      'narrowing',
      '/properties/size/minimum',
    ],
    [
      'a lower minimum',
      variant({ properties: { size: { type: 'number', minimum: -1 } } }),
      'compatible',
      '/properties/size/minimum',
    ],
    [
      'an exclusive bound in place of the same inclusive one',
      variant({ properties: { size: { type: 'number', exclusiveMinimum: 0 } } }),
      'narrowing',
      '/properties/size/exclusiveMinimum',
    ],
    [
      'a new maximum',
      variant({ properties: { size: { type: 'number', minimum: 0, maximum: 9 } } }),
      'narrowing',
      '/properties/size/maximum',
    ],
    [
      'a shorter length',
      variant({ properties: { name: { type: 'string', maxLength: 9 } } }),
      'narrowing',
      '/properties/name/maxLength',
    ],
    [
      'a new pattern',
      variant({ properties: { name: { type: 'string', maxLength: 10, pattern: '^a' } } }),
      'narrowing',
      '/properties/name/pattern',
    ],
    [
      'a new format',
      variant({ properties: { name: { type: 'string', maxLength: 10, format: 'uri' } } }),
      'narrowing',
      '/properties/name/format',
    ],
    [
      'a format that is not asserted',
      variant({ properties: { name: { type: 'string', maxLength: 10, format: 'text' } } }),
      'compatible',
    ],
    ['an optional property required', variant({ required: ['name', 'size'] }), 'narrowing', '/required'],
    ['a required property optional', variant({ required: [] }), 'compatible', '/required'],
    [
      'a new property required',
      variant({ properties: { extra: {} }, required: ['name', 'extra'] }),
      'breaking',
      '/required',
      '/properties/extra',
    ],
    ['an open schema closed', variant({ additionalProperties: false }), 'narrowing', '/additionalProperties'],
    ['a property forbidden', variant({ properties: { size: false } }), 'breaking', '/properties/size'],
    [
      'a description in place of a condition',
      variant({ properties: { size: { description: 'any' } } }),
      'compatible',
      '/properties/size/type',
      '/properties/size/minimum',
    ],
  ];
  for (const [title, after, kind, ...pointers] of cases) {
    it(`the change report calls ${title} ${kind}`, () => {
      const report = compareSchemas(BASE, after);
      assert.equal(report.overall, kind, JSON.stringify(report));
      assert.deepEqual(new Set(report.differences.map(({ pointer }) => pointer)), new Set(pointers));
    });
  }

  it('the change report calls a property removed compatible in an open schema and breaking in a closed one', () => {
    const { size, ...properties } = BASE.properties;
    assert.ok(size.minimum === 0);
    assert.equal(compareSchemas(BASE, { ...BASE, properties }).overall, 'compatible');
    const closed = { additionalProperties: false };
    const report = compareSchemas({ ...BASE, ...closed }, { ...BASE, properties, ...closed });
    assert.equal(report.overall, 'breaking');
    assert.match(report.differences[0]?.detail ?? '', /property "size" is not allowed any more/);
  });

  it('the change report calls a property added compatible in a closed schema', () => {
    const closed = { additionalProperties: false };
    const report = compareSchemas(variant(closed), variant({ ...closed, properties: { extra: {} } }));
    assert.equal(report.overall, 'compatible');
  });

  it('a property that patterns, branches or required mentioned before is not reported as new', () => {
    const extra = { properties: { extra: { type: 'string' } } };
    for (const more of [
      { patternProperties: { '^e': { type: 'number' } } },
      { anyOf: [{ required: ['extra'] }, true] },
      { required: ['name', 'extra'] },
      { additionalProperties: { type: ['number', 'string'] } },
    ] satisfies JsonObject[])
      assert.notEqual(compareSchemas(variant(more), variant({ ...more, ...extra })).overall, 'compatible');
  });

  it('the change report ignores annotations, the order of members and enums, and names of definitions', () => {
    const after = {
      $defs: { renamed: { maxLength: 10, type: 'string', title: 'Name' } },
      required: ['name'],
      title: 'Thing',
      'x-vendor': 1,
      properties: {
        kind: { enum: ['y', 'x'], default: 'x' },
        size: { minimum: 0, type: 'number', description: 'm' },
        name: { $ref: '#/$defs/renamed' },
      },
      type: 'object',
    };
    assert.deepEqual(compareSchemas(BASE, after), { overall: 'compatible', differences: [] });
  });

  it('the change report follows conditions that move into allOf, references and other documents', () => {
    const url = 'https://example.com/common.json';
    const after = {
      allOf: [{ $ref: `${url}#/definitions/Common` }, { properties: { kind: BASE.properties.kind } }],
      required: ['name'],
    };
    const { name, size } = BASE.properties;
    const common = { type: 'object', properties: { name, size } };
    const bundled = bundle(
      resolveWith(after, new Map<string, JsonValue>([[url, { definitions: { Common: common } }]])),
    );
    for (const [before, next] of [
      [BASE, bundled],
      [bundled, BASE],
    ] as const)
      assert.deepEqual(compareSchemas(before, next).differences, []);
  });

  it('the change report points into the part of the bundle where the condition is', () => {
    const stricter = new Map(SHARED_DOCUMENTS);
    const url = 'https://models.example.org/shared/common.json';
    const changed = JSON.stringify(stricter.get(url)).replace('"maxLength":256', '"maxLength":64');
    stricter.set(url, JSON.parse(changed) as JsonObject);
    const [before, after] = [SHARED_DOCUMENTS, stricter].map((documents) =>
      bundle(resolveWith(PARKING, documents)),
    );
    assert.ok(before !== undefined && after !== undefined);
    const report = compareSchemas(before, after);
    assert.equal(report.overall, 'narrowing');
    assert.deepEqual(
      new Set(report.differences.map(({ pointer }) => pointer)),
      new Set([`/$defs/${url.replaceAll('/', '~1')}/definitions/Identifier/anyOf/0/maxLength`]),
    );
  });

  it('the change report is not misled by inherited names of objects', () => {
    const before = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}}}',
    ) as JsonObject;
    assert.deepEqual(compareSchemas(before, structuredClone(before)).differences, []);
    assert.equal(compareSchemas({}, { required: ['constructor'] }).overall, 'breaking');
  });
});
