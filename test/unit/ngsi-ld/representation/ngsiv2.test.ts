import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type JsonObject, type JsonValue, pointerOf } from '../../../../sidecar/shared/json/json.js';
import { readEntity } from '../../../../sidecar/ngsi-ld/representation/read-entity.js';

const CAR: JsonObject = {
  id: 'Car-1',
  type: 'Car',
  speed: { type: 'Number', value: 50, metadata: { unitCode: { type: 'Text', value: 'KMH' } } },
  wheels: { type: 'StructuredValue', value: [{ size: 17 }, { type: 'Property', value: 3 }] },
  refOwner: { type: 'Relationship', value: 'urn:ngsi-ld:Person:1' },
  none: { type: 'None', value: null },
  location: { type: 'geo:json', value: { type: 'Point', coordinates: [13.4, 52.5] } },
  seen: { type: 'geo:point', value: '52.5, 13.4' },
  '@context': 'https://city.example/context.jsonld',
};

const read = (entity: JsonObject) => readEntity(entity, { form: 'ngsiv2', model: 'Car' });

const faultsOf = (more: JsonObject): readonly string[] =>
  read({ ...CAR, ...more }).faults.map(({ tokens, keyword }) => `${pointerOf(tokens)} ${keyword}`);

it('an entity of NGSIv2 is read as its values, which are not converted', () => {
  const { form, faults, readings, kinds } = read(CAR);
  assert.deepEqual([form, faults], ['ngsiv2', []]);
  assert.deepEqual(readings[0].keyValues, {
    id: 'Car-1',
    type: 'Car',
    speed: 50,
    wheels: [{ size: 17 }, { type: 'Property', value: 3 }],
    refOwner: 'urn:ngsi-ld:Person:1',
    none: null,
    location: { type: 'Point', coordinates: [13.4, 52.5] },
    seen: { type: 'Point', coordinates: [13.4, 52.5] },
  });
  assert.deepEqual(Object.fromEntries(kinds), {
    refOwner: 'Relationship',
    location: 'GeoProperty',
    seen: 'GeoProperty',
  });
});

it('an entity of NGSIv2 maps each value to its place', () => {
  const [{ locate }] = read(CAR).readings;
  for (const [tokens, place] of [
    [['id'], '/id'],
    [['speed'], '/speed/value'],
    [['wheels', '0', 'size'], '/wheels/value/0/size'],
    [['location', 'coordinates', '1'], '/location/value/coordinates/1'],
    [['seen', 'coordinates', '1'], '/seen/value'],
    [['missing'], '/missing'],
    [[], ''],
  ] as const)
    assert.equal(pointerOf(locate(tokens)), place);
});

it('an entity of NGSIv2 may have an id that is not a URI, but no blanks in it', () => {
  assert.deepEqual(faultsOf({ id: 'Madrid-Ambient:2016-03-15T11:00:00' }), []);
  for (const id of ['a b', 'a/b', 'a?b', 'ä', '', 'x'.repeat(257), 5])
    assert.deepEqual(faultsOf({ id }), ['/id format']);
  const anonymous = Object.fromEntries(Object.entries(CAR).filter(([name]) => name !== 'id'));
  assert.deepEqual(
    read(anonymous).faults.map(({ keyword }) => keyword),
    ['required'],
  );
});

it('an entity of NGSIv2 has one type, the name of the model', () => {
  assert.deepEqual(faultsOf({ type: 'Bike' }), ['/type const']);
  assert.deepEqual(faultsOf({ type: ['Car'] }), ['/type type']);
});

it('an attribute of NGSIv2 has a value, and otherwise only a type and metadata', () => {
  const faultsOfAttribute = (value: JsonValue) => faultsOf({ x: value });
  assert.deepEqual(faultsOfAttribute({ value: 5 }), []);
  assert.deepEqual(faultsOfAttribute(5), ['/x type']);
  assert.deepEqual(faultsOfAttribute({ type: 'Number' }), ['/x required']);
  assert.deepEqual(faultsOfAttribute({ type: 5, value: 5 }), ['/x/type type']);
  assert.deepEqual(faultsOfAttribute({ type: 'Number', value: 5, unitCode: 'KMH' }), [
    '/x/unitCode additionalProperties',
  ]);
  assert.deepEqual(faultsOfAttribute({ value: 5, metadata: { accuracy: 1 } }), [
    '/x/metadata/accuracy required',
  ]);
  assert.deepEqual(faultsOfAttribute({ value: 5, metadata: [] }), ['/x/metadata type']);
  assert.deepEqual(faultsOf({ 'a b': { value: 5 } }), ['/a b propertyNames']);
});

it('names, ids and types of NGSIv2 have up to 256 characters, and none with a meaning in a URL', () => {
  const long = 'x'.repeat(256);
  assert.deepEqual(faultsOf({ id: long, [long]: { type: long, value: 1 } }), []);
  for (const wrong of ['x'.repeat(257), '', ...Array.from('&?/# \t\n\x7fé', (sign) => `a${sign}b`)]) {
    assert.deepEqual(faultsOf({ id: wrong }), ['/id format'], JSON.stringify(wrong));
    assert.deepEqual(faultsOf({ x: { type: wrong, value: 1 } }), ['/x/type type'], JSON.stringify(wrong));
    const { faults } = read({ ...CAR, [wrong]: { value: 1 } });
    assert.deepEqual(
      faults.map(({ tokens, keyword }) => [...tokens, keyword]),
      [[wrong, 'propertyNames']],
    );
  }
  assert.deepEqual(faultsOf({ '*': { value: 1 } }), ['/* propertyNames']);
});

it('each type of NGSIv2 determines the kind of its attribute', () => {
  const text = { type: 'Text', value: 'a' };
  for (const [type, value, kind] of [
    ...['Text', 'Number', 'Integer', 'Float', 'Boolean', 'DateTime', 'StructuredValue', 'None'].map(
      (name) => [name, 1, undefined] as const,
    ),
    ['geo:json', { type: 'Point', coordinates: [1, 2] }, 'GeoProperty'],
    ['geo:point', '1, 2', 'GeoProperty'],
    ['geo:line', ['1, 2', '3, 4'], 'GeoProperty'],
    ['geo:polygon', ['0,0', '0,1', '1,1', '0,0'], 'GeoProperty'],
    ['geo:box', ['1, 2', '3, 4'], 'GeoProperty'],
  ] as const) {
    assert.equal(readEntity({ id: 'A-1', type: 'A', x: { type, value } }).form, 'ngsiv2', type);
    const { faults, kinds } = read({ id: 'Car-1', type: 'Car', x: { type, value }, text });
    assert.deepEqual([faults, kinds.get('x')], [[], kind], type);
  }
});

it('a location of NGSIv2 has its points within the world, and as many as its type allows', () => {
  const isRight = (type: string, value: JsonValue) => faultsOf({ x: { type, value } }).length === 0;
  for (const [place, isIn] of [
    ['90, 180', true],
    ['-90, -180', true],
    ['90.1, 0', false],
    ['-90.1, 0', false],
    ['0, 180.1', false],
    ['0, -180.1', false],
    ['0,', false],
    [',0', false],
    ['0, 0, 0', false],
  ] as const) {
    assert.equal(isRight('geo:point', place), isIn, place);
    assert.equal(isRight('geo:line', ['0, 0', place]), isIn, place);
  }
  const points = (count: number) => Array.from({ length: count }, () => '1, 2');
  for (const [type, least, most] of [
    ['geo:line', 2, undefined],
    ['geo:polygon', 4, undefined],
    ['geo:box', 2, 2],
  ] as const) {
    assert.equal(isRight(type, points(least - 1)), false, type);
    assert.equal(isRight(type, points(least)), true, type);
    assert.equal(isRight(type, points(least + 1)), most === undefined, type);
    assert.equal(isRight(type, '1, 2'), false, type);
    assert.equal(isRight(type, null), true, 'any value may be null');
  }
});

it('a location of NGSIv2 is read as GeoJSON, with the longitude first', () => {
  const geometryOf = (type: string, value: JsonValue) => {
    const { faults, readings } = read({ ...CAR, at: { type, value } });
    return faults.length === 0 ? readings[0].keyValues['at'] : faults.map(({ tokens }) => pointerOf(tokens));
  };
  for (const [type, points, text] of [
    ['geo:line', ['1, 2', '3,4'], '{"type":"LineString","coordinates":[[2,1],[4,3]]}'],
    ['geo:box', ['1, 2', '3, 4'], '{"type":"Polygon","coordinates":[[[2,1],[4,1],[4,3],[2,3],[2,1]]]}'],
    [
      ...(['geo:polygon', ['0,0', '0,1', '1,1', '0,0']] as const),
      '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}',
    ],
  ] as const)
    assert.deepEqual(geometryOf(type, points), JSON.parse(text), type);
  for (const [type, value] of [
    ['geo:point', '91, 0'],
    ['geo:point', '1'],
    ['geo:point', '1, 2, 3'],
    ['geo:point', [1, 2]],
    ['geo:point', ' , '],
    ['geo:line', ['1, 2']],
    ['geo:line', ['1, 2', 'here', '3, 4']],
    ['geo:line', ['1, 2', '3, 4', 5]],
    ['geo:polygon', ['0,0', '0,1', '1,1', '0,5']],
    ['geo:polygon', ['0,0', '0,1', 'here', '1,1', '0,0']],
    ['geo:box', ['1, 2', '3, 4', '5, 6']],
    ['geo:box', ['1, 2', '3, 4', 'here']],
  ] as const)
    assert.deepEqual(geometryOf(type, value), ['/at/value'], `${type} ${JSON.stringify(value)}`);
  assert.deepEqual(geometryOf('geo:json', { type: 'Point', coordinates: ['a'] }), ['/at/value/coordinates']);
});
