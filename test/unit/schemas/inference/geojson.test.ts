import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  GEOMETRY_TYPES,
  geometryDefinitions,
  geometryTypeOf,
} from '../../../../sidecar/schemas/inference/geojson.js';
import { isArray, isObject, type JsonValue, objectOf } from '../../../../sidecar/shared/json/json.js';
import { resolveReferencesIn } from '../../../../sidecar/schemas/json-schema/linker.js';
import { createValidator } from '../../../support/validator.js';
import { geometries } from './sample-arbitraries.js';

const definitions = objectOf(geometryDefinitions(new Set(GEOMETRY_TYPES)));
const validators = new Map(
  GEOMETRY_TYPES.map((type) => [
    type,
    createValidator(resolveReferencesIn({ $ref: `#/$defs/${type}`, $defs: definitions })),
  ]),
);

describe('a GeoJSON geometry', () => {
  it('a GeoJSON geometry is recognised exactly if the schema of a geometry accepts it, also if it is malformed', () => {
    const spoilt = fc
      .tuple(geometries, fc.nat(), fc.constantFrom<JsonValue>(null, '1', [], 1, 'Point'))
      .map(([geometry, at, put]) => spoil(geometry, at % sizeOf(geometry), put));
    fc.assert(
      fc.property(fc.oneof(geometries, spoilt.filter(isObject)), (geometry) => {
        const accepting = GEOMETRY_TYPES.filter((type) => validators.get(type)?.(geometry).length === 0);
        const recognised = geometryTypeOf(geometry);
        assert.deepEqual(recognised === undefined ? [] : [recognised], accepting);
      }),
      { numRuns: 500 },
    );
  });

  it('a GeoJSON geometry is recognised from its minimum number of positions on', () => {
    const positions = (count: number) => Array.from({ length: count }, () => [1, 2]);
    const least = {
      MultiPoint: { coordinates: positions(0) },
      LineString: { coordinates: positions(2) },
      MultiLineString: { coordinates: [positions(2), positions(2)] },
      Polygon: { coordinates: [positions(4), positions(4)] },
      MultiPolygon: { coordinates: [[positions(4)], [positions(4), positions(4)]] },
    };
    for (const [type, members] of Object.entries(least))
      assert.equal(geometryTypeOf({ type, ...members }), type);
    const fewer: Readonly<Record<string, JsonValue>> = {
      LineString: positions(1),
      MultiLineString: [positions(2), positions(1)],
      Polygon: [positions(4), positions(3)],
      MultiPolygon: [[positions(4)], [positions(4), positions(3)]],
    };
    for (const [type, coordinates] of Object.entries(fewer))
      assert.equal(geometryTypeOf({ type, coordinates }), undefined, type);
  });

  it('a GeoJSON geometry may be a collection of others, but not of collections', () => {
    const collection = (...geometries: readonly JsonValue[]) => ({ type: 'GeometryCollection', geometries });
    const point = { type: 'Point', coordinates: [1, 2] };
    assert.equal(geometryTypeOf(collection()), 'GeometryCollection');
    assert.equal(geometryTypeOf(collection(point, point)), 'GeometryCollection');
    assert.equal(geometryTypeOf(collection(point, collection(point))), undefined);
    assert.equal(geometryTypeOf(collection(point, 1)), undefined);
    for (const type of ['point', 'constructor', 'Feature'])
      assert.equal(geometryTypeOf({ ...point, type }), undefined, type);
  });
});

function sizeOf(value: JsonValue): number {
  if (!isArray(value) && !isObject(value)) return 1;
  return 1 + Object.values<JsonValue>(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 0);
}

/** Puts something else in one place, counted from outside in. */
function spoil(value: JsonValue, at: number, put: JsonValue): JsonValue {
  if (at === 0) return put;
  let left = at - 1;
  const within = (inner: JsonValue): JsonValue => {
    const size = sizeOf(inner);
    const isHere = left >= 0 && left < size;
    const result = isHere ? spoil(inner, left, put) : inner;
    left -= size;
    return result;
  };
  if (isArray(value)) return value.map(within);
  return isObject(value)
    ? objectOf(Object.entries(value).map(([name, inner]) => [name, within(inner)] as const))
    : value;
}
