import fc from 'fast-check';
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { distanceMetres, geoFilter } from '../../../sidecar/embedded-broker/geo-filter.js';
import { Refusal } from '../../../sidecar/embedded-broker/refusal.js';
import { parseGeoQuery } from '../../../sidecar/ngsi-ld/geo-query.js';
import { stored } from './entities.js';

const at = (...coordinates: number[]) => stored({ location: { type: 'Point', coordinates } });
const selects = (query: Parameters<typeof parseGeoQuery>[0], entity: ReturnType<typeof at>) =>
  geoFilter(parseGeoQuery(query))(entity);

it('near measures distances along the great circle', () => {
  // Madrid to Barcelona.
  const distance = distanceMetres([-3.7038, 40.4168], [2.1734, 41.3851]);
  assert.ok(Math.abs(distance - 505_000) < 3000, String(distance));
  const near = (georel: string) =>
    selects({ georel, geometry: 'Point', coordinates: '[-3.7038,40.4168]' }, at(2.1734, 41.3851));
  assert.equal(near(`near;maxDistance==${distance}`), true);
  assert.equal(near(`near;minDistance==${distance}`), false);
  assert.equal(near('near;maxDistance==510000'), true);
  assert.equal(near('near;maxDistance==500000'), false);
  assert.equal(near('near;minDistance==500000'), true);
  assert.equal(near('near;minDistance==510000'), false);
});

it('each point matches either maxDistance or minDistance of the same distance', () => {
  const position = fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -90, max: 90, noNaN: true }),
  );
  fc.assert(
    fc.property(position, position, fc.double({ min: 1, max: 2e7, noNaN: true }), (from, to, metres) => {
      const near = (bound: string) =>
        selects(
          { georel: `near;${bound}==${metres}`, geometry: 'Point', coordinates: JSON.stringify(from) },
          at(...to),
        );
      assert.notEqual(near('maxDistance'), near('minDistance'));
    }),
  );
});

it('within excludes the border and holes', () => {
  const coordinates = '[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]';
  const place = (x: number, y: number) =>
    ['within', 'intersects', 'disjoint'].map((georel) =>
      selects({ georel, geometry: 'Polygon', coordinates }, at(x, y)),
    );
  assert.deepEqual(place(2, 2), [true, true, false]);
  assert.deepEqual(place(0, 5), [false, true, false]);
  assert.deepEqual(place(10, 10), [false, true, false]);
  assert.deepEqual(place(4, 5), [false, true, false]);
  assert.deepEqual(place(5, 5), [false, false, true]);
  assert.deepEqual(place(11, 5), [false, false, true]);
});

it('a MultiPolygon contains the points of each of its polygons', () => {
  const coordinates = '[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[7,5],[7,7],[5,7],[5,5]]]]';
  const within = { georel: 'within', geometry: 'MultiPolygon', coordinates };
  assert.equal(selects(within, at(6, 6)), true);
  assert.equal(selects(within, at(3, 3)), false);
});

it('equals compares points, and other geoproperties are found by name', () => {
  const query = { georel: 'equals', geometry: 'Point', coordinates: '[1,2]' };
  assert.equal(selects(query, at(1, 2)), true);
  assert.equal(selects(query, at(1, 2.0001)), false);
  const observed = stored({ place: { type: 'Point', coordinates: [1, 2] } });
  assert.equal(selects(query, observed), false);
  assert.equal(selects({ ...query, geoproperty: 'place' }, observed), true);
});

it('an entity without a Point never matches, not even with disjoint', () => {
  const square = '[[[0,0],[1,0],[1,1],[0,0]]]';
  for (const entity of [
    stored({}),
    stored({ location: { value: 'here' } }),
    stored({
      location: {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
    }),
  ]) {
    // oxfmt-ignore
    assert.equal(selects({ georel: 'disjoint', geometry: 'Polygon', coordinates: square }, entity), false);
    assert.equal(
      selects({ georel: 'near;minDistance==1', geometry: 'Point', coordinates: '[9,9]' }, entity),
      false,
    );
  }
});

it('unsupported relations are refused with 501', () => {
  for (const query of [
    { georel: 'contains', geometry: 'Point', coordinates: '[1,2]' },
    { georel: 'overlaps', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,0]]]' },
    { georel: 'within', geometry: 'LineString', coordinates: '[[0,0],[1,1]]' },
    { georel: 'near;maxDistance==1', geometry: 'MultiPoint', coordinates: '[[0,0]]' },
  ]) {
    const build = () => geoFilter(parseGeoQuery(query));
    assert.throws(build, (error) => error instanceof Refusal && error.problem.status === 501);
  }
});
