import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';
import {
  ambiguousAttributes,
  guessForm,
  otherForms,
} from '../../../../sidecar/ngsi-ld/representation/form.js';
import { readEntity } from '../../../../sidecar/ngsi-ld/representation/read-entity.js';
import { entityOf } from './entities.js';

const PROPERTY = { type: 'Property', value: 1 };
const POINT = { type: 'Point', coordinates: [8.5, 47.4] };

function formOf(...values: readonly JsonValue[]): string {
  return readEntity(entityOf(values.map((value, index) => [`a${index}`, value]))).form;
}

it('the form of an entity is normalized if every attribute has a type', () => {
  assert.equal(formOf(PROPERTY, { type: 'GeoProperty', value: POINT }, [PROPERTY, PROPERTY]), 'normalized');
  assert.equal(formOf(PROPERTY, { type: 'Propertx', value: 1 }), 'normalized');
  assert.equal(formOf(), 'normalized');
});

it('the form of an entity is key-values if no attribute looks like an NGSI-LD attribute', () => {
  assert.equal(formOf(1, 'a', [1, 2], POINT, { street: 'x' }, { type: 'PostalAddress' }, []), 'keyvalues');
  assert.equal(formOf(1, { type: 'QuantitativeValue', value: 5 }), 'keyvalues');
  assert.equal(
    formOf(1, [
      { value: 1, time: 'x' },
      { value: 2, time: 'y' },
    ]),
    'keyvalues',
  );
  assert.equal(formOf({ languageMap: { en: 'a' } }, { vocab: 'a' }, { json: {} }), 'keyvalues');
});

it('the form of an entity is concise if some attributes look like NGSI-LD attributes, whatever the others', () => {
  assert.equal(formOf(1, PROPERTY), 'concise');
  assert.equal(formOf(PROPERTY, POINT), 'concise');
  assert.equal(formOf(1, { value: 1, unitCode: 'KMH' }), 'concise');
  assert.equal(formOf(1, { object: 'urn:a:b' }), 'concise');
  assert.equal(formOf(1, { valueList: [1] }), 'concise');
  assert.equal(formOf(1, { value: POINT }), 'concise');
  assert.equal(formOf(1, { value: 1, accuracy: PROPERTY }), 'concise');
  assert.equal(formOf(1, [{ value: 1 }, { value: 2, datasetId: 'urn:a:b' }]), 'concise');
  assert.equal(formOf(1, { languageMap: { en: 'a' }, observedAt: '2026-01-31T12:00:00Z' }), 'concise');
});

it('the form of an entity is concise if an attribute has only a value, but may be key-values', () => {
  for (const value of [{ value: 5 }, { value: 5, minValue: 1, maxValue: 9 }, { object: 'a box' }]) {
    assert.equal(formOf(1, value), 'concise');
    const entity = Object.entries({ id: 'urn:a:b', type: 'A', other: 1, a: value });
    assert.deepEqual(otherForms(entity, 'concise'), ['keyvalues']);
    assert.deepEqual(ambiguousAttributes(entity), ['a']);
  }
});

it('the form of an entity is certain if an attribute names its kind or has members of attributes', () => {
  const sure = Object.entries({ a: PROPERTY, b: { value: 5 } });
  assert.deepEqual([otherForms(sure, 'concise'), ambiguousAttributes(sure)], [[], []]);
  assert.deepEqual(
    ambiguousAttributes(Object.entries({ a: { value: 1, unitCode: 'X' }, b: { value: 5 } })),
    [],
  );
  assert.deepEqual(ambiguousAttributes(Object.entries({ a: 1, b: [1] })), []);
});

it('the members of an attribute without a type decide whether it is certainly concise', () => {
  for (const [value, isSure] of [
    [{ value: 5 }, false],
    [{ value: 5, min: 1 }, false],
    [{ value: 5, min: { value: 1 } }, false],
    [{ value: POINT }, true],
    [{ value: 5, observedAt: '2026-01-31T12:00:00Z' }, true],
    [{ value: 5, accuracy: PROPERTY }, true],
    [{ value: 5, accuracy: { value: 1, unitCode: 'X' } }, true],
    [{ object: 'urn:a:b' }, true],
    [{ object: ['urn:a:b', 'urn:a:c'] }, true],
    [{ object: ['urn:a:b', 'a box'] }, false],
    [{ object: 'a box' }, false],
    [{ valueList: [1] }, true],
    [{ valueList: 1 }, false],
    [{ objectList: [] }, true],
    [{ objectList: {} }, false],
    [{ languageMap: { en: 'a' }, more: 1 }, false],
  ] as const) {
    const entity = Object.entries({ id: 'urn:a:b', type: 'A', other: 1, a: value as JsonValue });
    assert.deepEqual(ambiguousAttributes(entity), isSure ? [] : ['a'], JSON.stringify(value));
    assert.equal(guessForm(entity), 'concise', JSON.stringify(value));
  }
});

it('the alternative form of an entity is concise for key-values, and key-values for others, unless a kind is named', () => {
  const plain = Object.entries({ a: 1 });
  assert.deepEqual(otherForms(plain, 'keyvalues'), ['concise']);
  for (const form of ['concise', 'normalized', 'ngsiv2'] as const)
    assert.deepEqual(otherForms(plain, form), ['keyvalues']);
  for (const form of ['concise', 'normalized', 'ngsiv2', 'keyvalues'] as const)
    assert.deepEqual(otherForms(Object.entries({ a: 1, b: [PROPERTY] }), form), []);
});

it('the form of an entity is NGSIv2 if every attribute can be, and some certainly are', () => {
  const guessOf = (...values: readonly JsonValue[]) =>
    guessForm([['id', 'A-1'], ['type', 'A'], ...values.map((value, index) => [`a${index}`, value] as const)]);
  const text = { type: 'Text', value: 'a' };
  const unit = { unitCode: { value: 'KMH' } };
  assert.equal(guessOf(text, { type: 'Number', value: 1, metadata: {} }), 'ngsiv2');
  assert.equal(guessOf(text, { type: 'Relationship', value: 'urn:a:b' }), 'ngsiv2');
  assert.equal(guessOf(text, { type: 'Own', value: 1 }, { value: 2 }), 'ngsiv2');
  assert.equal(guessOf({ value: 2, metadata: unit }), 'ngsiv2');
  assert.equal(guessOf({ type: 'geo:point', value: '52, 13' }), 'ngsiv2');
  assert.equal(guessOf(text, PROPERTY), 'normalized');
  assert.equal(guessOf(text, { type: 'Relationship', object: 'urn:a:b' }), 'normalized');
  assert.equal(guessOf(text, { type: 'Number', value: 1, observedAt: 'x' }), 'normalized');
  assert.equal(guessOf(text, 5), 'keyvalues');
  assert.equal(guessOf({ value: 2, metadata: { a: 1 } }), 'concise');
  assert.equal(guessOf({ type: 'Own', value: 1 }, { type: 'Other', value: 1 }), 'normalized');
  assert.equal(formOf(text), 'normalized', 'a scope, which NGSI-LD alone has');
});

it('the form of an entity is the given one, and members that are not attributes do not count', () => {
  assert.equal(readEntity(entityOf([['a', 1]]), { form: 'normalized' }).form, 'normalized');
  assert.equal(
    guessForm(Object.entries({ id: 'urn:a:b', type: 'A', scope: '/a', createdAt: 'x', '@context': 'x' })),
    'normalized',
  );
});
