import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseGeoQuery } from '../../../sidecar/ngsi-ld/geo-query.js';
import { NgsiLdSyntaxError } from '../../../sidecar/ngsi-ld/syntax-error.js';

const square = '[[[0,0],[1,0],[1,1],[0,1],[0,0]]]';
const point = { geometry: 'Point', coordinates: '[8,40]' };

function refusedParameter(query: Parameters<typeof parseGeoQuery>[0]): string {
  try {
    parseGeoQuery(query);
  } catch (error) {
    if (error instanceof NgsiLdSyntaxError) return error.parameter;
    throw error;
  }
  return 'none';
}

it('a geoquery with near has its bound in metres', () => {
  assert.deepEqual(parseGeoQuery({ georel: 'near;maxDistance==2000', ...point }), {
    relation: { kind: 'near', bound: 'maxDistance', metres: 2000 },
    geometry: 'Point',
    coordinates: [8, 40],
    geoproperty: 'location',
  });
  const far = parseGeoQuery({ georel: 'near;minDistance==0.5', ...point, geoproperty: 'observationSpace' });
  assert.deepEqual(far.relation, { kind: 'near', bound: 'minDistance', metres: 0.5 });
  assert.equal(far.geoproperty, 'observationSpace');
});

it('a geoquery with any other relation may have any geometry', () => {
  for (const georel of ['within', 'contains', 'intersects', 'equals', 'disjoint', 'overlaps']) {
    assert.equal(parseGeoQuery({ georel, geometry: 'Polygon', coordinates: square }).relation.kind, georel);
  }
  for (const [geometry, coordinates] of [
    ['Point', '[200,90]'],
    ['Point', '[8,-90,7]'],
    ['MultiPoint', '[[1,2]]'],
    ['Polygon', '[[[0,0],[1,0],[1,1],[0,0]]]'],
    ['LineString', '[[1,2],[3,4,5]]'],
    ['MultiLineString', '[[[1,2],[3,4]]]'],
    ['MultiPolygon', `[${square}]`],
  ] as const) {
    assert.equal(parseGeoQuery({ georel: 'within', geometry, coordinates }).geometry, geometry);
  }
});

it('a wrong or missing part of a geoquery is refused with the name of its parameter', () => {
  const georels = ['near', 'near;maxDistance=5', 'near;maxDistance==0', 'near;maxDistance==-1', 'near;maxDistance==1e999',
      'near;maxDistance==1;minDistance==1', 'near;maxDistance==01', ' within', 'within ', 'xnear;maxDistance==1',
      'near;maxDistance==1x', 'near;farDistance==1', 'Within', '', 'toString']; // oxfmt-ignore
  for (const georel of georels) assert.equal(refusedParameter({ georel, ...point }), 'georel', georel);
  assert.equal(refusedParameter({ georel: 'within', geometry: 'Circle', coordinates: '[1,2]' }), 'geometry');
  assert.equal(
    refusedParameter({ georel: 'within', geometry: 'constructor', coordinates: '[1,2]' }),
    'geometry',
  );
  assert.equal(refusedParameter({ geometry: 'Point', coordinates: '[1,2]' }), 'georel');
  assert.equal(refusedParameter({ georel: 'within', coordinates: '[1,2]' }), 'geometry');
  assert.equal(refusedParameter({ georel: 'within', geometry: 'Point' }), 'coordinates');
  assert.equal(refusedParameter({ georel: 'within', ...point, geoproperty: '' }), 'geoproperty');
});

it('coordinates of a geoquery that do not fit the geometry are refused', () => {
  const wrong: readonly [string, string][] = [
    ['Point', '8,40'],
    ['Point', '[8]'],
    ['Point', '["8","40"]'],
    ['Point', '[8,91]'],
    ['Point', '[8,90.001]'],
    ['Point', '[8,-90.001]'],
    ['Point', '[null,0]'],
    ['Point', '[]'],
    ['MultiPoint', '[]'],
    ['MultiPoint', '[[1,2],[3]]'],
    ['MultiLineString', '[[[1,2]]]'],
    ['MultiPolygon', '[[[[0,0],[1,0],[1,1],[0,1]]]]'],
    ['Point', '[8,40,1,2]'],
    ['Point', '[1e999,0]'],
    ['Point', '{"0":8,"1":40}'],
    ['Point', '[[8,40]]'],
    ['LineString', '[[1,2]]'],
    ['Polygon', '[[0,0],[1,0],[1,1],[0,0]]'],
    ['Polygon', '[[[0,0],[1,0],[1,1]]]'],
    ['Polygon', '[[[0,0],[1,0],[0,0]]]'],
    ['Polygon', `[${square.slice(1, -1)},[[0,0],[1,0],[0,0]]]`],
    ['Polygon', '[[[0,0],[1,0],[1,1],[0,1]]]'],
    ['Polygon', '[]'],
    ['MultiPolygon', square],
    ['Point', '['.repeat(60_000)],
  ];
  for (const [geometry, coordinates] of wrong) {
    assert.equal(
      refusedParameter({ georel: 'within', geometry, coordinates }),
      'coordinates',
      coordinates.slice(0, 60),
    );
  }
});

it('any texts are parsed as a geoquery or refused with NgsiLdSyntaxError', () => {
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom('near;maxDistance==5', 'within', 'Point', 'Polygon'),
  );
  fc.assert(
    fc.property(text, text, text, (georel, geometry, coordinates) => {
      assert.notEqual(refusedParameter({ georel, geometry, coordinates }), '');
    }),
  );
});
