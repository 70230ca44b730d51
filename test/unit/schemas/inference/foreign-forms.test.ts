import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SamplesRefusedError } from '../../../../sidecar/schemas/inference/errors.js';
import { inferSchema, type SampleForm } from '../../../../sidecar/schemas/inference/tasks.js';
import type { JsonObject, JsonValue } from '../../../../sidecar/shared/json/json.js';
import { prepareModel } from '../../../../sidecar/schemas/validation/model.js';
import { validateInLikelyForm } from '../../../../sidecar/schemas/validation/choose-form.js';
import { Spelling } from '../../../../sidecar/schemas/json-schema/spelling.js';
import { column } from '../../../support/columns.js';

const CAR: JsonObject = {
  id: 'Car-1',
  type: 'Car',
  speed: { type: 'Number', value: 50, metadata: { unitCode: { type: 'Text', value: 'KMH' } } },
  owner: { type: 'Relationship', value: 'urn:ngsi-ld:Person:1' },
  location: { type: 'geo:point', value: '52.5, 13.4' },
};

const FEATURE: JsonObject = {
  id: 'urn:ngsi-ld:Car:1',
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [13.4, 52.5] },
  properties: {
    type: 'Car',
    speed: { type: 'Property', value: 50, unitCode: 'KMH' },
    owner: { type: 'Relationship', object: 'urn:ngsi-ld:Person:1' },
  },
};

function inferred(samples: JsonValue, form: SampleForm): JsonObject {
  return inferSchema(samples, { form, model: 'Car' });
}

function pointersRefused(samples: JsonValue, form: SampleForm, isStrict = true): readonly string[] {
  try {
    inferSchema(samples, { form, model: 'Car', isStrict });
  } catch (error) {
    assert.ok(error instanceof SamplesRefusedError);
    return column(error.errors, 'pointer');
  }
  return [];
}

describe('the schema inferred from entities of NGSIv2 and GeoJSON', () => {
  it('a schema inferred from NGSIv2 or GeoJSON has their values, kinds and units, whether the form is given or guessed', () => {
    for (const [samples, own] of [
      [CAR, 'ngsiv2'],
      [FEATURE, 'geojson'],
      [{ type: 'FeatureCollection', features: [FEATURE, FEATURE] }, 'geojson'],
      [[FEATURE], 'geojson'],
    ] as const) {
      for (const form of [own, 'ngsi-ld'] as const) {
        const schema = inferred(samples, form);
        const properties = schema['properties'] as Readonly<Record<string, JsonObject>>;
        assert.deepEqual(properties['type'], { const: 'Car' });
        // NGSIv2 does not say that a number is a Property.
        const kind = own === 'ngsiv2' ? {} : { type: 'Property' };
        assert.deepEqual(properties['speed'], { type: 'integer', 'x-ngsi': { ...kind, units: 'KMH' } });
        assert.deepEqual(properties['owner']?.['x-ngsi'], { type: 'Relationship' });
        assert.deepEqual(properties['location']?.['x-ngsi'], { type: 'GeoProperty' });
        assert.deepEqual(schema['required'], ['id', 'type', 'location', 'owner', 'speed']);
      }
    }
  });

  it('a schema inferred from entities of NGSIv2 or GeoJSON accepts the entities', () => {
    for (const sample of [CAR, FEATURE]) {
      const model = prepareModel('Car', inferred(sample, 'ngsi-ld'));
      const { errors, warnings } = validateInLikelyForm(sample, model, {}, new Spelling());
      assert.deepEqual([errors, warnings], [[], []]);
    }
  });

  it('inference from NGSIv2 or GeoJSON reports faults at their places in the body', () => {
    assert.deepEqual(pointersRefused([CAR, { ...CAR, id: 'a b' }], 'ngsiv2'), ['/1/id']);
    assert.deepEqual(pointersRefused({ ...CAR, speed: 5 }, 'ngsiv2'), ['/speed']);
    assert.deepEqual(pointersRefused(CAR, 'geojson'), ['/type', '', '']);
    const properties = { ...(FEATURE['properties'] as JsonObject), speed: { type: 'Property' } };
    const features = [FEATURE, { ...FEATURE, properties }, { ...FEATURE, geometry: 5 }];
    assert.deepEqual(pointersRefused({ type: 'FeatureCollection', features }, 'geojson'), [
      '/features/1/properties/speed',
      '/features/2/geometry',
    ]);
    assert.deepEqual(pointersRefused({ type: 'FeatureCollection', features: [] }, 'geojson'), ['/features']);
    for (const isStrict of [true, false])
      assert.deepEqual(pointersRefused({ ...FEATURE, properties: { type: 'Bike' } }, 'geojson', isStrict), [
        '/properties/type',
      ]);
  });

  it('the schema inferred from plain objects treats a Feature as a plain object', () => {
    const schema = inferSchema(FEATURE, { form: 'keyvalues' });
    assert.deepEqual(Object.keys(schema['properties'] as JsonObject), [
      'id',
      'type',
      'geometry',
      'properties',
    ]);
  });
});
