import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type JsonValue, pointerOf } from '../../../../sidecar/shared/json/json.js';
import { Findings } from '../../../../sidecar/ngsi-ld/representation/findings.js';
import {
  checkGeometry,
  geometryInText,
  isGeometry,
} from '../../../../sidecar/ngsi-ld/representation/geometry.js';

const RING = [[0, 0], [1, 0], [1, 1], [0, 0]]; // oxfmt-ignore

const RIGHT: readonly JsonValue[] = [
  { type: 'Point', coordinates: [1, 2] },
  { type: 'Point', coordinates: [1, 2, 400] },
  { type: 'MultiPoint', coordinates: [[1, 2]] },
  { type: 'LineString', coordinates: [[1, 2], [3, 4]] },
  { type: 'MultiLineString', coordinates: [[[1, 2], [3, 4]]] },
  { type: 'Polygon', coordinates: [RING, RING] },
  { type: 'MultiPolygon', coordinates: [[RING], [RING, RING]] },
]; // oxfmt-ignore

function faultsOf(value: JsonValue): readonly string[] {
  const findings = new Findings();
  checkGeometry(value, findings);
  return findings.faults.map(({ tokens, keyword }) => `${pointerOf(tokens)} ${keyword}`);
}

function warningsOf(value: JsonValue): readonly string[] {
  const findings = new Findings();
  checkGeometry(value, findings);
  return findings.warnings.map(({ tokens, code }) => `${pointerOf(tokens)} ${code}`);
}

/** The same geometry with an array in place of one number. */
const deepened = (value: JsonValue): JsonValue =>
  Array.isArray(value)
    ? value.map((item: JsonValue, index) => (index === 0 ? deepened(item) : item))
    : [value];

it('a geometry of every type is valid as an object and as text (clause 4.7.2)', () => {
  for (const geometry of RIGHT) {
    assert.deepEqual(faultsOf(geometry), []);
    assert.deepEqual(faultsOf(JSON.stringify(geometry)), []);
    assert.ok(isGeometry(geometry));
  }
});

it('an object of another type or without coordinates is not a geometry', () => {
  assert.ok(isGeometry({ type: 'GeometryCollection', geometries: [] }));
  for (const other of [{ type: 'Album', geometries: [] }, { type: 'Point' }, { coordinates: [1, 2] }, 5])
    assert.ok(!isGeometry(other), JSON.stringify(other));
});

it('a fault of a geometry is reported at the wrong part', () => {
  const cases: readonly (readonly [JsonValue, string])[] = [
      [5, ' type'],
      [{ coordinates: [1, 2] }, ' required'],
      [{ type: 'Point' }, ' required'],
      [{ type: 'Pont', coordinates: [1, 2] }, '/type enum'],
      [{ type: 'Point', coordinates: [1] }, '/coordinates type'],
      [{ type: 'Point', coordinates: [1, '2'] }, '/coordinates/1 type'],
      [{ type: 'Point', coordinates: [1, 2, null] }, '/coordinates/2 type'],
      [{ type: 'Point', coordinates: [{}, 2] }, '/coordinates/0 type'],
      [{ type: 'Point', coordinates: [[1, 2]] }, '/coordinates type'],
      [{ type: 'Point', coordinates: [[1, 2], [3, 4]] }, '/coordinates type'],
      [{ type: 'MultiPoint', coordinates: [[[1, 2], [3, 4]]] }, '/coordinates/0 type'],
      [{ type: 'Point', coordinates: 5 }, '/coordinates type'],
      [{ type: 'LineString', coordinates: { 0: [1, 2] } }, '/coordinates type'],
      [{ type: 5 }, '/type enum'],
      [{ type: 'GeometryCollection', geometries: {} }, ' required'],
      [{ type: 'MultiPoint', coordinates: [] }, '/coordinates type'],
      [{ type: 'LineString', coordinates: [[1, 2]] }, '/coordinates minItems'],
      [{ type: 'LineString', coordinates: [[1, 2], [3, null], [4, null]] }, '/coordinates/1/1 type'],
      [{ type: 'Polygon', coordinates: RING }, '/coordinates/0/0 type'],
      [{ type: 'Polygon', coordinates: [RING, RING.slice(1)] }, '/coordinates/1 minItems'],
      [{ type: 'Polygon', coordinates: [[...RING.slice(0, 3), [0, 1]]] }, '/coordinates/0 const'],
      [{ type: 'MultiPolygon', coordinates: [[RING], 5] }, '/coordinates/1 type'],
      [{ type: 'GeometryCollection' }, ' required'],
      [{ type: 'GeometryCollection', geometries: [RIGHT[0] ?? null, 5] }, '/geometries/1 type'],
      ['POINT(1 2)', ' type'],
      ['{"type": "Polygon", "coordinates": [[[0, 0], [1, 0]]]}', ' minItems'],
    ]; // oxfmt-ignore
  for (const [geometry, fault] of cases)
    assert.deepEqual(faultsOf(geometry), [fault], JSON.stringify(geometry));
});

it('each number of the first wrong position of a geometry is reported, with the expected value', () => {
  const findings = new Findings();
  checkGeometry({ type: 'LineString', coordinates: [['1', 'x'], ['3', '4']] }, findings); // oxfmt-ignore
  assert.deepEqual(
    findings.faults.map(({ tokens, detail }) => `${pointerOf(tokens)} ${detail}`),
    [
      '/coordinates/0/0 must be a longitude, a number, is "1"',
      '/coordinates/0/1 must be a latitude, a number, is "x"',
    ],
  );
});

it('each of two open rings of a geometry is reported', () => {
  const open = [...RING.slice(0, 3), [0, 1]];
  assert.deepEqual(faultsOf({ type: 'Polygon', coordinates: [open, RING, open] }), [
    '/coordinates/0 const',
    '/coordinates/2 const',
  ]);
});

it('an unusual geometry is accepted with a warning, such as a latitude beyond the poles or a collection', () => {
  assert.deepEqual(warningsOf({ type: 'Point', coordinates: [40, 186] }), ['/coordinates latitude']);
  for (const [latitude, isOdd] of [
    [90, false],
    [-90, false],
    [90.1, true],
    [-90.1, true],
  ] as const) {
    const place = isOdd ? ['/coordinates/1 latitude'] : [];
    assert.deepEqual(warningsOf({ type: 'MultiPoint', coordinates: [[200, 0], [0, latitude]] }), place); // oxfmt-ignore
  }
  assert.deepEqual(warningsOf({ type: 'GeometryCollection', geometries: [] }), [' geometry-collection']);
});

it('a geometry in a string is read with its two members only, and never deeper than its type requires', () => {
  const text = '{"type": "Point", "coordinates": [1, 2], "more": {}}';
  assert.deepEqual(geometryInText(text), { type: 'Point', coordinates: [1, 2] });
  const deep = `{"type": "Point", "coordinates": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  assert.equal(geometryInText(deep), undefined);
  assert.equal(geometryInText('{"type": "Point", "coordinates": [1, [2]]}'), undefined);
  for (const { type, coordinates } of RIGHT as readonly { type: string; coordinates: JsonValue }[]) {
    assert.deepEqual(geometryInText(JSON.stringify({ type, coordinates })), { type, coordinates });
    assert.equal(geometryInText(JSON.stringify({ type, coordinates: deepened(coordinates) })), undefined);
  }
  for (const other of [
    '5',
    '[]',
    '{"type": "Point"}',
    '{"coordinates": [1]}',
    '{"type": "Pont", "coordinates": [1]}',
  ])
    assert.equal(geometryInText(other), undefined, other);
});
