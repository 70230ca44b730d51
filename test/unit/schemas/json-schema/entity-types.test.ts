import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entityTypes } from '../../../../sidecar/schemas/json-schema/attributes.js';
import type { JsonValue } from '../../../../sidecar/shared/json/json.js';

describe('the types of entities', () => {
  const cases: readonly (readonly [listed: readonly JsonValue[] | undefined, types: readonly string[]])[] = [
    [undefined, ['Car']],
    [['Car'], ['Car']],
    [['Vehicle', 'Car'], ['Car']],
    [
      ['Vehicle', 'Van', 'Vehicle'],
      ['Vehicle', 'Van'],
    ],
    [
      [['Vehicle', 'Van'], 'Van'],
      ['Vehicle', 'Van'],
    ],
    [[['Vehicle', 'Car']], ['Car']],
    [[['Vehicle', 7], null], ['Vehicle']],
    [[], ['Car']],
    [[null, 7], ['Car']],
  ];
  for (const [listed, types] of cases)
    it(`the types of entities of the model Car are ${types.join(' and ')} if its schema lists ${JSON.stringify(listed ?? 'none')}`, () => {
      assert.deepEqual(entityTypes('Car', listed), types);
    });
});
