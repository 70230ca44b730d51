import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConcurrentUpdateError } from '../../sidecar/schemas/models/errors.js';
import type { SchemaService } from '../../sidecar/schemas/models/index.js';
import { PreconditionFailedError } from '../../sidecar/store/errors.js';
import { plainSchema } from '../unit/schemas/models/fixtures.js';
import { changesOf, rejection, storedModel, useRigs, written } from '../unit/schemas/models/harness.js';
import { over, storeWith } from '../unit/schemas/models/meddling.js';

const KEY = { domain: 'city', name: 'Bench' };

const SEATS = plainSchema({ seats: { type: 'integer' } });
const NARROWING = plainSchema({ seats: { type: 'integer', maximum: 9 } });
const BREAKING = plainSchema({ seats: { type: 'string' } });

function create(service: SchemaService) {
  return written(service.models.create('city', { name: 'Bench', schema: SEATS }));
}

const rigOf = useRigs();

it('concurrent updates are made one after the other, and each is compared with the version before it', async (t) => {
  const { service } = await rigOf(t);
  await create(service);
  const updates = await Promise.all([
    service.models.put(KEY, { schema: NARROWING }),
    service.models.put(KEY, { schema: BREAKING }),
  ]);
  assert.deepEqual(updates.map(({ number }) => number).sort(), [2, 3]);
  const current = await storedModel(service, KEY);
  assert.deepEqual(updates.find(({ number }) => number === 3)?.model, current);
  assert.deepEqual(
    (await changesOf(service, KEY)).map(([, change]) => change),
    updates[0].number === 2 ? [undefined, 'narrowing', 'breaking'] : [undefined, 'breaking', 'breaking'],
  );
});

it('of two concurrent updates that expect the same state, one fails', async (t) => {
  const { service, tasks } = await rigOf(t);
  const { etag } = (await create(service)).model;
  const updates = await Promise.allSettled([
    service.models.put(KEY, { schema: NARROWING }, { expected: [etag] }),
    service.models.put(KEY, { schema: BREAKING }, { expected: ['other', etag] }),
  ]);
  const failed = updates.filter(({ status }) => status === 'rejected');
  assert.equal(failed.length, 1);
  assert.ok((failed[0] as PromiseRejectedResult).reason instanceof PreconditionFailedError);
  assert.equal((await storedModel(service, KEY)).version.number, 2);
  const before = tasks.length;
  await rejection(service.models.put(KEY, { schema: {} }, { expected: [etag] }), PreconditionFailedError);
  assert.equal(tasks.length, before, 'a state that is gone is told before any work');
});

it('an update fails if other updates always come first', async (t) => {
  let others = 0;
  const { service } = await rigOf(t, {
    store: (store) =>
      storeWith(store, {
        models: over(store.models, {
          update: async (key, update, ifMatch) => {
            const description = `${(others += 1)} others`;
            await store.models.update(key, { settings: { compatibility: 'none', description } });
            return store.models.update(key, update, ifMatch);
          },
        }),
      }),
  });
  await create(service);
  await rejection(service.models.put(KEY, { schema: NARROWING }), ConcurrentUpdateError);
  assert.equal((await storedModel(service, KEY)).version.number, 1);
});
