import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SELECTION_PARAMETERS } from '../../../../sidecar/purge/query/parameters.js';
import { TIME_PARAMETERS } from '../../../../sidecar/purge/query/index.js';
import { attributeQuery, VALUE_FILTERS } from '../../../../sidecar/purge/temporal/narrowed-queries.js';

const BY_VALUE = [
  ...['q', 'georel', 'geometry', 'coordinates', 'geoproperty', 'geometryProperty'],
  ...['expandValues', 'jsonKeys'],
];
const NAMES = [...SELECTION_PARAMETERS, ...TIME_PARAMETERS, 'datasetId'];
const SELECTION = NAMES.map((name) => ({ name, value: `${name} of the query` }));
const ONE = { entityId: 'urn:t:0', attribute: 'speed' };

describe('the query for one attribute of one entity', () => {
  it('the query for one attribute keeps further filters, and replaces those on entity, attribute and time', () => {
    for (const keepsValues of [true, false]) {
      const query = attributeQuery(SELECTION, ONE, { keepsValues });
      const kept = query.filter(({ value }) => value.endsWith(' of the query')).map(({ name }) => name);
      assert.deepEqual(
        kept.sort(),
        [...(keepsValues ? BY_VALUE : []), 'csf', 'datasetId', 'local', 'type'].sort(),
      );
      assert.deepEqual(query.slice(-2), [
        { name: 'id', value: 'urn:t:0' },
        { name: 'attrs', value: 'speed' },
      ]);
      assert.equal(query.length, kept.length + 2);
    }
  });

  it('the query for one attribute knows every filter by value', () => {
    assert.deepEqual([...VALUE_FILTERS].sort(), [...BY_VALUE].sort());
  });
});
