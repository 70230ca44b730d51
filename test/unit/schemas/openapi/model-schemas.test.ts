import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelOpenApi } from '../../../../sidecar/schemas/openapi/model-openapi.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { acceptedBy, openApi, schemasOf, withSchema } from './documents.js';
import { PARKING, PARKING_ATTRIBUTES, PARKING_KEY_VALUES } from './models.js';

describe('the schemas of the OpenAPI document', () => {
  const document = modelOpenApi(PARKING);
  const accepts = schemasOf(document);
  const { components } = openApi(PARKING);
  const normalized = components.examples?.['normalized']?.value ?? {};
  const keyValues = PARKING_KEY_VALUES;

  for (const [what, changes] of [
    ['an invalid member', { totalSpots: -1 }],
    ['an invalid member of another document', { name: 'a' }],
    ['an invalid member of a recursive part', { 'a/b c': { part: 5 } }],
    ['a missing member', { totalSpots: undefined }],
    ['a missing member of another document', { name: undefined }],
    ['a member that no branch takes', { fee: 'gratis' }],
    ['another type', { type: 'Car' }],
  ] as const) {
    it(`the schemas of the OpenAPI document refuse key-values with ${what}`, () => {
      assert.ok(accepts('ParkingSiteKeyValues', keyValues));
      assert.ok(!accepts('ParkingSiteKeyValues', clean({ ...keyValues, ...changes })));
    });
  }

  it('the schemas of the OpenAPI document accept values in key-values form wrapped, as brokers show them', () => {
    const texts = { type: 'object', additionalProperties: { type: 'string' } };
    const parts = [
      { properties: { type: {}, label: { ...texts, description: 'LanguageProperty.' } } },
      { properties: { state: { enum: ['a'], description: 'VocabProperty.' } } },
    ];
    for (const closed of [{}, { unevaluatedProperties: false }]) {
      const wraps = acceptedBy({ allOf: parts, ...closed });
      for (const label of [{ en: 'x' }, { languageMap: { en: 'x' } }])
        assert.ok(wraps('MKeyValues', { type: 'M', label }), JSON.stringify(label));
      assert.ok(!wraps('MKeyValues', { label: { languageMap: { en: 5 } } }));
      assert.ok(wraps('MKeyValues', { state: { vocab: 'a' } }));
      assert.ok(!wraps('MKeyValues', { state: { vocab: 'b' } }));
    }
  });

  const property = (value: unknown) => ({ type: 'Property', value });
  for (const [what, changes] of [
    ['metadata', { totalSpots: { ...property(1), unitCode: 'C62', observedAt: '2024-01-01T00:00:00Z' } }],
    ['attributes of attributes', { totalSpots: { ...property(1), accuracy: property(0.1) } }],
    ['several instances', { totalSpots: [property(1), { ...property(2), datasetId: 'urn:d:1' }] }],
    [
      'typed values of times',
      { opened: property({ '@type': 'DateTime', '@value': '2024-01-01T00:00:00Z' }) },
    ],
    [
      'typed values of times by reference',
      { checked: property({ '@type': 'Date', '@value': '2024-01-01' }) },
    ],
    [
      'typed values as brokers show them',
      { opened: property({ type: 'DateTime', '@value': '2024-01-01T00:00:00Z' }) },
    ],
    ['several types', { type: ['ParkingSite', 'Building'] }],
    [
      'members of entities',
      { scope: ['/a', '/b'], createdAt: '2024-01-01T00:00:00Z', '@context': ['http://c/'] },
    ],
    ['attributes that the model does not know', { extra: property([1]) }],
    ['lists of URIs alone', { neighbours: { type: 'ListRelationship', objectList: ['urn:a:1'] } }],
    ['either branch', { fee: property(1.5) }],
  ] as const) {
    it(`the schemas of the OpenAPI document accept normalized entities with ${what}`, () => {
      assert.ok(accepts('ParkingSite', { ...normalized, ...changes }));
      assert.ok(accepts('ParkingSiteFragment', changes));
    });
  }

  for (const [what, changes] of [
    ['a value the model does not take', { totalSpots: property(-1) }],
    ['a bad one among several instances', { totalSpots: [property(1), property('x')] }],
    ['no instance', { totalSpots: [] }],
    ['a bare value', { totalSpots: 1 }],
    ['another kind of attribute', { operator: property('urn:a:1') }],
    ['a Property without value', { totalSpots: { type: 'Property' } }],
    ['a Relationship without object', { operator: { type: 'Relationship', value: 'urn:a:1' } }],
    ['a geometry the model does not take', { location: { type: 'GeoProperty', value: { type: 'Polygon' } } }],
    ['an empty language map', { sign: { type: 'LanguageProperty', languageMap: {} } }],
    ['a language that is no text', { sign: { type: 'LanguageProperty', languageMap: { en: 5 } } }],
    ['a word the model does not know', { category: { type: 'VocabProperty', vocab: 'roof' } }],
    ['JSON the model does not take', { raw: { type: 'JsonProperty', json: {} } }],
    ['too short a list', { stops: { type: 'ListProperty', valueList: [1] } }],
    ['a list of no objects', { neighbours: { type: 'ListRelationship', objectList: [5] } }],
    ['a value that no branch takes', { fee: property('gratis') }],
    ['a time without type or value', { opened: property({ '@value': '2024-01-01T00:00:00Z' }) }],
    ['a typed value that is no time', { name: property({ '@type': 'Text', '@value': 'abc' }) }],
    ['the type of something else', { type: ['Car'] }],
  ] as const) {
    it(`the schemas of the OpenAPI document refuse normalized entities with ${what}`, () => {
      assert.ok(!accepts('ParkingSite', { ...normalized, ...changes }));
      if (!('type' in changes)) assert.ok(!accepts('ParkingSiteFragment', changes));
    });
  }

  it('the schemas of the OpenAPI document refuse normalized entities without the members of every entity, but not fragments', () => {
    for (const name of ['id', 'type', 'name', 'totalSpots', 'location']) {
      assert.ok(!accepts('ParkingSite', clean({ ...normalized, [name]: undefined })), name);
      assert.ok(accepts('ParkingSiteFragment', clean({ ...normalized, [name]: undefined })), name);
    }
    assert.ok(accepts('ParkingSite', clean({ ...normalized, fee: undefined, raw: undefined })));
  });

  it('the schemas of the OpenAPI document require members that every entity has, not those that some have', () => {
    const schema = { properties: { a: {}, b: {} }, required: ['a'], anyOf: [{ required: ['b'] }, {}] };
    const acceptsSome = acceptedBy(schema);
    const entity = { id: 'urn:a:1', type: 'M' };
    assert.ok(acceptsSome('M', { ...entity, a: property(1) }));
    assert.ok(!acceptsSome('M', { ...entity, b: property(1) }));
  });

  it('the schemas of the OpenAPI document follow the kind of an attribute if the model contradicts it', () => {
    const schema = {
      properties: {
        text: { type: 'string', description: 'LanguageProperty. A text' },
        list: { type: 'number', description: 'ListProperty. A list' },
      },
    };
    const acceptsKinds = acceptedBy(schema);
    const entity = { id: 'urn:a:1', type: 'M' };
    const text = { type: 'LanguageProperty', languageMap: { en: ['a', 'b'] } };
    assert.ok(acceptsKinds('M', { ...entity, text, list: { type: 'ListProperty', valueList: [1, 'x'] } }));
  });

  it('the schemas of the OpenAPI document check every member that an attribute of a kind may have', () => {
    const kinds = {
      Property: { value: 1, unitCode: 'KMH', valueType: 'xsd:int' },
      GeoProperty: { value: { type: 'Point', coordinates: [1, 2] } },
      LanguageProperty: { languageMap: { en: 'a' } },
      VocabProperty: { vocab: 'a' },
      JsonProperty: { json: [] },
      ListProperty: { valueList: [1], unitCode: 'KMH', valueType: 'xsd:int' },
      Relationship: { object: 'urn:a:1', objectType: 'A' },
      ListRelationship: { objectList: ['urn:a:1'], objectType: ['A', 'B'] },
    };
    const time = '2024-01-01T00:00:00Z';
    const common = {
      observedAt: time,
      expiresAt: time,
      createdAt: time,
      modifiedAt: time,
      deletedAt: time,
      datasetId: 'urn:d:1',
      instanceId: 'urn:i:1',
    };
    const anything = ['Property', 'JsonProperty'];
    for (const [kind, own] of Object.entries(kinds)) {
      const acceptsKind = acceptedBy({ properties: { a: { 'x-ngsi': { type: kind } } } });
      const all = { type: kind, ...own, ...common };
      const takes = (a: unknown) => acceptsKind('M', { id: 'urn:a:1', type: 'M', a });
      assert.ok(takes(all), kind);
      const [valueMember = ''] = Object.keys(own);
      for (const name of ['type', valueMember]) assert.ok(!takes(clean({ ...all, [name]: undefined })), name);
      for (const name of Object.keys(all)) {
        const isFree = name === valueMember && anything.includes(kind);
        assert.equal(takes({ ...all, [name]: 5 }), isFree, `${kind} ${name}`);
      }
    }
  });

  it('the schemas of the OpenAPI document accept one URI or several as the object of a Relationship', () => {
    const acceptsUris = acceptedBy({ properties: { a: { 'x-ngsi': { type: 'Relationship' } } } });
    const takes = (object: unknown) =>
      acceptsUris('M', { id: 'urn:a:1', type: 'M', a: { type: 'Relationship', object } });
    assert.deepEqual(['urn:a:1', ['urn:a:1', 'urn:a:2'], [], 5, [5], ['urn:a:1', 5], {}].map(takes), [
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('the schemas of the OpenAPI document check a wrapped value by its whole schema', () => {
    const vocab = (schema: JsonObject) => ({ type: 'object', properties: { vocab: schema } });
    const a = {
      'x-ngsi': { type: 'VocabProperty' },
      allOf: [vocab({ minLength: 2 }), vocab({ maxLength: 3 })],
    };
    const acceptsWords = acceptedBy({ properties: { a } });
    const takes = (word: string) =>
      acceptsWords('M', { id: 'urn:a:1', type: 'M', a: { type: 'VocabProperty', vocab: word } });
    assert.deepEqual(['a', 'ab', 'abc', 'abcd'].map(takes), [false, true, true, false]);
  });

  it('the schemas of the OpenAPI document accept dates and times with their type in key-values, too', () => {
    const a = { type: 'string', format: 'date-time', description: 'Property. When', maxLength: 30 };
    const input = withSchema({ required: ['a'], properties: { a }, additionalProperties: false });
    const document = openApi(input);
    const takes = (value: JsonValue) => schemasOf(modelOpenApi(input))('MKeyValues', { a: value });
    const time = '2026-01-01T00:00:00Z';
    assert.ok(takes(time));
    assert.ok(takes({ '@type': 'DateTime', '@value': time }));
    assert.ok(takes({ type: 'DateTime', '@value': time }));
    assert.ok(!takes({ value: time }));
    assert.ok(!takes(1));
    const { properties } = document.components.schemas['MKeyValues'] ?? {};
    assert.equal((properties as { a: JsonObject }).a['description'], 'Property. When');
  });

  it('the schemas of the OpenAPI document accept the former name of a kind, which some brokers still show', () => {
    const accepts = acceptedBy({ properties: { a: { 'x-ngsi': { type: 'VocabProperty' } } } });
    const takes = (type: string) => accepts('M', { id: 'urn:a:1', type: 'M', a: { type, vocab: 'b' } });
    assert.deepEqual(['VocabProperty', 'VocabularyProperty', 'Property'].map(takes), [true, true, false]);
  });

  it('the schemas of the OpenAPI document check every member of an entity that is not an attribute', () => {
    const entity = { id: 'urn:a:1', type: 'M' };
    const acceptsAny = acceptedBy({});
    const time = '2024-01-01T00:00:00Z';
    for (const [name, value] of Object.entries({
      scope: '/a',
      expiresAt: time,
      createdAt: time,
      modifiedAt: time,
      deletedAt: time,
      '@context': 'http://c/',
    })) {
      assert.ok(acceptsAny('M', { ...entity, [name]: value }), name);
      assert.ok(!acceptsAny('M', { ...entity, [name]: 5 }), name);
    }
    for (const wrong of [{ id: 5 }, { type: 'Other' }, { type: ['Other'] }, { type: ['M', 5] }])
      assert.ok(!acceptsAny('M', { ...entity, ...wrong }), JSON.stringify(wrong));
  });

  it('the schemas of the OpenAPI document accept typed values for every format of times, and for no other', () => {
    const typed = property({ '@type': 'T', '@value': 'x' });
    for (const format of ['date-time', 'date', 'time', 'uri', 'email']) {
      const acceptsTime = acceptedBy({ properties: { a: { type: 'string', format } } });
      const isTime = ['date-time', 'date', 'time'].includes(format);
      assert.equal(acceptsTime('M', { id: 'urn:a:1', type: 'M', a: typed }), isTime, format);
    }
  });

  it('the schemas of the OpenAPI document describe the content of answers that report failures', () => {
    const failed = { entityId: 'urn:a:1', error: { type: 'about:blank' } };
    assert.ok(accepts('BatchOperationResult', { success: ['urn:a:2'], errors: [failed] }));
    assert.ok(accepts('UpdateResult', { updated: ['a'], notUpdated: [{ attributeName: 'b', reason: 'r' }] }));
    for (const [name, answer] of [
      ['ProblemDetails', { title: 'x' }],
      ['ProblemDetails', { type: 'about:blank', status: 'x' }],
      ['BatchOperationResult', { success: [] }],
      ['BatchOperationResult', { errors: [] }],
      ['BatchOperationResult', { success: [5], errors: [] }],
      ['BatchOperationResult', { success: [], errors: [{ entityId: 'urn:a:1' }] }],
      ['BatchOperationResult', { success: [], errors: [{ error: failed.error }] }],
      ['UpdateResult', { updated: [] }],
      ['UpdateResult', { notUpdated: [] }],
      ['UpdateResult', { updated: [], notUpdated: [{ attributeName: 'b' }] }],
      ['UpdateResult', { updated: [], notUpdated: [{ reason: 'r' }] }],
    ] as const)
      assert.ok(!accepts(name, answer), JSON.stringify([name, answer]));
  });

  it('the schemas of the OpenAPI document are closed for closed models', () => {
    const properties = { id: {}, type: {}, a: { additionalProperties: false } };
    for (const schema of [
      { properties, additionalProperties: false },
      { properties, unevaluatedProperties: false },
      { $ref: '#/$defs/closed', $defs: { closed: { properties, additionalProperties: false } } },
    ]) {
      const acceptsClosed = acceptedBy(schema);
      const entity = { id: 'urn:a:1', type: 'M', a: property(1), scope: '/a', '@context': 'http://c/' };
      assert.ok(acceptsClosed('M', entity));
      assert.ok(!acceptsClosed('M', { ...entity, b: property(1) }));
      assert.ok(!acceptsClosed('MFragment', { b: property(1) }));
    }
    const open = { properties, anyOf: [{ additionalProperties: false }, {}] };
    const acceptsOpen = acceptedBy(open);
    assert.ok(acceptsOpen('M', { id: 'urn:a:1', type: 'M', b: property(1) }));
  });

  it('the schemas of the OpenAPI document describe attributes as the model does', () => {
    const { schemas } = components;
    assert.equal(schemas['ParkingSite.totalSpots']?.['description'], 'Property. How many cars fit.');
    assert.equal(schemas['ParkingSite.operator']?.['title'], 'Operator');
    assert.equal(schemas['ParkingSite']?.['description'], 'A place to park');
    assert.equal(
      PARKING_ATTRIBUTES.every(({ name }) => JSON.stringify(schemas['ParkingSite']).includes(name)),
      true,
    );
  });
});

function clean(value: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(JSON.stringify(value));
}
