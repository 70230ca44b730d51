import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { overwriting, WriteQueue } from '../../../../sidecar/schemas/models/concurrency.js';
import { ContentGoneError } from '../../../../sidecar/schemas/models/contents.js';
import { OvertakenError } from '../../../../sidecar/schemas/models/errors.js';
import { WorkersBusyError } from '../../../../sidecar/shared/workers/errors.js';
import { DependencyChangedError, PreconditionFailedError } from '../../../../sidecar/store/errors.js';
import { Gate } from '../../../support/recording-broker.js';

describe('the queue of writes', () => {
  it('writes of one resource run one after the other, in order, even after a failure', async () => {
    const queue = new WriteQueue();
    const log: string[] = [];
    const write = (name: string, fails = false) =>
      queue.run('a', async () => {
        log.push(`${name} begins`);
        await turn();
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([write('1'), write('2', true), write('3')]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(log, ['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
  });

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
    overwriting(() => Promise.reject(new PreconditionFailedError({ kind: 'domain', name: 'City' }, 'other')));

  it('a write is repeated if a document, a text or the state that it overwrites has changed', async () => {
    const failures = [
      () => Promise.reject(new DependencyChangedError(['urn:a'], [])),
      overwritten,
      () => Promise.reject(new ContentGoneError('gone')),
    ];
    for (const failure of failures) {
      const left = [failure, failure];
      const write = () => left.shift()?.() ?? Promise.resolve('done');
      assert.equal(await new WriteQueue().run('a', write), 'done');
    }
  });

  it('a write to a changed state is reported as overtaken, with the cause, and other errors are passed on', async () => {
    assert.equal(await overwriting(() => Promise.resolve('done')), 'done');
    const cause = new PreconditionFailedError({ kind: 'domain', name: 'City' }, 'other');
    for (const [error, isExpected] of [
      [cause, (thrown: Error) => thrown instanceof OvertakenError && thrown.cause === cause],
      [new RangeError('too far'), (thrown: Error) => thrown instanceof RangeError],
    ] as const)
      await assert.rejects(
        overwriting(() => Promise.reject(error)),
        isExpected,
      );
  });

  it('a write that is overtaken three times is given up', async () => {
    const cause = new DependencyChangedError([], ['a']);
    for (const [failure, type] of [
      [() => Promise.reject(cause), OvertakenError],
      [overwritten, OvertakenError],
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
