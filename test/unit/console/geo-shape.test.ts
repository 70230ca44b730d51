import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { geoQueryOf, metresBetween, shapeOf } from '../../../console/purge/geo-shape.js';

const lon = fc.integer({ min: -17_900_000, max: 17_900_000 }).map((value) => value / 100_000);
const lat = fc.integer({ min: -8_900_000, max: 8_900_000 }).map((value) => value / 100_000);
const point = fc.tuple(lon, lat).map(([east, north]) => ({ lon: east, lat: north }));

describe('a shape that is drawn', () => {
  it('a circle is a query for what is near, and is found in it again', () => {
    fc.assert(
      fc.property(point, fc.integer({ min: 1, max: 5_000_000 }), (centre, metres) => {
        const shape = { kind: 'circle', centre, metres } as const;
        assert.deepEqual(shapeOf(geoQueryOf(shape)), shape);
      }),
    );
  });

  it('a box is a closed polygon around all of its corners, whichever way it was drawn', () => {
    fc.assert(
      fc.property(point, point, (from, to) => {
        const { georel, geometry, coordinates } = geoQueryOf({ kind: 'box', from, to });
        assert.deepEqual([georel, geometry], ['within', 'Polygon']);
        const [ring] = JSON.parse(coordinates) as [[number, number][]];
        assert.deepEqual(ring[0], ring[4]);
        assert.deepEqual(ring[0], [Math.min(from.lon, to.lon), Math.min(from.lat, to.lat)]);
        assert.deepEqual(ring[2], [Math.max(from.lon, to.lon), Math.max(from.lat, to.lat)]);
        assert.equal(shapeOf({ georel, geometry, coordinates })?.kind, 'box');
      }),
    );
  });

  it('a geoquery that is neither circle nor box is left to be written by hand', () => {
    for (const fields of [
      {},
      { georel: 'near;minDistance==5', geometry: 'Point', coordinates: '[1,2]' },
      { georel: 'intersects', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,1],[0,0]]]' },
      { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[2,1],[0,1],[0,0]]]' },
      { georel: 'within', geometry: 'Polygon', coordinates: 'nonsense' },
    ])
      assert.equal(shapeOf(fields), undefined);
  });

  it('distances are those of the Earth, within a hundredth', () => {
    const metres = metresBetween({ lon: -3.7, lat: 40.4 }, { lon: -3.7, lat: 41.4 });
    assert.ok(Math.abs(metres - 111_195) < 1112, String(metres));
  });
});
