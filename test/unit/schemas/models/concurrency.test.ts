import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eachOf, ifThere, mapInBatches } from '../../../../sidecar/schemas/models/concurrency.js';
import { NotFoundError } from '../../../../sidecar/store/errors.js';
import type { Page } from '../../../../sidecar/store/index.js';

const LAMP = { kind: 'model', domain: 'City', name: 'Lamp' } as const;

describe('reads of records that may be missing', () => {
  it('a missing record is read as undefined, but a missing parent is an error', async () => {
    const read = (error?: Error) =>
      ifThere('model', error === undefined ? Promise.resolve('found') : Promise.reject(error));
    assert.equal(await read(), 'found');
    assert.equal(await read(new NotFoundError(LAMP)), undefined);
    const domain = new NotFoundError({ kind: 'domain', name: 'City' });
    await assert.rejects(read(domain), domain);
  });
});

describe('work on many items', () => {
  it('all items of a list are read, a thousand at a time', async () => {
    const all = Array.from({ length: 2000 }, (_, n) => n);
    const asked: number[] = [];
    const list = async ({ limit, offset }: Page) => {
      asked.push(offset);
      return Promise.resolve({ items: all.slice(offset, offset + limit), total: all.length });
    };
    const read: number[] = [];
    for await (const item of eachOf(list)) read.push(item);
    assert.deepEqual(read, all);
    assert.deepEqual(asked, [0, 1000]);
  });

  it('items are processed four at a time, and the results are in order', async () => {
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

  it('the items of later batches are not started after a failure', async () => {
    const begun: number[] = [];
    const work = mapInBatches([0, 1, 2, 3, 4, 5], (item) => {
      begun.push(item);
      return item === 1 ? Promise.reject(new Error('broken')) : Promise.resolve();
    });
    await assert.rejects(work, /broken/);
    assert.deepEqual(begun, [0, 1, 2, 3]);
  });
});
