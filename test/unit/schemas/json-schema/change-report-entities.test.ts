import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareModels } from '../../../../sidecar/schemas/json-schema/tasks.js';
import type { JsonObject } from '../../../../sidecar/shared/json/json.js';

const text: JsonObject = { type: 'string' };
const PATTERN = '^urn:ngsi-ld:Car:';

/** The content of a report on a model called Car, as `class pointer: detail`. */
function said(before: JsonObject, after: JsonObject): readonly string[] {
  const [old, fresh] = [{ schema: { properties: before } }, { schema: { properties: after } }];
  const { overall, differences } = compareModels(old, fresh, { entityType: 'Car', withWitnesses: true });
  return [overall, ...differences.map((one) => `${one.class} ${one.pointer}: ${one.detail}`)];
}

/** The report on a model whose type is described differently. */
function ofType(before: JsonObject | undefined, after: JsonObject | undefined): readonly string[] {
  const of = (type: JsonObject | undefined) => ({ a: text, ...(type && { type }) });
  return said(of(before), of(after));
}

describe('a change report of the members that every entity has', () => {
  it('an id that is described for the first time is compatible only if every URI satisfies it', () => {
    for (const id of [
      {},
      text,
      { type: 'string', format: 'uri' },
      { anyOf: [{ type: 'string', pattern: PATTERN }, { format: 'uri' }] },
    ])
      assert.equal(said({}, { id })[0], 'compatible', JSON.stringify(id));
    const narrowed = ['narrowing', `narrowing /properties/id/pattern: pattern "${PATTERN}" is new`];
    assert.deepEqual(said({}, { id: { type: 'string', pattern: PATTERN } }), narrowed);
    assert.deepEqual(said({ id: text }, { id: { type: 'string', pattern: PATTERN } }), narrowed);
    assert.equal(said({}, { id: { type: 'number' } })[0], 'breaking');
    // Other members may be missing.
    assert.equal(said({}, { scope: { pattern: PATTERN } })[0], 'compatible');
  });

  it('a type that entities must have is no change if it is their only type anyway', () => {
    for (const before of [undefined, text, { pattern: '^C' }, { enum: ['Car', 'Bus'] }])
      for (const after of [{ const: 'Car' }, { type: 'string', enum: ['Car'] }])
        assert.equal(ofType(before, after)[0], 'compatible', JSON.stringify([before, after]));
    for (const after of [{ pattern: '^B' }, { oneOf: [{ const: 'Bus' }, { const: 'Tram' }] }])
      for (const before of [undefined, text, { const: 'Car' }])
        assert.notEqual(ofType(before, after)[0], 'compatible', JSON.stringify([before, after]));
  });

  it('a schema that no longer requires another type breaks the entities that have it', () => {
    for (const after of [undefined, text, { enum: ['Car', 'Bus'] }, { not: { const: 'Tram' } }]) {
      const [overall, first] = ofType({ const: 'Bus' }, after);
      const pointer = after === undefined ? '' : '/properties/type';
      const detail = 'the type of entities is "Car", was "Bus"';
      assert.deepEqual(
        [overall, first],
        ['breaking', `breaking ${pointer}: ${detail}`],
        JSON.stringify(after),
      );
    }
    assert.equal(ofType({ enum: ['Bus', 'Tram'] }, { enum: ['Bus', 'Tram', 'Bike'] })[0], 'compatible');
    assert.deepEqual(
      ofType({ enum: ['Bus', 'Tram'] }, { enum: ['Car', 'Bus'] })[1],
      ['breaking /properties/type: the type of entities is "Car", was "Bus" or "Tram"'][0],
    );
    // What the new schema itself refuses is reported there, and once.
    assert.equal(ofType({ const: 'Bus' }, { const: 'Tram' }).length, 2);
    assert.equal(ofType({ enum: ['Bus', 'Tram'] }, { enum: ['Bus'] }).length, 2);
    assert.equal(ofType({ const: 'Car' }, text)[0], 'compatible');
  });
});
