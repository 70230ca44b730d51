import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mapInBatches, ifThere } from '../../../../sidecar/schemas/models/concurrency.js';
import { lifecycleOf, Lifecycles } from '../../../../sidecar/schemas/models/model-schemas.js';
import { NotFoundError } from '../../../../sidecar/store/errors.js';
import type { Model } from '../../../../sidecar/store/records.js';
import type { SchemaStore } from '../../../../sidecar/store/store.js';

const LAMP = { kind: 'model', domain: 'City', name: 'Lamp' } as const;

describe('reads of what may be missing', () => {
  it('what is not there is undefined, and what it would be in has to be there', async () => {
    const read = (error?: Error) =>
      ifThere('model', error === undefined ? Promise.resolve('found') : Promise.reject(error));
    assert.equal(await read(), 'found');
    assert.equal(await read(new NotFoundError(LAMP)), undefined);
    const domain = new NotFoundError({ kind: 'domain', name: 'City' });
    await assert.rejects(read(domain), domain);
  });
});

describe('work on many items', () => {
  it('the items are worked on four at a time, and the results are in their order', async () => {
    let [now, most] = [0, 0];
    const items = Array.from({ length: 11 }, (_, n) => n);
    const results = await mapInBatches(items, async (item) => {
      now += 1;
      most = Math.max(most, now);
      for (let left = item % 3; left >= 0; left -= 1) await Promise.resolve();
      now -= 1;
      return item * 2;
    });
    assert.deepEqual(
      results,
      items.map((item) => item * 2),
    );
    assert.equal(most, 4);
  });

  it('the items that follow a failure are not begun', async () => {
    const begun: number[] = [];
    const work = mapInBatches([0, 1, 2, 3, 4, 5], (item) => {
      begun.push(item);
      return item === 1 ? Promise.reject(new Error('broken')) : Promise.resolve();
    });
    await assert.rejects(work, /broken/);
    assert.deepEqual(begun, [0, 1, 2, 3]);
  });
});

describe('the lifecycles of models', () => {
  const model = {
    ...LAMP,
    status: 'deprecated',
    deprecatedAt: 1,
    sunsetAt: 2,
    etag: 'x',
  } as unknown as Model;
  const lifecycle = { status: 'deprecated', deprecatedAt: 1, sunsetAt: 2 };

  function lifecyclesOf() {
    const reads: string[] = [];
    const store = { now: 1, error: undefined as Error | undefined };
    const lifecycles = new Lifecycles({
      revision: () => Promise.resolve(String(store.now)),
      models: {
        get: ({ domain, name }: { domain: string; name: string }) => {
          reads.push(`${domain}/${name}`);
          if (store.error !== undefined) return Promise.reject(store.error);
          if (name !== 'Lamp') return Promise.reject(new NotFoundError({ kind: 'model', domain, name }));
          return Promise.resolve({ model });
        },
      },
    } as unknown as SchemaStore);
    return { lifecycles, reads, store };
  }

  it('the lifecycle of a model is read once until something is written', async () => {
    const { lifecycles, reads, store } = lifecyclesOf();
    assert.deepEqual(lifecycleOf(model), lifecycle);
    for (let times = 0; times < 2; times += 1) assert.deepEqual(await lifecycles.of(LAMP), lifecycle);
    assert.deepEqual(await lifecycles.ofContext('City~Lamp'), lifecycle);
    assert.deepEqual(reads, ['City/Lamp']);
    store.now = 2;
    await lifecycles.of(LAMP);
    assert.equal(reads.length, 2);
  });

  it('the lifecycle of a context is that of the model it is generated from, and others have none', async () => {
    const { lifecycles, reads, store } = lifecyclesOf();
    for (const name of ['terms', 'City~Lamp~more', 'City~Bench'])
      assert.equal(await lifecycles.ofContext(name), undefined, name);
    assert.deepEqual(reads, ['City/Bench']);
    store.error = new Error('down');
    await assert.rejects(lifecycles.ofContext('City~Lamp'), /down/);
  });
});
