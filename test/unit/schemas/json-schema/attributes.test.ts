import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  attributesOf,
  entityTypes,
  listedTypes,
} from '../../../../sidecar/schemas/json-schema/attributes.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';

describe('the attributes of a model', () => {
  it('the attributes of a model take their kind from x-ngsi first, and are Properties by default', () => {
    assert.deepEqual(
      kindsOf({
        a: { 'x-ngsi': { type: 'LanguageProperty' }, description: 'Property. Text' },
        b: { 'x-ngsi': { type: 'relationship' } },
        c: { description: 'geoproperty. Where' },
        d: { description: 'Properties of things' },
        e: { 'x-ngsi': { type: 'constructor' } },
        f: { type: 'string' },
        g: true,
        h: { description: 'VocabProperty' },
        i: { 'x-ngsi': { type: 'VocabularyProperty' } },
      }),
      {
        a: 'LanguageProperty',
        b: 'Relationship',
        c: 'GeoProperty',
        d: 'Property',
        e: 'Property',
        f: 'Property',
        g: 'Property',
        h: 'VocabProperty',
        i: 'VocabProperty',
      },
    );
  });

  it('the attributes of a model are GeoProperties if their schema is that of a geometry, or of a choice of geometries', () => {
    const point = { properties: { type: { const: 'Point' }, coordinates: { type: 'array' } } };
    const polygon = { properties: { type: { enum: ['Polygon', 'MultiPolygon'] }, coordinates: {} } };
    const named = { properties: { type: { const: 'Street' }, coordinates: {} } };
    assert.deepEqual(
      kindsOf({
        a: point,
        b: { oneOf: [point, polygon] },
        c: { anyOf: [point, named] },
        d: named,
        e: { properties: { type: { type: 'string' }, coordinates: {} } },
        f: { $ref: '#/$defs/geo' },
      }),
      { a: 'GeoProperty', b: 'GeoProperty', c: 'Property', d: 'Property', e: 'Property', f: 'GeoProperty' },
    );
    const types = ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon'];
    for (const [type, held] of [
      ...types.map((one) => [one, 'coordinates']),
      ['GeometryCollection', 'geometries'],
    ])
      assert.deepEqual(
        kindsOf({ a: { properties: { type: { const: String(type) }, [String(held)]: { type: 'array' } } } }),
        { a: 'GeoProperty' },
        type,
      );
    // Only the content distinguishes a geometry from other objects with such a type.
    assert.deepEqual(kindsOf({ a: { properties: { type: { const: 'Point' } } } }), { a: 'Property' });
  });

  it('the attributes of a model are those of every branch, and an attribute of several branches has all their schemas', () => {
    const { attributes } = attributesOf({
      allOf: [{ properties: { a: { minimum: 1 } } }, { properties: { a: { maximum: 2 } } }],
      anyOf: [{ properties: { b: { const: 1 } }, required: ['b'] }, { properties: { b: { const: 2 } } }],
      if: { properties: { onlyTested: true } },
      then: { properties: { c: true } },
      else: { properties: { e: true } },
      not: { properties: { never: true } },
      dependentSchemas: { a: { properties: { d: true } } },
    });
    assert.deepEqual(attributes.map(({ name, schema, required }) => [name, schema, required]).sort(), [
      ['a', { allOf: [{ minimum: 1 }, { maximum: 2 }] }, false],
      ['b', { anyOf: [{ const: 1 }, { const: 2 }] }, false],
      ['c', true, false],
      ['d', true, false],
      ['e', true, false],
    ]);
  });

  it('the attributes of a model are safe with hostile names, and with schemas that refer to themselves', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"type":"string"},"constructor":{"type":"string"}}',
    ) as JsonObject;
    const { attributes } = attributesOf({ properties: { ...hostile, self: { $ref: '#' } } });
    assert.deepEqual(attributes.map(({ name }) => name).sort(), ['__proto__', 'constructor', 'self']);
  });
});

function kindsOf(properties: JsonObject): Record<string, string> {
  const point = { properties: { type: { const: 'Point' }, coordinates: true } };
  const { attributes } = attributesOf({ properties, $defs: { geo: point } });
  return Object.fromEntries(attributes.map(({ name, kind }) => [name, kind]));
}

describe('the types that a schema lists', () => {
  const van = { const: 'Van' };
  const oneOrMore = { anyOf: [van, { type: 'array', items: { type: 'string' }, contains: van }] };
  const cases: readonly (readonly [type: JsonObject, listed: readonly JsonValue[] | undefined])[] = [
    [van, ['Van']],
    [{ oneOf: [van, { enum: ['Bus', 'Tram'] }] }, ['Van', 'Bus', 'Tram']],
    [{ allOf: [{ type: 'string' }, { anyOf: [{ oneOf: [van] }, { const: 'Bus' }] }] }, ['Van', 'Bus']],
    [oneOrMore, ['Van', 'Van']],
    [{ type: 'array', items: { enum: ['Van', 'Bus'] } }, ['Van', 'Bus']],
    [{ type: 'array', items: { enum: ['Van', 'Bus'] }, contains: van }, ['Van']],
    [{ anyOf: [van, { pattern: '^B' }] }, undefined],
    [{ type: ['string', 'array'], items: van }, undefined],
    [{ type: 'array', items: { type: 'string' } }, undefined],
    [{ anyOf: [van, { $ref: '#/properties/type' }] }, undefined],
  ];
  for (const [type, listed] of cases)
    it(`the types that a schema lists are ${JSON.stringify(listed ?? 'unknown')} in ${JSON.stringify(type)}`, () => {
      assert.deepEqual(listedTypes(attributesOf({ properties: { type } })), listed);
    });
});

describe('the types of entities', () => {
  const cases: readonly (readonly [listed: readonly JsonValue[] | undefined, types: readonly string[]])[] = [
    [undefined, ['Car']],
    [['Car'], ['Car']],
    [['Vehicle', 'Car'], ['Car']],
    [
      ['Vehicle', 'Van', 'Vehicle'],
      ['Vehicle', 'Van'],
    ],
    [
      [['Vehicle', 'Van'], 'Van'],
      ['Vehicle', 'Van'],
    ],
    [[['Vehicle', 'Car']], ['Car']],
    [[['Vehicle', 7], null], ['Vehicle']],
    [[], ['Car']],
    [[null, 7], ['Car']],
  ];
  for (const [listed, types] of cases)
    it(`the types of entities of the model Car are ${types.join(' and ')} if its schema lists ${JSON.stringify(listed ?? 'none')}`, () => {
      assert.deepEqual(entityTypes('Car', listed), types);
    });
});
