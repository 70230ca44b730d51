import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normalizedExample } from '../../../../sidecar/schemas/json-schema/example.js';
import { PARKING_ATTRIBUTES, PARKING_KEY_VALUES } from '../openapi/models.js';

describe('the normalized form of an example', () => {
  it('the normalized form of an example has each attribute in the form of its kind, in order, and @context last', () => {
    const context = ['https://gateway.example/context', 'https://core.example/'];
    const entity = normalizedExample(
      { '@context': 'http://old/', ...PARKING_KEY_VALUES },
      PARKING_ATTRIBUTES,
      context,
    );
    assert.deepEqual(Object.entries(entity), [
      ['id', 'urn:ngsi-ld:ParkingSite:1'],
      ['type', 'ParkingSite'],
      ['name', { type: 'Property', value: 'Station' }],
      ['a/b c', { type: 'Property', value: { part: { part: {} } } }],
      ['location', { type: 'GeoProperty', value: { type: 'Point', coordinates: [13.4, 52.5] } }],
      ['totalSpots', { type: 'Property', value: 12 }],
      ['opened', { type: 'Property', value: '2024-01-01T00:00:00Z' }],
      ['checked', { type: 'Property', value: '2024-01-01' }],
      ['operator', { type: 'Relationship', object: 'urn:ngsi-ld:Organization:1' }],
      [
        'neighbours',
        {
          type: 'ListRelationship',
          objectList: [{ object: 'urn:ngsi-ld:ParkingSite:2' }, { object: 'urn:ngsi-ld:ParkingSite:3' }],
        },
      ],
      ['sign', { type: 'LanguageProperty', languageMap: { en: 'Car park', de: 'Parkplatz' } }],
      ['category', { type: 'VocabProperty', vocab: 'street' }],
      ['raw', { type: 'JsonProperty', json: { a: 1, '@id': 'not expanded' } }],
      ['stops', { type: 'ListProperty', valueList: [1, 2] }],
      ['fee', { type: 'Property', value: 'free' }],
      ['@context', context],
    ]);
  });

  it('the normalized form of an example accepts values with and without the wrapping of their kind', () => {
    const attributes = [
      { name: 'map', kind: 'LanguageProperty' },
      { name: 'text', kind: 'LanguageProperty' },
      { name: 'word', kind: 'VocabProperty' },
      { name: 'json', kind: 'JsonProperty' },
      { name: 'one', kind: 'ListProperty' },
    ] as const;
    const keyValues = {
      map: { en: 'a' },
      text: 'a',
      word: { vocab: ['b'] },
      json: { json: { c: 1 } },
      one: 4,
    };
    assert.deepEqual(normalizedExample(keyValues, attributes), {
      map: { type: 'LanguageProperty', languageMap: { en: 'a' } },
      text: { type: 'LanguageProperty', languageMap: { '@none': 'a' } },
      word: { type: 'VocabProperty', vocab: ['b'] },
      json: { type: 'JsonProperty', json: { c: 1 } },
      one: { type: 'ListProperty', valueList: [4] },
    });
  });

  it('the normalized form of an example omits nulls, turns unknown members into Properties, and keeps NGSI-LD members', () => {
    const keyValues = JSON.parse('{"scope": "/a", "gone": null, "extra": [1], "__proto__": 2}') as Record<
      string,
      never
    >;
    const entity = normalizedExample(keyValues, []);
    assert.deepEqual(Object.entries(entity), [
      ['scope', '/a'],
      ['extra', { type: 'Property', value: [1] }],
      ['__proto__', { type: 'Property', value: 2 }],
    ]);
    assert.equal(Object.getPrototypeOf(entity), Object.prototype);
  });
});
