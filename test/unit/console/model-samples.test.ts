import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  examplesOf,
  detectForm,
  modelName,
  plainSample,
  samplesOf,
  withExample,
} from '../../../console/models/samples.js';
import { inferSchema } from '../../../sidecar/schemas/inference/tasks.js';
import { prepareModel } from '../../../sidecar/schemas/validation/model.js';
import type { JsonValue } from '../../../sidecar/shared/json/json.js';

const ID = 'urn:ngsi-ld:Car:1';

it('a sample is one object or a list of objects, and nothing else', () => {
  assert.deepEqual(samplesOf('{"a":1}'), [{ a: 1 }]);
  assert.deepEqual(samplesOf('[{"a":1},{"a":2}]'), [{ a: 1 }, { a: 2 }]);
  for (const text of ['[]', '3', '[{"a":1},3]', 'null', '[[]]']) assert.equal(samplesOf(text), undefined);
  assert.throws(() => samplesOf('{'), SyntaxError);
});

it('the form of samples is guessed from their attributes', () => {
  const forms = [
    [{ id: ID, type: 'Car', speed: { type: 'Property', value: 3 } }, 'ngsi-ld'],
    [{ id: ID, type: 'Car', speed: { value: 3 } }, 'ngsi-ld'],
    [{ id: ID, type: 'Car', owner: { object: 'urn:x:y' } }, 'ngsi-ld'],
    [{ id: ID, type: 'Car', speed: { type: 'Number', value: 3, metadata: {} } }, 'ngsiv2'],
    [{ id: ID, type: 'Car', speed: { type: 'Number', value: 3 } }, 'ngsiv2'],
    [{ id: ID, type: 'Car', speed: 3, location: { type: 'Point', coordinates: [1, 2] } }, 'keyvalues'],
    [{ id: ID, type: 'Car', address: { street: 'Main' } }, 'keyvalues'],
    [{ id: ID, type: 'Feature', geometry: null, properties: { type: 'Car' } }, 'geojson'],
    [{ id: ID, type: 'Feature', properties: { type: 'Car' } }, 'keyvalues'],
    [{ id: ID, type: 'Car', place: { type: 'Point', value: 1, coordinates: [1, 2] } }, 'keyvalues'],
    // An object with only a languageMap, vocab or json is the same in concise and in key-values form.
    ...['value', 'object', 'valueList', 'objectList'].map(
      (member) => [{ id: ID, type: 'Car', one: { [member]: 1 } }, 'ngsi-ld'] as const,
    ),
    ...['id', '@id', 'type', '@type', '@context', 'scope'].map(
      (member) => [{ [member]: { type: 'Property', value: 1 }, speed: 3 }, 'keyvalues'] as const,
    ),
    ...['Property', 'Relationship', 'GeoProperty', 'LanguageProperty', 'VocabProperty', 'JsonProperty']
      .concat(['ListProperty', 'ListRelationship'])
      .map((type) => [{ id: ID, one: { type } }, 'ngsi-ld'] as const),
  ] as const;
  for (const [sample, form] of forms) assert.equal(detectForm([sample]), form, JSON.stringify(sample));
});

it('a model is named after the type of its first sample, if that can be a name', () => {
  assert.equal(modelName([{ type: 'Car' }, { type: 'Bus' }]), 'Car');
  assert.equal(modelName([{ type: ['Car', 'Vehicle'] }]), 'Car');
  assert.equal(modelName([{ type: 'Feature', properties: { type: 'Car' } }]), 'Car');
  for (const sample of [{}, { type: 'https://example.org/Car' }, { type: 3 }])
    assert.equal(modelName([sample]), undefined);
});

it('a sample becomes an example with the values that the inferred schema describes', () => {
  const sample = {
    '@context': 'https://example.org/',
    '@id': ID,
    type: 'Car',
    speed: { type: 'Property', value: 3, unitCode: 'KMH' },
    owner: { type: 'Relationship', object: 'urn:x:y' },
    name: { type: 'LanguageProperty', languageMap: { en: 'car' } },
    trips: { type: 'ListRelationship', objectList: [{ object: 'urn:x:z' }] },
    seen: { type: 'Property', value: { '@type': 'DateTime', '@value': '2026-01-31T12:00:00Z' } },
  };
  const example = plainSample(sample, 'ngsi-ld');
  assert.deepEqual(example, {
    id: ID,
    type: 'Car',
    speed: 3,
    owner: 'urn:x:y',
    name: { languageMap: { en: 'car' } },
    trips: ['urn:x:z'],
    seen: '2026-01-31T12:00:00Z',
  });
  const inferred = inferSchema(sample, { form: 'ngsi-ld' });
  assert.equal(prepareModel('Car', inferred).firstFault(example as JsonValue), undefined);
  for (const form of ['keyvalues', 'ngsi-ld'] as const)
    assert.deepEqual(plainSample({ '@context': 'https://a.example', id: ID, at: { street: 'Main' } }, form), {
      id: ID,
      at: { street: 'Main' },
    });
  assert.deepEqual(plainSample({ id: ID, speed: { type: 'Number', value: 3 } }, 'ngsiv2'), {
    id: ID,
    speed: 3,
  });
});

it('a sample with several instances of an attribute, or in GeoJSON, does not become an example', () => {
  const twice = [
    { type: 'Property', value: 1, datasetId: 'urn:a:1' },
    { type: 'Property', value: 2 },
  ];
  assert.equal(plainSample({ id: ID, speed: twice }, 'ngsi-ld'), undefined);
  assert.equal(plainSample({ type: 'Feature' }, 'geojson'), undefined);
});

it('the examples of a schema are a list, or there are none', () => {
  assert.deepEqual(examplesOf({ examples: [{ a: 1 }] }), [{ a: 1 }]);
  for (const other of [true, null, 3, { examples: {} }]) assert.deepEqual(examplesOf(other), []);
});

it('an example is added to those of a schema, and the given schema is not modified', () => {
  const schema = { type: 'object', examples: [{ a: 1 }] };
  assert.deepEqual(withExample(schema, { a: 2 }), { type: 'object', examples: [{ a: 1 }, { a: 2 }] });
  assert.deepEqual(schema.examples, [{ a: 1 }]);
  assert.deepEqual(withExample({}, { a: 2 }), { examples: [{ a: 2 }] });
  assert.equal(withExample(true, { a: 2 }), true);
  assert.equal(withExample(schema, undefined), schema);
});
