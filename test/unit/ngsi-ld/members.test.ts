import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  ATTRIBUTE_KINDS,
  KIND_BY_MEMBER,
  kindOfType,
  NON_ATTRIBUTE_MEMBERS,
  asStored,
  attributeNames,
  VALUE_MEMBERS,
  WRAPPED_KINDS,
} from '../../../sidecar/ngsi-ld/members.js';
import { LosslessNumber } from '../../../sidecar/shared/json/json.js';

const CORE = 'https://uri.etsi.org/ngsi-ld/';

it('the members of an entity that are not attributes are known, by term and by IRI', () => {
  const terms = ['createdAt', 'modifiedAt', 'deletedAt', 'scope', 'expiresAt'];
  const names = [
    'id',
    'type',
    '@id',
    '@type',
    '@context',
    ...terms,
    ...terms.map((name) => `${CORE}${name}`),
  ];
  assert.deepEqual([...NON_ATTRIBUTE_MEMBERS].sort(), names.sort());
  const entity = Object.fromEntries([...names, 'observedAt', `${CORE}speed`].map((name) => [name, 1]));
  assert.deepEqual(attributeNames(entity), ['observedAt', `${CORE}speed`]);
});

it('a distance that a broker adds as a number is not part of an entity, and an attribute of that name is', () => {
  const car = { id: 'urn:v:1', type: 'Car', speed: { value: 1 } };
  for (const geoDistance of [0, 9226.8, new LosslessNumber('9226.80404061210400001')]) {
    assert.deepEqual(attributeNames({ ...car, geoDistance }), ['speed']);
    assert.deepEqual(asStored({ ...car, geoDistance }), car);
  }
  const own = { ...car, geoDistance: { type: 'Property', value: 5 } };
  assert.deepEqual(attributeNames(own), ['speed', 'geoDistance']);
  assert.equal(asStored(own), own);
});

const MEMBERS = {
  Property: 'value',
  GeoProperty: 'value',
  LanguageProperty: 'languageMap',
  VocabProperty: 'vocab',
  JsonProperty: 'json',
  ListProperty: 'valueList',
  Relationship: 'object',
  ListRelationship: 'objectList',
};

it('each kind of attribute has its value in its own member, and is named by its term or IRI', () => {
  assert.deepEqual(VALUE_MEMBERS, MEMBERS);
  assert.deepEqual([...ATTRIBUTE_KINDS].sort(), Object.keys(MEMBERS).sort());
  for (const kind of ATTRIBUTE_KINDS) {
    assert.equal(kindOfType(kind), kind);
    assert.equal(kindOfType(`${CORE}${kind}`), kind);
    assert.equal(KIND_BY_MEMBER.get(MEMBERS[kind]), kind === 'GeoProperty' ? 'Property' : kind);
  }
  for (const type of ['property', `${CORE}property`, 'TemporalProperty', undefined, null, ['Property']])
    assert.equal(kindOfType(type), undefined);
  assert.equal(KIND_BY_MEMBER.size, 7);
});

it('a VocabProperty is also known by VocabularyProperty, its name in V1.7.1, which brokers still send', () => {
  for (const type of ['VocabularyProperty', `${CORE}VocabularyProperty`])
    assert.equal(kindOfType(type), 'VocabProperty');
});

it('the kinds of attributes whose key-values form wraps the value are those of languages, vocabularies and JSON', () => {
  assert.deepEqual([...WRAPPED_KINDS].sort(), ['JsonProperty', 'LanguageProperty', 'VocabProperty']);
});
