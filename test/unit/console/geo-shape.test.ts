import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { placesIn, shapeAround } from '../../../console/purge/entity-places.js';
import { degreesOf, geoQueryOf, metresBetween, shapeOf } from '../../../console/purge/geo-shape.js';
import { readWorldLines } from '../../../console/purge/world-lines.js';

const lon = fc.integer({ min: -17_900_000, max: 17_900_000 }).map((value) => value / 100_000);
const lat = fc.integer({ min: -8_900_000, max: 8_900_000 }).map((value) => value / 100_000);
const point = fc.tuple(lon, lat).map(([east, north]) => ({ lon: east, lat: north }));

it('a circle becomes a near query, and can be read from it again', () => {
  fc.assert(
    fc.property(point, fc.integer({ min: 1, max: 5_000_000 }), (centre, metres) => {
      const shape = { kind: 'circle', centre, metres } as const;
      assert.deepEqual(shapeOf(geoQueryOf(shape)), shape);
    }),
  );
});

it('a box becomes a closed polygon around all of its corners, in whichever direction it was drawn', () => {
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

it('a geoquery that is neither circle nor box is left unchanged for manual editing', () => {
  for (const fields of [
    {},
    { georel: 'near;minDistance==5', geometry: 'Point', coordinates: '[1,2]' },
    { georel: 'intersects', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,1],[0,0]]]' },
    { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[2,1],[0,1],[0,0]]]' },
    { georel: 'within', geometry: 'Polygon', coordinates: 'nonsense' },
    // A hole, a ring that is not closed, a missing corner, one too many, and a mix-up of polygon and point.
    { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,1],[0,0]],[[0,0]]]' },
    { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,1],[0,0.5]]]' },
    { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,1],[0.5,0]]]' },
    { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,0]]]' },
    { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],[1,1],[0,1],[0,0],[0,0]]]' },
    { georel: 'within', geometry: 'Polygon', coordinates: '[[[0,0],[1,0],["1",1],[0,1],[0,0]]]' },
    ...[
      [0.5, 0, 0, 1, 0, 1, 1, 0, 1],
      [0, 0, 1, 0, 1.5, 1, 0, 1, 0],
      [0, 0, 1, 0, 1, 1, 0, 1.5, 0],
      [0, 0, 1, 0.5, 1, 1, 0, 1, 0],
    ].map(([a, b, c, d, e, f, g, h, i]) => ({
      georel: 'within',
      geometry: 'Polygon',
      coordinates: JSON.stringify([
        [
          [a, b],
          [c, d],
          [e, f],
          [g, h],
          [i, b],
        ],
      ]),
    })),
    { georel: 'near;maxDistance==5', geometry: 'Polygon', coordinates: '[1,2]' },
    { georel: 'near;maxDistance==5', geometry: 'Point', coordinates: '[1]' },
    { georel: 'near;maxDistance==5;minDistance==1', geometry: 'Point', coordinates: '[1,2]' },
    { georel: 'within', geometry: 'Point', coordinates: '[[[0,0],[1,0],[1,1],[0,1],[0,0]]]' },
  ])
    assert.equal(shapeOf(fields), undefined);
});

it('the radius of a circle is at least a metre, and a whole number', () => {
  for (const [metres, sent] of [
    [0, 1],
    [0.4, 1],
    [1.6, 2],
    [-5, 1],
  ] as const) {
    const { georel } = geoQueryOf({ kind: 'circle', centre: { lon: 0, lat: 0 }, metres });
    assert.equal(georel, `near;maxDistance==${sent}`);
  }
});

it('the degrees of a distance span points that are this far apart', () => {
  for (const at of [0, 40, -60]) {
    const { lat: north, lon: east } = degreesOf(10_000, { lon: 0, lat: at });
    for (const point of [
      { lon: 0, lat: at + north },
      { lon: east, lat: at },
    ])
      assert.ok(Math.abs(metresBetween({ lon: 0, lat: at }, point) - 10_000) < 1);
  }
  // At a pole, all longitudes meet.
  assert.ok(degreesOf(1000, { lon: 0, lat: 90 }).lon < 1);
});

it('distances are those of the Earth, within a hundredth', () => {
  const metres = metresBetween({ lon: -3.7, lat: 40.4 }, { lon: -3.7, lat: 41.4 });
  assert.ok(Math.abs(metres - 111_195) < 1112, String(metres));
});

it('the map has coasts and borders in the right places, and no line goes around the world', async () => {
  const lines = await readWorldLines();
  const points = lines.flatMap((line) => line.points);
  for (const { lon: east, lat: north } of points) assert.ok(Math.abs(east) <= 180 && Math.abs(north) <= 90);
  // Cape Finisterre, the border of France and Spain, Cape Horn and the south of India.
  for (const [east, north] of [
    [-9.3, 43],
    [1.8, 42.4],
    [-67.3, -55.9],
    [77.5, 8],
  ] as const) {
    const nearest = Math.min(...points.map((one) => metresBetween({ lon: east, lat: north }, one)));
    assert.ok(nearest < 80_000, `${east} ${north}: ${nearest}`);
  }
  for (const { points: line } of lines)
    for (const [index, { lon: east }] of line.entries())
      assert.ok(Math.abs(east - (line[index - 1]?.lon ?? east)) < 180);
});

it('a new shape surrounds the entities, whatever their geometries, with some room', () => {
  const at = (type: string, coordinates: unknown) => ({
    location: { type: 'GeoProperty', value: { type, coordinates } },
  });
  const places = placesIn(
    [
      at('Point', [2, 41]),
      at('LineString', [
        [3, 42],
        [9, 9],
      ]),
      at('MultiPolygon', [[[[2.5, 41.5]]]]),
      { location: [at('Point', [2.2, 41.2]).location] },
      {},
      null,
      7,
      { location: 'here' },
      at('Point', ['x']),
    ],
    'location',
  );
  assert.deepEqual(
    places.map(({ lon: east }) => east),
    [2, 3, 2.5, 2.2],
  );
  for (const kind of ['circle', 'box'] as const) {
    const shape = shapeAround(places, kind) ?? assert.fail();
    for (const place of places)
      if (shape.kind === 'circle') assert.ok(metresBetween(shape.centre, place) < shape.metres);
      else
        assert.ok(
          shape.from.lon < place.lon &&
            place.lon < shape.to.lon &&
            shape.from.lat < place.lat &&
            place.lat < shape.to.lat,
        );
    assert.equal(shapeAround([], kind), undefined);
  }
  assert.ok(shapeAround([{ lon: 1, lat: 1 }], 'circle'));
});
