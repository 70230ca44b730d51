import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TaskFailedError, TaskTooCostlyError } from '../../../../sidecar/shared/workers/errors.js';
import { isOutOfMemory, Task } from '../../../../sidecar/shared/workers/task.js';

const outOfMemory = () => Object.assign(new Error('heap'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });

/** A task, and each outcome that its caller got. */
function taskOf() {
  const ends: (readonly ['resolved' | 'rejected', unknown])[] = [];
  const task = new Task({
    kind: 'infer',
    input: 7,
    queueKey: 'a model',
    deadlineMs: 2000,
    since: 5,
    resolve: (value) => ends.push(['resolved', value]),
    reject: (error) => ends.push(['rejected', error]),
  });
  return { task, ends };
}

/** A signal that counts its listeners. */
function countingSignal() {
  const listeners = new Set<() => void>();
  return {
    listeners,
    signal: {
      aborted: false,
      reason: new Error('gone'),
      addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
      removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener),
    },
  };
}

it('a task sends its kind and input to the worker, and nothing else', () => {
  const { task } = taskOf();
  assert.deepEqual(task.job, { kind: 'infer', input: 7 });
  assert.deepEqual([task.queueKey, task.deadlineMs, task.since, task.isOver], ['a model', 2000, 5, false]);
});

it('a task returns the value of its worker, even if that is undefined', () => {
  for (const value of [{ a: 1 }, undefined]) {
    const { task, ends } = taskOf();
    task.settle({ value, ms: 1, usedMs: 1 });
    assert.deepEqual(ends, [['resolved', value]]);
    assert.equal(task.isOver, true);
  }
});

it('a task fails with the error of its worker as the cause, or without any outcome', () => {
  const { task, ends } = taskOf();
  const error = new Error('thrown');
  task.settle({ error, ms: 1, usedMs: 1 });
  const [[, failure] = []] = ends;
  assert.ok(failure instanceof TaskFailedError);
  assert.match(failure.message, /infer/);
  assert.equal(failure.cause, error);
  const other = taskOf();
  other.task.settle(undefined);
  assert.ok(other.ends[0]?.[1] instanceof TaskFailedError);
});

it('a task says whether it took too much time or too much memory, and time is reported first', () => {
  const { task } = taskOf();
  const bound = (error: unknown) => (error instanceof TaskTooCostlyError ? error.bound : undefined);
  assert.equal(bound(task.failure(undefined, true)), 'time');
  assert.match(task.failure(undefined, true).message, /2000 ms/);
  assert.equal(bound(task.failure(outOfMemory())), 'memory');
  assert.equal(bound(task.failure(outOfMemory(), true)), 'time');
  assert.equal(bound(task.failure(new Error('x'))), undefined);
  for (const cause of [undefined, new Error('x'), 'ERR_WORKER_OUT_OF_MEMORY'])
    assert.ok(!isOutOfMemory(cause));
});

it('an aborted task fails with the reason of its signal, and is over when the callback runs', () => {
  const { task, ends } = taskOf();
  const { signal, listeners } = countingSignal();
  const told: boolean[] = [];
  task.failOnAbort(signal, () => told.push(task.isOver));
  for (const listener of listeners) listener();
  assert.deepEqual(ends, [['rejected', signal.reason]]);
  assert.deepEqual(told, [true]);
});

it('a task leaves no listener on its signal, however it ends', () => {
  for (const end of [
    (task: Task) => task.settle({ value: 1, ms: 1, usedMs: 1 }),
    (task: Task) => task.settle({ error: new Error('x'), ms: 1, usedMs: 1 }),
    (task: Task) => task.settle(undefined),
    (task: Task) => task.fail(new Error('x')),
  ]) {
    const { task } = taskOf();
    const { signal, listeners } = countingSignal();
    task.failOnAbort(signal, () => assert.fail('was not given up'));
    assert.equal(listeners.size, 1);
    end(task);
    assert.equal(listeners.size, 0);
  }
});
