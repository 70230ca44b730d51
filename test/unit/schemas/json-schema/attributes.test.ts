import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesOf } from '../../../../sidecar/schemas/json-schema/attributes.js';
import { bundle } from '../../../../sidecar/schemas/json-schema/bundle.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';
import { resolveWith } from '../../../../sidecar/schemas/json-schema/linker.js';
import { PARKING, SHARED_DOCUMENTS } from './city-models.js';

describe('the attributes of a model', () => {
  const parking = attributesOf(bundle(resolveWith(PARKING, SHARED_DOCUMENTS)));
  const byName = new Map(parking.attributes.map((attribute) => [attribute.name, attribute]));

  it('the attributes of a model are the properties that allOf and references bring together, without id and type', () => {
    assert.deepEqual([...byName.keys()].sort(), [
      ...[
        'areaServed',
        'category',
        'contact',
        'location',
        'mainEntrance',
        'name',
        'notes',
        'occupancy',
        'opens',
      ],
      ...['owner', 'refSpot', 'totalSpotNumber'],
    ]);
  });

  it('the attributes of a model have the kind at the beginning of their description, or of what they refer to', () => {
    const kinds = Object.fromEntries([...byName].map(([name, { kind }]) => [name, kind]));
    assert.deepEqual(kinds, {
      ...{ areaServed: 'Property', category: 'Property', contact: 'Property', name: 'Property' },
      ...{ notes: 'Property', occupancy: 'Property', opens: 'Property', totalSpotNumber: 'Property' },
      ...{
        location: 'GeoProperty',
        mainEntrance: 'GeoProperty',
        owner: 'Relationship',
        refSpot: 'Relationship',
      },
    });
  });

  it('the attributes of a model say whether every entity has them, and what they are', () => {
    const required = [...byName.values()].filter((attribute) => attribute.required);
    assert.deepEqual(
      required.map(({ name }) => name),
      ['location'],
    );
    assert.equal(byName.get('opens')?.description, 'Property. When it opens');
    assert.equal(byName.get('refSpot')?.description, 'Relationship. Its spots');
  });

  it('the attributes of a model have their schema, whose references lead to the definitions beside them', () => {
    const opens = byName.get('opens')?.schema;
    assert.deepEqual(opens, { $ref: '#/$defs/Opening' });
    assert.deepEqual(parking.definitions.get('Opening'), {
      type: 'string',
      format: 'time',
      description: 'Property. When it opens',
    });
  });

  it('the attributes of a model have references as the caller writes them, to names that are left to the definitions', () => {
    const { attributes, definitions } = attributesOf(bundle(resolveWith(PARKING, SHARED_DOCUMENTS)), {
      reference: (name) => `#/components/schemas/${name ?? 'Parking'}`,
      reserved: new Set(['Opening']),
    });
    assert.deepEqual(attributes.find(({ name }) => name === 'opens')?.schema, {
      $ref: '#/components/schemas/Opening-2',
    });
    assert.ok(definitions.has('Opening-2') && !definitions.has('Opening'));
  });

  it('the attributes of a model take their kind from x-ngsi first, and are Properties where nothing else is said', () => {
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
      }),
      {
        ...{ a: 'LanguageProperty', b: 'Relationship', c: 'GeoProperty', d: 'Property', e: 'Property' },
        ...{ f: 'Property', g: 'Property', h: 'VocabProperty' },
      },
    );
  });

  it('the attributes of a model are GeoProperties where their schema is that of a geometry, or of a choice of them', () => {
    const point = { properties: { type: { const: 'Point' }, coordinates: { type: 'array' } } };
    const polygon = { properties: { type: { enum: ['Polygon', 'MultiPolygon'] }, coordinates: {} } };
    const named = { properties: { type: { const: 'Street' }, coordinates: {} } };
    assert.deepEqual(
      kindsOf({
        ...{ a: point, b: { oneOf: [point, polygon] }, c: { anyOf: [point, named] }, d: named },
        ...{ e: { properties: { type: { type: 'string' }, coordinates: {} } }, f: { $ref: '#/$defs/geo' } },
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
    // Nothing tells a geometry from other objects with such a type but what it holds.
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
