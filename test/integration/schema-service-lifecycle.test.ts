import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';
import { useRigs } from '../unit/schemas/models/harness.js';

const KEY = { domain: 'city', name: 'Bench' };
const SEATS = plainSchema({ seats: { type: 'integer' } });

describe('putting models', () => {
  const rigOf = useRigs();

  it('PUT of a model updates a model that another client creates at the same time', async (t) => {
    let isFirst = true;
    const { service } = await rigOf(t, {
      store: (store) => {
        const create: typeof store.models.create = async (...given) => {
          if (isFirst) await store.models.create(...given);
          isFirst = false;
          return store.models.create(...given);
        };
        return storeWith(store, { models: over(store.models, { create }) });
      },
    });
    const put = await service.models.put(KEY, { schema: SEATS });
    assert.equal(put.outcome, 'unchanged');
  });
});
