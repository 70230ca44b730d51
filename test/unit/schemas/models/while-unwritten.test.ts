import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadCache } from '../../../../sidecar/schemas/models/concurrency.js';

/** A store that only returns its revision, and the values that were read, by key. */
function storeOf() {
  const store = { now: 1, revision: async () => String(store.now) };
  const reads: string[] = [];
  const known = new ReadCache<number>(store);
  /** The value of a key is the revision at which it was read. */
  const get = (key: string) =>
    known.get(key, async () => {
      reads.push(key);
      return store.now;
    });
  return { store, reads, known, get };
}

describe('cached values about a store', () => {
  it('a value about a store is read once for each key until the store is changed', async () => {
    const { reads, get } = storeOf();
    for (const key of ['a', 'b', 'a', 'b']) assert.equal(await get(key), 1);
    assert.deepEqual(reads, ['a', 'b']);
  });

  it('a value about a store is read again after any write', async () => {
    const { store, reads, get } = storeOf();
    await get('a');
    store.now = 2;
    assert.deepEqual([await get('a'), await get('a')], [2, 2]);
    assert.deepEqual(reads, ['a', 'a']);
  });

  it('a value about a store is not kept if something was written while it was read', async () => {
    const { store, known, get } = storeOf();
    const first = await known.get('a', async () => {
      store.now = 2;
      await get('b');
      return 1;
    });
    assert.equal(first, 1);
    assert.equal(await get('a'), 2);
  });

  it('a value about a store is not kept if it could not be read', async () => {
    const { known, get } = storeOf();
    await assert.rejects(
      known.get('a', () => Promise.reject(new RangeError('not now'))),
      RangeError,
    );
    assert.equal(await get('a'), 1);
  });

  it('the number of kept values about a store is limited, however many keys are requested', async () => {
    const { reads, get } = storeOf();
    for (let key = 0; key < 1001; key += 1) await get(String(key));
    await get('0');
    assert.equal(reads.length, 1002);
  });
});
