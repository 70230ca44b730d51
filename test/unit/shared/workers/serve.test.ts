import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type JobResult, runAll } from '../../../../sidecar/shared/workers/tasks.js';
import { RunningBatch, type WorkerSlot } from '../../../../sidecar/shared/workers/slot.js';
import { Task } from '../../../../sidecar/shared/workers/task.js';

it('jobs are run one after the other, and each has its own outcome and time', async () => {
  const order: string[] = [];
  const tasks = {
    double: async (input: number) => {
      order.push(`begin ${input}`);
      await Promise.resolve();
      order.push(`end ${input}`);
      return 2 * input;
    },
    fail: () => {
      throw new TypeError('no');
    },
  };
  const jobs = [
    { kind: 'double', input: 1 },
    { kind: 'fail', input: 0 },
    { kind: 'toString', input: 0 },
    { kind: 'double', input: 2 },
  ];
  const outcomes = await runAll(jobs, new Map(Object.entries(tasks)));
  assert.deepEqual(order, ['begin 1', 'end 1', 'begin 2', 'end 2']);
  const shortly = (outcome: JobResult) =>
    'value' in outcome ? outcome.value : `${outcome.error.name}: ${outcome.error.message}`;
  assert.deepEqual(outcomes.map(shortly), [2, 'TypeError: no', 'Error: No task is called toString.', 4]);
  for (const { ms, usedMs } of outcomes) assert.ok(ms > 0 && usedMs > 0);
});

/** A batch of tasks with these deadlines, on a clock that only the test moves. */
function batchOf(...deadlinesMs: readonly number[]) {
  let nowMs = 0;
  const timers = new Set<{ readonly dueMs: number; readonly act: () => void }>();
  const startTimer = (ms: number, act: () => void) => {
    const timer = { dueMs: nowMs + ms, act };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  let ended = 0;
  let finish: (outcomes: readonly JobResult[]) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  let processorMs: number | undefined;
  const slot: Pick<WorkerSlot, 'run' | 'end' | 'thread'> = {
    thread: '1',
    run: () =>
      new Promise<readonly JobResult[]>((resolve, reject) => {
        finish = resolve;
        fail = reject;
      }),
    end: () => {
      ended += 1;
      fail(new Error('ended'));
    },
  };
  const tasks = deadlinesMs.map(
    (deadlineMs) =>
      new Task({
        kind: 'k',
        input: 1,
        queueKey: 'q',
        deadlineMs,
        since: 0,
        resolve: () => undefined,
        reject: () => undefined,
      }),
  );
  const batch = new RunningBatch({ queueKey: 'q', tasks }, slot as WorkerSlot, startTimer, () => processorMs);
  return {
    batch,
    result: batch.execute(),
    finish: (outcomes: readonly JobResult[]) => finish(outcomes),
    fail: (error: unknown) => fail(error),
    ended: () => ended,
    /** @param ofProcessor the processor time that the worker gets meanwhile, if the system reports it */
    pass: async (ms: number, ofProcessor?: number) => {
      nowMs += ms;
      if (ofProcessor !== undefined) processorMs = (processorMs ?? 1000) + ofProcessor;
      for (const timer of timers) if (timer.dueMs <= nowMs && timers.delete(timer)) timer.act();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('a batch returns the outcomes of its tasks, and its worker is not ended later', async () => {
  const { result, finish, pass, ended } = batchOf(100);
  const outcomes = [{ value: 7, ms: 1, usedMs: 1 }];
  finish(outcomes);
  assert.deepEqual(await result, { outcomes });
  await pass(1000);
  assert.equal(ended(), 0);
});

it('a batch is ended, with its worker, at the shortest deadline of its tasks', async () => {
  const { result, pass, ended } = batchOf(300, 100, 200);
  await pass(99);
  assert.equal(ended(), 0);
  await pass(1);
  assert.equal(ended(), 1);
  const late = await result;
  assert.ok('cause' in late && late.isLate);
});

it('time in which a worker waits for the processor does not count towards the deadline of its batch', async () => {
  const { result, pass, ended } = batchOf(100);
  await pass(5, 1);
  await pass(95, 19);
  // The time before the first check counts in full.
  for (let rest = 76; rest > 5; rest -= 19) {
    assert.equal(ended(), 0, `with ${rest} ms left`);
    await pass(rest, 19);
  }
  assert.equal(ended(), 1);
  const late = await result;
  assert.ok('cause' in late && late.isLate);
});

it('a batch is ended after four deadlines, but not before a second, even if its worker got no processor time', async () => {
  for (const [deadlineMs, mostMs] of [
    [500, 2000],
    [50, 1000],
  ] as const) {
    const { pass, ended } = batchOf(deadlineMs);
    const stepMs = deadlineMs / 10;
    let passed = 0;
    for (; ended() === 0; passed += stepMs) await pass(stepMs, 0);
    assert.ok(passed >= mostMs && passed <= mostMs + deadlineMs, String(passed));
  }
});

it('a batch whose worker is lost before the deadline is not late', async () => {
  const { result, fail, pass, ended } = batchOf(100);
  const cause = new Error('lost');
  fail(cause);
  assert.deepEqual(await result, { cause, isLate: false });
  await pass(1000);
  assert.equal(ended(), 0);
});

it('a batch with a grace period is ended after this period, instead of at its deadline', async () => {
  for (const [deadlineMs, graceMs] of [
    [1000, 100],
    [50, 100],
  ] as const) {
    const { batch, result, pass, ended } = batchOf(deadlineMs);
    batch.endWithin(graceMs);
    await pass(graceMs - 1);
    assert.equal(ended(), 0);
    await pass(1);
    assert.equal(ended(), 1);
    await result;
    await pass(2000);
    assert.equal(ended(), 1);
  }
});
