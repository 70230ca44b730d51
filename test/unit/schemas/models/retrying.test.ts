import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OvertakenError } from '../../../../sidecar/schemas/models/errors.js';
import { retrying } from '../../../../sidecar/schemas/models/concurrency.js';
import { DependencyChangedError } from '../../../../sidecar/store/errors.js';
import { rejection } from './harness.js';

describe('writes that others overtake', () => {
  it('a write that another one overtakes starts again from the store', async () => {
    const failures = [new DependencyChangedError(['urn:a'], []), new OvertakenError({})];
    const done = await retrying(async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return 'done';
    });
    assert.equal(done, 'done');
  });

  it('a write that is overtaken is given up after three tries', async () => {
    let tries = 0;
    const failure = new DependencyChangedError([], ['a']);
    const failing = retrying(() => {
      tries += 1;
      return Promise.reject(failure);
    });
    assert.equal((await rejection(failing, OvertakenError)).cause, failure);
    assert.equal(tries, 3);
  });

  it('a write is not tried again for any other reason', async () => {
    let tries = 0;
    const failing = retrying(() => Promise.reject(new RangeError(String((tries += 1)))));
    await rejection(failing, RangeError);
    assert.equal(tries, 1);
  });
});
