import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { validatorOf, type Verdict } from './validating.js';
import type { SubmittedForm } from '../../../../sidecar/ngsi-ld/representation/form.js';
import { VEHICLE, VEHICLE_KEY_VALUES, VEHICLE_SCHEMA } from './models.js';
import { column } from '../../../support/columns.js';

const LOCATED = { ...VEHICLE_SCHEMA, required: ['id', 'type', 'location'] };

function answerOn(body: JsonValue, form?: SubmittedForm, isStrict = true): JsonValue {
  const options = { isStrict, ...(form === undefined ? {} : { form }) };
  const outcome = validatorOf('Vehicle', LOCATED).outcome(JSON.stringify(body), options);
  if (!('answer' in outcome)) throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.answer) as JsonValue;
}

function pointersOf(body: JsonValue, form?: SubmittedForm, isStrict?: boolean) {
  const { form: read, errors, warnings } = answerOn(body, form, isStrict) as unknown as Verdict;
  return [read, column(errors, 'pointer'), warnings.map(({ pointer, code }) => `${pointer} ${code}`)];
}

const POINT = { type: 'Point', coordinates: [13.4, 52.5] };

function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

function featureOf(entity: JsonObject, geometry: JsonValue = POINT): JsonObject {
  const { id = null } = entity;
  return { id, type: 'Feature', geometry, properties: without(entity, 'id', 'location') };
}

describe('an entity in GeoJSON', () => {
  it('an entity in GeoJSON is recognised, whatever form its properties have, and its geometry is its location', () => {
    for (const entity of [VEHICLE, VEHICLE_KEY_VALUES])
      for (const form of [undefined, 'geojson'] as const)
        assert.deepEqual(pointersOf(featureOf(entity), form), ['geojson', [], []]);
    assert.deepEqual(pointersOf(featureOf(VEHICLE, null)), ['geojson', ['/properties'], []]);
  });

  it('an entity in GeoJSON has its errors at the places of the Feature', () => {
    const wrong = {
      ...featureOf({
        ...VEHICLE,
        speed: { type: 'Property', value: -3 },
        colour: { type: 'Property', value: 1 },
      }),
      id: 'no uri',
      geometry: { type: 'LineString', coordinates: [] },
    };
    assert.deepEqual(pointersOf(wrong), [
      'geojson',
      ['/id', '/geometry/coordinates', '/properties', '/properties/speed/value'],
      ['/properties/colour unknown-attribute'],
    ]);
    const flat = featureOf({ ...VEHICLE_KEY_VALUES, wheels: [{ size: 'x' }] });
    assert.deepEqual(pointersOf(flat), ['geojson', ['/properties/wheels/0/size'], []]);
  });

  it('an entity in GeoJSON keeps the location among its properties, whatever the geometry is', () => {
    const { location = null } = VEHICLE;
    const feature = featureOf(VEHICLE, { type: 'Point', coordinates: [1, 2] });
    const both = { ...feature, properties: { ...(feature['properties'] as JsonObject), location } };
    assert.deepEqual(pointersOf(both), ['geojson', [], []]);
    const position = {
      ...featureOf(VEHICLE),
      properties: { ...(feature['properties'] as JsonObject), position: location },
    };
    assert.deepEqual(pointersOf(position), [
      'geojson',
      ['/properties'],
      ['/properties/position unknown-attribute'],
    ]);
  });

  it('an entity in GeoJSON with a GeoProperty for its geometry, as published examples have it, is valid with a warning', () => {
    const feature = featureOf(VEHICLE, { type: 'GeoProperty', value: POINT });
    assert.deepEqual(pointersOf(feature), ['geojson', [], ['/geometry geometry-property']]);
    const wrong = featureOf(VEHICLE, {
      type: 'GeoProperty',
      value: { type: 'Point', coordinates: ['1', 2] },
    });
    assert.deepEqual((pointersOf(wrong)[1] as readonly string[])[0], '/geometry/value/coordinates/0');
  });

  it('an entity in GeoJSON needs an id, a type and properties, and must be a Feature if GeoJSON is given as its form', () => {
    const feature = featureOf(VEHICLE);
    assert.deepEqual(pointersOf(without(feature, 'id')), ['geojson', [''], []]);
    const properties = without(feature['properties'] as JsonObject, 'type');
    assert.deepEqual(pointersOf({ ...feature, properties }), ['geojson', ['/properties'], []]);
    assert.deepEqual(pointersOf({ ...feature, properties: 5 }, 'geojson'), ['geojson', [''], []]);
    assert.deepEqual(pointersOf(without(feature, 'geometry')), ['geojson', ['', '/properties'], []]);
    assert.deepEqual(pointersOf({ ...feature, type: 'Vehicle' }, 'geojson'), ['geojson', ['/type'], []]);
    assert.deepEqual(pointersOf({ ...feature, type: 'Vehicle' }, 'geojson', false), [
      'geojson',
      [],
      ['/type ngsi-ld'],
    ]);
  });

  it('a FeatureCollection has one result for each of its entities', () => {
    const collection = {
      type: 'FeatureCollection',
      features: [featureOf(VEHICLE), featureOf({ ...VEHICLE_KEY_VALUES, speed: -1 })],
    };
    for (const form of [undefined, 'geojson'] as const) {
      const verdicts = answerOn(collection, form) as unknown as readonly Verdict[];
      assert.deepEqual(
        verdicts.map(({ form: read, errors }) => [read, column(errors, 'pointer')]),
        [
          ['geojson', []],
          ['geojson', ['/features/1/properties/speed']],
        ],
      );
    }
    assert.deepEqual(answerOn({ type: 'FeatureCollection', features: [] }), []);
    const refused = validatorOf('Vehicle', LOCATED).outcome('{"type":"FeatureCollection","features":[5]}');
    assert.deepEqual('refused' in refused && column(refused.refused.errors, 'pointer'), ['/features/0']);
  });

  it('an entity of a model that is called Feature is not taken for GeoJSON', () => {
    const entity = { id: 'urn:a:b', type: 'Feature', properties: { a: 1 }, geometry: POINT };
    assert.equal(validatorOf('Feature', {}).verdict(entity).form, 'keyvalues');
  });

  it('an entity of a model that is called FeatureCollection is not taken for a list of Features', () => {
    const entity = { id: 'urn:a:b', type: 'FeatureCollection', features: [] };
    assert.equal(validatorOf('FeatureCollection', {}).verdict(entity).form, 'keyvalues');
  });
});
