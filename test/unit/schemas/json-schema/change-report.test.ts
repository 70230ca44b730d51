import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import { compareSchemas } from '../../../../sidecar/schemas/json-schema/change-report.js';
import type { ChangeKind } from '../../../../sidecar/schemas/json-schema/differences.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { PARKING, SHARED_DOCUMENTS } from './city-models.js';
import { column } from '../../../support/columns.js';

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

/** The report of a change to some properties of the base; pointers are relative to `/properties`. */
const PROPERTIES: readonly (readonly [
  title: string,
  properties: JsonObject,
  kind: ChangeKind,
  ...pointers: string[],
])[] = [
  ['a new optional property', { extra: { type: 'string' } }, 'compatible', 'extra'],
  ['an enum with more values', { kind: { enum: ['y', 'x', 'z'] } }, 'compatible', 'kind/enum'],
  ['an enum with fewer values', { kind: { enum: ['x'] } }, 'narrowing', 'kind/enum'],
  ['an enum of other values', { kind: { enum: ['z'] } }, 'breaking', 'kind/enum'],
  ['another type', { size: { type: 'string' } }, 'breaking', 'size/type'],
  ['a type more', name({ type: ['string', 'null'] }), 'compatible', 'name/type'],
  ['a narrower type', size({ type: 'integer' }), 'narrowing', 'size/type'],
  ['a higher minimum', size({ minimum: 1 }), 'narrowing', 'size/minimum'],
  ['a lower minimum', size({ minimum: -1 }), 'compatible', 'size/minimum'],
  ['a minimum excluded', size({ exclusiveMinimum: 0 }), 'narrowing', 'size/exclusiveMinimum'],
  ['a new maximum', size({ maximum: 9 }), 'narrowing', 'size/maximum'],
  ['a shorter length', name({ maxLength: 9 }), 'narrowing', 'name/maxLength'],
  ['a new pattern', name({ pattern: '^a' }), 'narrowing', 'name/pattern'],
  ['a new format', name({ format: 'uri' }), 'narrowing', 'name/format'],
  ['a format that is not asserted', name({ format: 'text' }), 'compatible'],
  ['a property forbidden', { size: false }, 'breaking', 'size'],
  ['no condition any more', { size: { description: 'any' } }, 'compatible', 'size/type', 'size/minimum'],
];

/** The report of a change from the base to another schema. */
const WHOLE: readonly (readonly [
  title: string,
  after: JsonObject,
  kind: ChangeKind,
  ...pointers: string[],
])[] = [
  ['an optional property required', { required: ['name', 'size'] }, 'narrowing', '/required'],
  ['a required property optional', { required: [] }, 'compatible', '/required'],
  [
    ...(['a new property required', { properties: { extra: {} }, required: ['name', 'extra'] }] as const),
    ...(['breaking', '/required', '/properties/extra'] as const),
  ],
  ['an open schema closed', { additionalProperties: false }, 'narrowing', '/additionalProperties'],
];

function name(more: JsonObject): JsonObject {
  return { name: { ...BASE.properties.name, ...more } };
}

function size(more: JsonObject): JsonObject {
  return { size: { ...BASE.properties.size, ...more } };
}

describe('the change report', () => {
  it('each difference between two schemas is reported once, at its place in the schema as it was written', () => {
    const typed = (type: string) => ({ type });
    const cases: readonly (readonly [schema: (part: JsonObject) => JsonObject, pointer: string])[] = [
      [(part) => ({ properties: { a: part, b: { $ref: '#/properties/a' } } }), '/properties/a'],
      [
        (part) => ({ properties: { a: { $ref: '#/$defs/geo:point' } }, $defs: { 'geo:point': part } }),
        '/$defs/geo:point',
      ],
      [
        (part) => ({
          properties: { a: { $ref: '#/definitions/old' }, b: { $ref: '#/$defs/new' } },
          definitions: { old: part },
          $defs: { new: typed('boolean') },
        }),
        '/definitions/old',
      ],
      [
        (part) => ({
          properties: { c: { $defs: { in: part }, type: 'object' }, d: { $ref: '#/properties/c/$defs/in' } },
        }),
        '/properties/c/$defs/in',
      ],
    ];
    for (const [schema, pointer] of cases) {
      const [before, after] = [typed('string'), typed('number')].map((part) =>
        bundle(resolveReferencesIn(schema(part))),
      );
      const { differences } = compareSchemas(before ?? {}, after ?? {});
      assert.deepEqual(column(differences, 'pointer'), [`${pointer}/type`]);
    }
  });

  for (const [title, after, kind, ...pointers] of [
    ...PROPERTIES.map(
      ([of, properties, own, ...places]) =>
        [of, { properties }, own, ...places.map((place) => `/properties/${place}`)] as const,
    ),
    ...WHOLE,
  ])
    it(`the change report classifies ${title} as ${kind}`, () => {
      const report = compareSchemas(BASE, variant(after));
      assert.equal(report.overall, kind, JSON.stringify(report));
      assert.deepEqual(new Set(column(report.differences, 'pointer')), new Set(pointers));
    });

  it('the change report classifies a removed property as compatible in an open schema and breaking in a closed one', () => {
    const { size, ...properties } = BASE.properties;
    assert.ok(size.minimum === 0);
    assert.equal(compareSchemas(BASE, { ...BASE, properties }).overall, 'compatible');
    const closed = { additionalProperties: false };
    const report = compareSchemas({ ...BASE, ...closed }, { ...BASE, properties, ...closed });
    assert.equal(report.overall, 'breaking');
    assert.match(report.differences[0]?.detail ?? '', /property "size" is no longer allowed/);
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

  it('the change report points into the part of the bundle that contains the condition', () => {
    const stricter = new Map(SHARED_DOCUMENTS);
    const url = 'https://models.example.org/shared/common.json';
    const changed = JSON.stringify(stricter.get(url)).replace('"maxLength":256', '"maxLength":64');
    stricter.set(url, JSON.parse(changed) as JsonObject);
    const [before, after] = [SHARED_DOCUMENTS, stricter].map((documents) =>
      bundle(resolveReferencesIn(PARKING, documents)),
    );
    assert.ok(before !== undefined && after !== undefined);
    const report = compareSchemas(before, after);
    assert.equal(report.overall, 'narrowing');
    assert.deepEqual(
      new Set(column(report.differences, 'pointer')),
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
