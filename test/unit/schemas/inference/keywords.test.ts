import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inferSchema } from '../../../../sidecar/schemas/inference/tasks.js';
import { attributesOf } from '../../../../sidecar/schemas/json-schema/attributes.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../support/validator.js';
import { type JsonObject, type JsonValue, member } from '../../../../sidecar/shared/json/json.js';
import { namedSchemasIn } from '../../../../sidecar/schemas/json-schema/flatten.js';
import { columns } from '../../../support/columns.js';
import { words } from '../../../support/words.js';

describe('the keywords of an inferred schema', () => {
  it('an inferred schema looks as if a person had written it', () => {
    const samples = [
      {
        id: 'urn:ngsi-ld:Vehicle:1',
        type: 'Vehicle',
        speed: 50,
        location: { type: 'Point', coordinates: [13.4, 52.5] },
        doors: [{ open: true }, { open: false, since: '2024-01-01T00:00:00Z' }],
        '@context': 'https://example.org/context.jsonld',
      },
      {
        id: 'urn:ngsi-ld:Vehicle:2',
        type: 'Vehicle',
        speed: 49.5,
        location: { type: 'Point', coordinates: [13.4, 52.5] },
        doors: [],
        plate: 'B-XY 12',
      },
    ];
    const schema = inferSchema(samples, { model: 'Vehicle' });
    const expected: JsonObject = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Vehicle',
      type: 'object',
      required: ['id', 'type', 'doors', 'location', 'speed'],
      properties: {
        id: { type: 'string', format: 'uri' },
        type: { const: 'Vehicle' },
        doors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['open'],
            properties: { open: { type: 'boolean' }, since: { type: 'string', format: 'date-time' } },
          },
        },
        location: { $ref: '#/$defs/Point', 'x-ngsi': { type: 'GeoProperty' } },
        plate: { type: 'string' },
        speed: { type: 'number' },
      },
      $defs: {
        Point: {
          title: 'GeoJSON Point',
          type: 'object',
          required: ['type', 'coordinates'],
          properties: { type: { const: 'Point' }, coordinates: { $ref: '#/$defs/Position' } },
        },
        Position: { type: 'array', minItems: 2, items: { type: 'number' } },
      },
    };
    assert.equal(JSON.stringify(schema, null, 2), JSON.stringify(expected, null, 2));
    assert.deepEqual(columns(attributesOf(schema).attributes, 'name', 'kind'), [
      ['doors', 'Property'],
      ['location', 'GeoProperty'],
      ['plate', 'Property'],
      ['speed', 'Property'],
    ]);
  });

  it('an inferred schema puts all types of a value in one schema, with the keywords of each', () => {
    const mixed = valuesAt(1, null, '2024-01-01', true, [1, 'x'], { b: 1 }, 1.5);
    assert.deepEqual(mixed, {
      type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
      format: 'date',
      items: { type: ['string', 'integer'] },
      required: ['b'],
      properties: { b: { type: 'integer' } },
    });
  });

  it('an inferred schema describes whole numbers as integers, however they are written', () => {
    assert.deepEqual(valuesAt(1, -0, 1e3), { type: 'integer' });
    assert.deepEqual(valuesAt(1, 0.5), { type: 'number' });
  });

  it('an inferred schema has a format only if all strings have it', () => {
    assert.deepEqual(valuesAt('2024-01-01', null, '2024-01-02'), {
      type: ['string', 'null'],
      format: 'date',
    });
    assert.deepEqual(valuesAt('2024-01-01', '2024-01-01T00:00:00Z'), { type: 'string' });
    assert.deepEqual(valuesAt('2024-01-01', 'soon', '2024-01-01'), { type: 'string' });
  });

  it('an inferred schema requires the members that all samples have, unless an attribute is null in one', () => {
    const samples = [
      { a: { in: null }, b: 1, c: null },
      { a: { in: 1 }, b: null, c: null },
    ];
    for (const order of [samples, samples.toReversed()]) {
      const schema = inferSchema(order);
      assert.deepEqual(schema['required'], ['a']);
      assert.deepEqual(namedSchemasIn(schema, 'properties').get('a'), {
        type: 'object',
        required: ['in'],
        properties: { in: { type: ['integer', 'null'] } },
      });
    }
    assert.equal(inferSchema({ a: null })['required'], undefined);
  });

  it('an inferred schema says nothing about items that were not in the samples', () => {
    assert.deepEqual(valuesAt([], []), { type: 'array' });
    assert.deepEqual(valuesAt([[]], [[1]]), {
      type: 'array',
      items: { type: 'array', items: { type: 'integer' } },
    });
  });

  it('an inferred schema describes a value as a geometry only if every object there is one', () => {
    const point: JsonObject = { type: 'Point', coordinates: [1, 2] };
    const refs = { anyOf: [{ $ref: '#/$defs/Point' }, { type: ['string', 'null'] }] };
    assert.deepEqual(valuesAt(point, 'somewhere', null), refs);
    assert.deepEqual(valuesAt(point, { type: 'Point' }), { type: 'object' });
    assert.deepEqual(member(valuesAt(point, null), 'x-ngsi'), { type: 'GeoProperty' });
    assert.deepEqual(valuesAt([point, point]), { type: 'array', items: { $ref: '#/$defs/Point' } });
    const collection = inferSchema({ a: { type: 'GeometryCollection', geometries: [point] } });
    assert.deepEqual(
      [...namedSchemasIn(collection, '$defs').keys()],
      words(`
        Point MultiPoint LineString MultiLineString Polygon MultiPolygon GeometryCollection Position
      `),
    );
  });

  it('an inferred schema treats the languages of a language map as data', () => {
    const texts = { type: ['array', 'string'], items: { type: 'string' } };
    assert.deepEqual(
      valuesAt(
        { languageMap: { en: 'Hall' } },
        { languageMap: { de: ['Halle', 'Saal'], '@none': 'x' } },
        null,
      ),
      {
        type: ['object', 'null'],
        required: ['languageMap'],
        properties: { languageMap: { type: 'object', additionalProperties: texts } },
        'x-ngsi': { type: 'LanguageProperty' },
      },
    );
  });

  it('an object without texts is not a language map, and a member such as scope is not an attribute', () => {
    assert.deepEqual(valuesAt({ languageMap: { en: 1 } }), {
      type: 'object',
      required: ['languageMap'],
      properties: {
        languageMap: { type: 'object', required: ['en'], properties: { en: { type: 'integer' } } },
      },
    });
    const schema = inferSchema({ scope: { type: 'Point', coordinates: [1, 2] } });
    assert.deepEqual(namedSchemasIn(schema, 'properties').get('scope'), { $ref: '#/$defs/Point' });
  });

  it('an inferred schema accepts any object where several kinds occur, and keeps wrapped values', () => {
    const map = { languageMap: { en: 'Hall' } };
    assert.deepEqual(valuesAt(map, { a: 1 }, { vocab: 'x' }), {
      type: 'object',
      properties: { languageMap: {}, vocab: {} },
    });
    assert.deepEqual(valuesAt(map, { languageMap: 1 }), { type: 'object', properties: { languageMap: {} } });
    const point = { type: 'Point', coordinates: [1, 2] };
    for (const order of [
      [map, point],
      [point, map],
    ])
      assert.deepEqual(valuesAt(...order), { type: 'object', properties: { languageMap: {} } });
    assert.deepEqual(valuesAt({ type: 'Point', coordinates: [1, 2] }, { a: 1 }), { type: 'object' });
  });

  it('an inferred schema describes only attributes with ids of entities as Relationships, alone or in arrays', () => {
    const relationships = (...samples: readonly JsonObject[]) =>
      attributesOf(inferSchema(samples))
        .attributes.filter(({ kind }) => kind === 'Relationship')
        .map(({ name }) => name);
    const id = 'urn:ngsi-ld:Person:1';
    assert.deepEqual(relationships({ a: id, b: [id, id], c: [id, 1], d: 'urn:other:1', e: { f: id } }), [
      'a',
      'b',
    ]);
    assert.deepEqual(relationships({ a: id, b: id, c: null }, { a: [id], b: 'nobody', c: id }), ['a', 'c']);
    for (const [one, other] of [
      [id, 'nobody'],
      [[id], 'nobody'],
      [[id], ['nobody', id]],
      [id, ['nobody', id]],
      [[id], [[id]]],
    ] as const)
      for (const samples of [
        [{ a: one }, { a: other }],
        [{ a: other }, { a: one }],
      ])
        assert.deepEqual(relationships(...samples), [], JSON.stringify(samples));
  });

  it('an inferred schema lists strings on request, unless some have a format or there are other values', () => {
    const listed = (...values: readonly JsonValue[]) =>
      namedSchemasIn(
        inferSchema(
          values.map((a) => ({ id: 'A', a })),
          { enumerates: true },
        ),
        'properties',
      );
    assert.deepEqual(listed('on', 'off', null, 'on').get('a'), {
      type: ['string', 'null'],
      enum: ['off', 'on', null],
    });
    assert.deepEqual(listed('on', 1).get('a'), { type: ['string', 'integer'] });
    assert.deepEqual(listed('on', '2024-01-01').get('a'), { type: 'string' });
    assert.deepEqual(listed(['on'], ['off']).get('a'), {
      type: 'array',
      items: { type: 'string', enum: ['off', 'on'] },
    });
    assert.deepEqual(listed('on').get('id'), { type: 'string' });
    assert.deepEqual(valuesAt('on', 'off'), { type: 'string' });
  });
});

describe('id and type in an inferred schema', () => {
  it('an inferred schema lists the types of samples that have an id and a type', () => {
    const typeOf = (...samples: readonly JsonObject[]) =>
      namedSchemasIn(inferSchema(samples), 'properties').get('type');
    const [car, bus] = [
      { id: 'urn:a:1', type: 'Car' },
      { id: 'urn:a:2', type: 'Bus' },
    ];
    assert.deepEqual(typeOf(car, car), { const: 'Car' });
    assert.deepEqual(typeOf(car, bus), { type: 'string', enum: ['Bus', 'Car'] });
    assert.deepEqual(typeOf(car, { type: 'Car' }), { type: 'string' });
    assert.deepEqual(typeOf(car, { id: 'urn:a:3', type: ['Bus', 'Car'] }), {
      type: ['array', 'string'],
      items: { type: 'string', enum: ['Bus', 'Car'] },
    });
  });

  it('an inferred schema lists null among the types of samples that have it', () => {
    const typed = (...types: readonly JsonValue[]) =>
      inferSchema(types.map((type, index) => ({ id: `urn:a:${index}`, type })))['properties'] as JsonObject;
    assert.deepEqual(typed('B', 'A', null)['type'], { type: ['string', 'null'], enum: ['A', 'B', null] });
    assert.deepEqual(typed('A', 'A')['type'], { const: 'A' });
  });

  it('an inferred schema also lists the name at the end of an IRI as a type, because validation uses it', () => {
    const typeOf = (...types: readonly string[]) =>
      namedSchemasIn(inferSchema(types.map((type) => ({ id: 'urn:a:1', type }))), 'properties').get('type');
    const [bikes, cars] = ['https://x.example/Bikes', 'https://x.example/ns#Cars'];
    const both = { type: 'string', enum: ['Bikes', bikes] };
    assert.deepEqual(typeOf(bikes), both);
    assert.deepEqual(typeOf('Bikes', bikes), both);
    for (const order of [
      [bikes, cars],
      [cars, bikes, 'Cars'],
    ])
      assert.deepEqual(typeOf(...order), { type: 'string', enum: ['Bikes', 'Cars', bikes, cars] });
    assert.deepEqual(typeOf('https://x.example/'), { const: 'https://x.example/' });
  });

  it('an inferred schema accepts each of several types separately, as validation shows them to the model', () => {
    const schema = inferSchema({ id: 'urn:a:1', type: ['Bus', 'Car'] });
    const validate = createValidator(resolveReferencesIn(schema));
    for (const type of ['Bus', ['Bus', 'Car']]) assert.deepEqual(validate({ id: 'urn:a:1', type }), []);
  });

  it('an inferred schema describes an id as a URI if all ids are URIs', () => {
    const idOf = (...ids: readonly JsonValue[]) =>
      namedSchemasIn(inferSchema(ids.map((id) => ({ id }))), 'properties').get('id');
    assert.deepEqual(idOf('A:1', 'urn:a:1', 'fe80::1'), { type: 'string', format: 'uri' });
    assert.deepEqual(idOf('A:1', 'Room1'), { type: 'string' });
  });

  it('an inferred schema for a model always describes id and type, and requires them if all samples have them', () => {
    const rows = inferSchema([{ a: 1 }, { a: 2, id: 7 }], { model: 'Row' });
    assert.deepEqual(rows, {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Row',
      type: 'object',
      required: ['a'],
      properties: {
        id: { type: ['string', 'integer'], format: 'uri' },
        type: { const: 'Row' },
        a: { type: 'integer' },
      },
    });
    const lists = inferSchema([{ type: 'Row' }, { type: ['Other', 'Row'] }], { model: 'Row' });
    assert.deepEqual(lists['required'], ['type']);
    assert.deepEqual(namedSchemasIn(lists, 'properties').get('type'), {
      anyOf: [{ const: 'Row' }, { type: 'array', items: { type: 'string' }, contains: { const: 'Row' } }],
    });
  });
});

/** The schema of a member that has these values in the samples. */
function valuesAt(...values: readonly JsonValue[]): JsonObject {
  const schema = namedSchemasIn(inferSchema(values.map((a) => ({ a }))), 'properties').get('a');
  assert.ok(typeof schema === 'object');
  return schema;
}
