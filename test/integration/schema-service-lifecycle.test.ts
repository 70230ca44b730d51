import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';
import { BASE_URL, changesOf, jsonOf, useRigs } from '../unit/schemas/models/harness.js';

const KEY = { domain: 'city', name: 'Bench' };
const SEATS = plainSchema({ seats: { type: 'integer' } });
const PLACES = plainSchema({ seats: { type: 'string' } });

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

describe('drafts', () => {
  const rigOf = useRigs();

  it('drafts have a single version, which each update replaces with its context, whatever the change', async (t) => {
    const { service, store } = await rigOf(t);
    await service.models.create('city', {
      name: 'Bench',
      schema: SEATS,
      status: 'draft',
      compatibility: 'backward',
    });
    const { version } = await store.models.get(KEY);
    const put = await service.models.put(KEY, { schema: PLACES, contextBase: 'https://other.example/' });
    assert.deepEqual([put.outcome, put.number, put.change.overall], ['replaced', 1, 'breaking']);
    assert.deepEqual(await changesOf(service, KEY), [[1, undefined]]);
    const options = { version: 1, baseUrl: BASE_URL };
    assert.deepEqual(jsonOf(await service.documents.of(KEY, 'schema', options)), PLACES);
    for (const document of [
      await service.documents.of(KEY, 'context', options),
      await service.contexts.document('city~Bench', 1),
    ])
      assert.match(document.bytes.toString(), /"https:\/\/other\.example\/seats"/);
    for (const { sha256 } of [version.schema, version.context])
      assert.equal(await store.content(sha256), undefined, 'nothing is left of what was replaced');
    assert.equal((await service.models.put(KEY, { schema: PLACES })).outcome, 'unchanged');
  });
});
