import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConcurrentUpdateError } from '../../sidecar/schemas/models/errors.js';
import { DependencyChangedError, StoreUnavailableError } from '../../sidecar/store/errors.js';
import type { SchemaStore } from '../../sidecar/store/sql-store.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';
import { COMMON_URI } from '../unit/schemas/models/fixtures.js';
import { ALLOWED, BASE_URL, rejection, useRigs } from '../unit/schemas/models/harness.js';

const KEY = { domain: 'city', name: 'Bench' };

describe('writes overtaken by other writes', () => {
  const rigOf = useRigs();

  it('a write starts over when a document changes while the schema is being checked', async (t) => {
    let isChanged = false;
    const meddling = (store: SchemaStore) =>
      storeWith(store, {
        models: over(store.models, {
          create: async (...parameters) => {
            if (!isChanged)
              await store.references.put({
                uri: COMMON_URI,
                source: 'stored',
                text: '{}',
                references: new Set(),
              });
            isChanged = true;
            return store.models.create(...parameters);
          },
        }),
      });
    const { service } = await rigOf(t, { store: meddling });
    await service.references.put(COMMON_URI, { required: ['x'] });
    await service.models.create('city', { name: 'Bench', schema: { $ref: COMMON_URI } });
    const { bytes } = await service.documents.of(KEY, 'bundled', { baseUrl: BASE_URL });
    assert.doesNotMatch(bytes.toString(), /required/);
  });

  it('a write starts over if a document is stored while it is being fetched', async (t) => {
    const uri = `${ALLOWED}/first.json`;
    const meddling = (store: SchemaStore) =>
      storeWith(store, {
        references: over(store.references, {
          put: async (reference, expected) => {
            if (expected === 'absent')
              await store.references.put({ ...reference, source: 'stored', text: '{"minProperties":2}' });
            return store.references.put(reference, expected);
          },
        }),
      });
    const { service, web } = await rigOf(t, { store: meddling });
    web.set(uri, { minProperties: 1 });
    await service.models.create('city', { name: 'Bench', schema: { $ref: uri } });
    const { bytes } = await service.documents.of(KEY, 'bundled', { baseUrl: BASE_URL });
    assert.match(bytes.toString(), /"minProperties":2/);
  });

  it('a write that is overtaken every time fails', async (t) => {
    const failing = (store: SchemaStore) =>
      storeWith(store, {
        models: over(store.models, {
          create: () => Promise.reject(new DependencyChangedError(['urn:a'], [])),
        }),
      });
    const { service } = await rigOf(t, { store: failing });
    await rejection(service.models.create('city', { name: 'Bench', schema: {} }), ConcurrentUpdateError);
  });
});

describe('reads overtaken by writes', () => {
  const rigOf = useRigs();

  for (const kind of ['schema', 'bundled', 'context'] as const) {
    it(`a read overtaken by a write reads the store again: ${kind}`, async (t) => {
      let gone = 0;
      const losing = (store: SchemaStore) =>
        storeWith(store, {
          content: async (sha256) => ((gone -= 1) < 0 ? store.content(sha256) : undefined),
        });
      const { service } = await rigOf(t, { store: losing });
      await service.models.create('city', { name: 'Bench', schema: {} });
      gone = 1;
      assert.notEqual((await service.documents.of(KEY, kind, { baseUrl: BASE_URL })).bytes.length, 0);
      await service.models.put(KEY, { schema: { title: 'other' } });
      gone = 2;
      await rejection(service.documents.of(KEY, 'schema', { baseUrl: BASE_URL }), StoreUnavailableError);
    });
  }
});
