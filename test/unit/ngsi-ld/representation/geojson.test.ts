import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type JsonObject,
  type JsonValue,
  pointerOf,
  tokensOf,
} from '../../../../sidecar/shared/json/json.js';
import {
  featuresIn,
  isFeature,
  entityFromFeature,
} from '../../../../sidecar/ngsi-ld/representation/geojson.js';

const ID = 'urn:ngsi-ld:Car:1';
const POINT = { type: 'Point', coordinates: [13.4, 52.5] };
const PROPERTIES = { type: 'Car', speed: 5 };

const featureOf = (more: JsonObject = {}): JsonObject => ({
  id: ID,
  type: 'Feature',
  geometry: POINT,
  properties: PROPERTIES,
  ...more,
});

const without = (object: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([other]) => other !== name));

const faultsOf = (feature: JsonObject) =>
  entityFromFeature(feature).faults.map(({ tokens, keyword }) => `${pointerOf(tokens)} ${keyword}`);

it('a Feature is an object of that type with properties', () => {
  assert.equal(isFeature(featureOf()), true);
  for (const other of [
    featureOf({ type: 'Car' }),
    featureOf({ properties: [] }),
    without(featureOf(), 'type'),
  ])
    assert.equal(isFeature(other), false);
});

it('a FeatureCollection is an object of that type with an array of features', () => {
  assert.deepEqual(featuresIn({ type: 'FeatureCollection', features: [1, 2] }), [1, 2]);
  for (const other of [
    null,
    [],
    'FeatureCollection',
    { type: 'FeatureCollection' },
    { type: 'Feature', features: [] },
    { type: 'FeatureCollection', features: {} },
  ])
    assert.equal(featuresIn(other), undefined, JSON.stringify(other));
});

it('a Feature represents an entity by its id, its properties, and its geometry as the location', () => {
  const { entity, faults, warnings, isReadable } = entityFromFeature(featureOf());
  assert.deepEqual(entity, { id: ID, ...PROPERTIES, location: POINT });
  assert.deepEqual([faults, warnings, isReadable], [[], [], true]);
});

it('a Feature has the id of its entity beside the properties, not among them', () => {
  const { entity } = entityFromFeature(featureOf({ properties: { id: 'urn:other', ...PROPERTIES } }));
  assert.equal(entity['id'], ID);
});

it('a Feature maps each part of its entity to its place', () => {
  const { locate } = entityFromFeature(featureOf());
  for (const [pointer, place] of [
    ['/id', '/id'],
    ['/type', '/properties/type'],
    ['/speed/value', '/properties/speed/value'],
    ['/location/coordinates/0', '/geometry/coordinates/0'],
    ['/missing', '/properties/missing'],
    ['', '/properties'],
  ] as const)
    assert.equal(pointerOf(locate(tokensOf(pointer) ?? [])), place);
  const own = entityFromFeature(featureOf({ properties: { ...PROPERTIES, location: POINT } }));
  assert.equal(pointerOf(own.locate(['location', 'type'])), '/properties/location/type');
});

it('a Feature shows one geometry: its own, unless its properties contain it or a location', () => {
  for (const [more, location] of [
    [{ location: { type: 'Point', coordinates: [0, 0] } }, { type: 'Point', coordinates: [0, 0] }],
    [{ place: POINT }, undefined],
    [{ place: { type: 'GeoProperty', value: POINT } }, undefined],
    [{ place: { type: 'Point', coordinates: [0, 0] } }, POINT],
    [{ scope: '/a' }, POINT],
  ] as readonly (readonly [JsonObject, JsonValue | undefined])[]) {
    const { entity } = entityFromFeature(featureOf({ properties: { ...PROPERTIES, ...more } }));
    assert.deepEqual(entity['location'], location, JSON.stringify(more));
  }
});

it('a Feature without a required part has a fault at the missing part, and its other parts are read', () => {
  for (const [feature, fault, isReadable] of [
    [without(featureOf(), 'id'), ' required', false],
    [without(featureOf(), 'properties'), ' required', false],
    [featureOf({ properties: [] }), ' required', false],
    [featureOf({ properties: { speed: 5 } }), '/properties required', false],
    [without(featureOf(), 'type'), ' const', true],
    [featureOf({ type: 'Car' }), '/type const', true],
    [without(featureOf(), 'geometry'), ' required', true],
  ] as const) {
    assert.deepEqual(faultsOf(feature), [fault]);
    assert.equal(entityFromFeature(feature).isReadable, isReadable, JSON.stringify(feature));
  }
  assert.deepEqual(faultsOf(featureOf({ properties: { '@type': 'Car' } })), []);
  const none = entityFromFeature(featureOf({ geometry: null }));
  assert.deepEqual([none.faults, none.isReadable, 'location' in none.entity], [[], true, false]);
});

it('a wrong geometry of a Feature is reported at its place, and is not the location', () => {
  for (const [geometry, fault] of [
    [5, '/geometry type'],
    [{ type: 'Point', coordinates: [1, 'x'] }, '/geometry/coordinates/1 type'],
    [
      { type: 'GeoProperty', value: { type: 'Point', coordinates: [1, 'x'] } },
      '/geometry/value/coordinates/1 type',
    ],
  ] as const) {
    const feature = featureOf({ geometry });
    assert.deepEqual(faultsOf(feature), [fault]);
    assert.equal('location' in entityFromFeature(feature).entity, false);
  }
});

it('an unusual geometry of a Feature causes a warning at its place', () => {
  const beyond = { type: 'Point', coordinates: [40, 186] };
  for (const [geometry, warnings, place] of [
    [beyond, ['/geometry/coordinates latitude'], '/geometry/type'],
    [
      { type: 'GeoProperty', value: beyond },
      ['/geometry geometry-property', '/geometry/value/coordinates latitude'],
      '/geometry/value/type',
    ],
  ] as const) {
    const unfolded = entityFromFeature(featureOf({ geometry }));
    assert.deepEqual(
      unfolded.warnings.map(({ tokens, code }) => `${pointerOf(tokens)} ${code}`),
      warnings,
    );
    assert.deepEqual(unfolded.entity['location'], beyond);
    assert.equal(pointerOf(unfolded.locate(['location', 'type'])), place);
  }
});
