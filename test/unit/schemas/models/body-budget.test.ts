import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyBudget } from '../../../../sidecar/schemas/models/workbench.js';
import { WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';

/** Work that ends when the test says so. */
function pending() {
  let finish!: () => void;
  let fail!: (reason: Error) => void;
  const promise = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { work: () => promise, finish, fail };
}

describe('the body budget', () => {
  it('the body budget never admits more characters at a time than its limit', async () => {
    const texts = new BodyBudget(10);
    const [one, other] = [pending(), pending()];
    const running = [texts.with('x'.repeat(5), one.work), texts.with('x'.repeat(5), other.work)];
    await assert.rejects(
      texts.with('x', async () => 1),
      WorkersBusyError,
    );
    one.finish();
    await running[0];
    assert.equal(await texts.with('x'.repeat(5), async () => 1), 1);
    other.finish();
    await running[1];
  });

  it('the body budget admits a single text of any length if it is alone', async () => {
    const texts = new BodyBudget(10);
    assert.equal(await texts.with('x'.repeat(100), async () => 1), 1);
  });

  it('the body budget releases the characters of failed work', async () => {
    const texts = new BodyBudget(10);
    for (let n = 0; n < 3; n += 1) {
      const { work, fail } = pending();
      const failing = texts.with('x'.repeat(10), work);
      fail(new Error('failed'));
      await assert.rejects(failing, /failed/);
    }
    assert.equal(await texts.with('x'.repeat(10), async () => 1), 1);
  });
});
