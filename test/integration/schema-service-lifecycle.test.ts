import assert from 'node:assert/strict';
import { InvalidBodyError } from '../../sidecar/shared/errors.js';
import { describe, it } from 'node:test';
import { IncompatibleChangeError, PublishedError } from '../../sidecar/schemas/models/errors.js';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';
import { BASE_URL, changesOf, jsonOf, rejection, useRigs } from '../unit/schemas/models/harness.js';

const KEY = { domain: 'city', name: 'Bench' };
const SEATS = plainSchema({ seats: { type: 'integer' } });
const PLACES = plainSchema({ seats: { type: 'string' } });

describe('putting models', () => {
  const rigOf = useRigs();

  it('PUT of a model updates one that another client creates meanwhile', async (t) => {
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

  it('drafts have one version, which each update replaces with its context, whatever the change', async (t) => {
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

  it('a draft keeps its settings when it is published, and a published model never becomes a draft', async (t) => {
    const { service } = await rigOf(t);
    await service.models.create('city', {
      name: 'Bench',
      schema: SEATS,
      status: 'draft',
      compatibility: 'backward',
    });
    const published = await service.models.put(KEY, { status: 'published' });
    assert.deepEqual(
      [published.outcome, published.model?.model.status, published.number],
      ['settings', 'published', 1],
    );
    await rejection(service.models.put(KEY, { schema: PLACES }), IncompatibleChangeError);
    const next = await service.models.put(KEY, { schema: PLACES, compatibility: 'none' });
    assert.deepEqual([next.outcome, next.number], ['version', 2]);
    await rejection(service.models.put(KEY, { status: 'draft' }), PublishedError);
    await service.models.put(KEY, { status: 'deprecated' });
    await rejection(service.models.put(KEY, { status: 'draft' }), PublishedError);
  });
});

describe('deprecated models', () => {
  const rigOf = useRigs();

  it('deprecated models say since when they are deprecated, until they are published again', async (t) => {
    const { service } = await rigOf(t);
    const sunset = '2999-01-31T00:00:00Z';
    await service.models.create('city', { name: 'Bench', schema: SEATS });
    const first = await service.models.put(KEY, { status: 'deprecated', sunset });
    assert.deepEqual([first.outcome, first.model?.model.sunsetAt], ['settings', Date.parse(sunset)]);
    assert.ok((first.model?.model.deprecatedAt ?? 0) > 0);
    const same = await service.models.put(KEY, { status: 'deprecated', sunset: '2999-01-31T01:00:00+01:00' });
    assert.deepEqual(
      [same.outcome, same.model?.model.deprecatedAt],
      ['unchanged', first.model?.model.deprecatedAt],
    );
    const back = await service.models.put(KEY, { status: 'published', sunset: null });
    assert.deepEqual([back.model?.model.deprecatedAt, back.model?.model.sunsetAt], [undefined, undefined]);
  });

  it('deprecated models refuse a sunset that is not a time, or is before the deprecation', async (t) => {
    const { service } = await rigOf(t);
    await service.models.create('city', { name: 'Bench', schema: SEATS, status: 'deprecated' });
    for (const sunset of ['tomorrow', '2999-01-31', '2999-02-31T25:00:00Z', '1999-01-31T00:00:00Z'])
      await rejection(service.models.put(KEY, { sunset }), InvalidBodyError);
  });
});
