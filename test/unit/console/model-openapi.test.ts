import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attributeRows } from '../../../console/models/attribute-rows.js';
import { summaryOf } from '../../../console/models/openapi-summary.js';
import { modelOpenApi } from '../../../sidecar/schemas/openapi/model-openapi.js';

it('an operation is shown with the parameters of its path, its body and its answers, references resolved', () => {
  const { operations } = summaryOf({
    paths: {
      '/cars': {
        parameters: [{ $ref: '#/components/parameters/a~1b' }],
        post: {
          summary: 'Create',
          parameters: [{ name: 'own', in: 'query', required: true }],
          requestBody: {
            content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/x/Car' } } } },
          },
          responses: { 201: { description: 'Created.' }, 400: { $ref: '#/components/responses/Bad' } },
        },
      },
    },
    components: {
      parameters: { 'a/b': { name: 'tenant', in: 'header', description: 'Who' } },
      responses: { Bad: { description: 'Wrong.' } },
    },
  });
  assert.deepEqual(operations, [
    {
      method: 'POST',
      path: '/cars',
      summary: 'Create',
      parameters: [
        { name: 'tenant', place: 'header', isRequired: false, description: 'Who' },
        { name: 'own', place: 'query', isRequired: true, description: undefined },
      ],
      body: [{ mediaType: 'application/json', holds: 'Car[]' }],
      answers: [
        { status: '201', description: 'Created.' },
        { status: '400', description: 'Wrong.' },
      ],
    },
  ]);
});

it('a document is shown with its members and their schemas', () => {
  const { schemas } = summaryOf({
    components: {
      schemas: {
        Car: {
          required: ['id'],
          properties: {
            id: { type: 'string', format: 'uri' },
            kind: { enum: ['a', 'b'] },
            type: { const: 'Car' },
            speed: { anyOf: [{ $ref: '#/components/schemas/Speed' }, { type: ['number', 'null'] }] },
          },
        },
        Speed: { type: 'number' },
      },
    },
  });
  assert.deepEqual(
    schemas.map(({ name, members }) => [name, ...members.map(({ name: member, holds }) => [member, holds])]),
    [
      [
        'Car',
        ['id', 'string (uri)'],
        ['kind', '"a" | "b"'],
        ['type', '"Car"'],
        ['speed', 'Speed | number | null'],
      ],
    ],
  );
  assert.deepEqual(
    schemas[0]?.members.map(({ isRequired }) => isRequired),
    [true, false, false, false],
  );
});

it('operations of all methods are shown, in one order', () => {
  const methods = ['delete', 'patch', 'put', 'post', 'get', 'trace'];
  const item = Object.fromEntries(methods.map((method) => [method, {}]));
  assert.deepEqual(
    summaryOf({ paths: { '/a': item } }).operations.map(({ method }) => method),
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  );
});

it('a schema is summarised in a few words, however deep and long it is', () => {
  const nested = (depth: number): object =>
    depth === 0 ? { type: 'number' } : { type: 'array', items: nested(depth - 1) };
  const said = (schema: object) =>
    summaryOf({ components: { schemas: { A: { properties: { a: schema } } } } }).schemas[0]?.members[0]
      ?.holds;
  assert.equal(said(nested(3)), 'number[][][]');
  assert.equal(said(nested(4)), '…[][][][]');
  assert.equal(said({ enum: [1, 2, 3, 4, 5, 6, 7, 8, 9] }), '1 | 2 | 3 | 4 | 5 | 6 | 7 | 8');
  for (const union of ['anyOf', 'oneOf', 'allOf'])
    assert.equal(
      said({ [union]: [{ type: 'string' }, { $ref: '#/a/B' }, { type: 'string' }] }),
      'string | B',
    );
  assert.deepEqual([said({}), said({ const: null })], ['any', 'null']);
});

it('a reference that leads nowhere, or out of the description, is not followed', () => {
  const { operations } = summaryOf({
    paths: { '/a': { get: { parameters: [{ $ref: '#/no/where' }, { $ref: 'https://a.test#/b' }, 3] } } },
  });
  assert.deepEqual(
    operations[0]?.parameters.map(({ name }) => name),
    ['?', '?', '?'],
  );
});

it('a value that is not a description is an empty summary', () => {
  for (const value of [null, 3, [], { paths: [], components: 4 }, { paths: { '/a': null } }])
    assert.deepEqual(summaryOf(value), { operations: [], schemas: [] });
  assert.equal(summaryOf({ paths: { '/a': { get: null, post: 3 } } }).operations.length, 2);
});

it('the attributes of a model are rows with their kind, value, unit and description, wherever the schema has them', () => {
  const schema = {
    type: 'object',
    required: ['id', 'type', 'speed'],
    properties: {
      id: { type: 'string' },
      type: { const: 'Car' },
      speed: { type: 'number', description: "Property. How fast it is. Units:'km/h'" },
      owner: { type: 'string', format: 'uri', description: 'Relationship. Whose it is' },
      place: { type: 'object', description: 'GeoProperty. Where', properties: { type: { const: 'Point' } } },
      mass: { type: 'integer', 'x-ngsi': { units: 'KGM' } },
    },
    allOf: [
      { properties: { state: { enum: ['free', 'taken'], description: 'Whether somebody is in it.' } } },
    ],
  };
  const openapi = modelOpenApi({ domain: 'City', model: 'Car', version: 1, schema });
  const rows = attributeRows(openapi, schema).map(({ name, kind, type, unit, isRequired, description }) =>
    [name, kind, type, unit ?? '-', isRequired ? '*' : '', description].join(' · '),
  );
  assert.deepEqual(rows.toSorted(), [
    'mass · Property · integer · KGM ·  · ',
    'owner · Relationship · string (uri) · - ·  · Whose it is',
    'place · GeoProperty · object · - ·  · Where',
    'speed · Property · number · km/h · * · How fast it is',
    'state · Property · "free" | "taken" · - ·  · Whether somebody is in it',
  ]);
  for (const other of [undefined, {}, { components: 7 }]) assert.deepEqual(attributeRows(other, schema), []);
});
