import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  mapInBatches,
  writeIfUnchanged,
  ReadCache,
  WriteQueue,
} from '../../../../sidecar/schemas/models/concurrency.js';
import { ContentGoneError } from '../../../../sidecar/schemas/models/content-store.js';
import { ConcurrentUpdateError } from '../../../../sidecar/schemas/models/errors.js';
import { WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';
import { DependencyChangedError, PreconditionFailedError } from '../../../../sidecar/store/errors.js';
import { Gate } from '../../../support/recording-broker.js';

describe('work on many items', () => {
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

describe('the queue of writes', () => {
  it('a write does not wait for writes of another resource', async () => {
    const queue = new WriteQueue();
    const gate = new Gate();
    const held = queue.run('a', () => gate.passed);
    assert.equal(await queue.run('b', () => Promise.resolve('done')), 'done');
    gate.open();
    await held;
  });

  it('the queue keeps nothing of a resource once its writes are done or have failed', async () => {
    const queue = new WriteQueue();
    const gate = new Gate();
    const done = ['a', 'a', 'b'].map((key) => queue.run(key, () => gate.passed));
    const failed = queue.run('c', () => Promise.reject(new Error('failed')));
    assert.equal(queue.size, 3);
    await assert.rejects(failed, /failed/);
    assert.equal(queue.size, 2);
    gate.open();
    await Promise.all(done);
    assert.equal(queue.size, 0);
  });

  it('a write is refused while a hundred wait, and accepted again when they are done', async () => {
    const queue = new WriteQueue();
    const gate = new Gate();
    const waiting = Array.from({ length: 101 }, () => queue.run('a', () => gate.passed));
    await assert.rejects(
      queue.run('a', () => gate.passed),
      WorkersBusyError,
    );
    gate.open();
    await Promise.all(waiting);
    assert.equal(await queue.run('a', () => Promise.resolve('done')), 'done');
  });
});

describe('an overtaken write', () => {
  const overwritten = () =>
    writeIfUnchanged(() =>
      Promise.reject(new PreconditionFailedError({ kind: 'domain', name: 'City' }, 'other')),
    );

  it('a write that is overtaken three times is given up', async () => {
    const cause = new DependencyChangedError([], ['a']);
    for (const [failure, type] of [
      [() => Promise.reject(cause), ConcurrentUpdateError],
      [overwritten, ConcurrentUpdateError],
      [() => Promise.reject(new ContentGoneError('gone')), ContentGoneError],
    ] as const) {
      let attempts = 0;
      const write = async () => {
        attempts += 1;
        await failure();
      };
      await assert.rejects(new WriteQueue().run('a', write), (thrown) => {
        assert.ok(thrown instanceof type);
        return type === ContentGoneError || thrown.cause !== undefined;
      });
      assert.equal(attempts, 3);
    }
  });

  it('a write that fails for another reason, or because of its expected state, is not repeated', async () => {
    const expectation = new PreconditionFailedError({ kind: 'domain', name: 'City' }, 'other');
    for (const error of [new RangeError('too far'), expectation]) {
      let attempts = 0;
      const write = () => {
        attempts += 1;
        return Promise.reject(error);
      };
      await assert.rejects(new WriteQueue().run('a', write), error);
      assert.equal(attempts, 1);
    }
  });
});

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
