import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TextsInFlight } from '../../../../sidecar/schemas/workbench/create-workbench.js';
import { WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';

/** Work that ends when it is told to. */
function pending() {
  let finish!: () => void;
  let fail!: (reason: Error) => void;
  const promise = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { work: () => promise, finish, fail };
}

describe('texts in flight', () => {
  it('never have more characters together than the bound', async () => {
    const texts = new TextsInFlight(10);
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

  it('may be one alone of any length', async () => {
    const texts = new TextsInFlight(10);
    assert.equal(await texts.with('x'.repeat(100), async () => 1), 1);
  });

  it('are counted no more once their work has failed', async () => {
    const texts = new TextsInFlight(10);
    for (let n = 0; n < 3; n += 1) {
      const { work, fail } = pending();
      const failing = texts.with('x'.repeat(10), work);
      fail(new Error('failed'));
      await assert.rejects(failing, /failed/);
    }
    assert.equal(await texts.with('x'.repeat(10), async () => 1), 1);
  });
});
