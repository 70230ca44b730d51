import assert from 'node:assert/strict';
import { getPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../sidecar/shared/clock.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../sidecar/shared/workers/errors.js';
import { entryBeside, WorkerPool, type PoolOptions } from '../../sidecar/shared/workers/pool.js';
import { workerArguments } from '../../sidecar/shared/workers/slot.js';
import type { BusyTasks } from '../support/busy-worker.js';
import { column } from '../support/columns.js';

const ENTRY = entryBeside('../support/busy-worker', import.meta.url);

function poolFor(t: TestContext, options: Partial<PoolOptions> = {}): WorkerPool<BusyTasks> {
  const roomy = { entry: ENTRY, threads: 2, queueLength: 40, deadlineMs: 60_000 };
  const pool = new WorkerPool<BusyTasks>({ ...roomy, ...options });
  t.after(() => pool.close());
  return pool;
}

/** Timers fire when the test tells them to; the clock records their durations. */
class HandClock {
  #nowMs = 0;
  readonly timers: { readonly ms: number; readonly act: () => void }[] = [];
  /** The number of timers started so far. */
  started = 0;

  readonly startTimer = (ms: number, act: () => void): (() => void) => {
    const timer = { ms, act };
    this.timers.push(timer);
    this.started += 1;
    return () => {
      if (this.timers.includes(timer)) this.timers.splice(this.timers.indexOf(timer), 1);
    };
  };

  get options(): Pick<PoolOptions, 'clock' | 'startTimer'> {
    const clock: Clock = {
      now: () => this.#nowMs,
      monotonicMs: () => this.#nowMs,
      sleep: () => Promise.reject(new Error('It never sleeps.')),
    };
    return { clock, startTimer: this.startTimer };
  }

  /** Waits for a timer and fires it. */
  async endTimer(): Promise<void> {
    // A worker may be starting, and needs the processor more than this loop.
    while (this.timers.length === 0) await pause(1);
    const timer = this.timers.shift();
    this.#nowMs += timer?.ms ?? 0;
    timer?.act();
  }
}

/** Tasks are handed over at the end of the event loop turn in which they arrive. */
const handedOver = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('another worker is started if a task waits and every worker is busy, up to the allowed number', async (t) => {
  const pool = poolFor(t);
  const threads = new Set<number>();
  for (const queueKey of ['a', 'b', 'c', 'd']) threads.add(await pool.run('thread', null, { queueKey }));
  assert.equal(threads.size, 1);
  const end = assert.rejects(pool.run('spin', null, { queueKey: 'a' }), TaskFailedError);
  for (const queueKey of ['b', 'c', 'd']) threads.add(await pool.run('thread', null, { queueKey }));
  assert.equal(threads.size, 2);
  await pool.close();
  await end;
});

it('tasks that never end leave a worker free for other queue keys', async (t) => {
  const pool = poolFor(t);
  const endless = Array.from({ length: 10 }, () => pool.run('spin', null, { queueKey: 'hostile' }));
  const ends = Promise.all(endless.map((task) => assert.rejects(task, TaskFailedError)));
  for (let count = 0; count < 5; count += 1)
    assert.equal(await pool.run('echo', count, { queueKey: `good ${count}` }), count);
  await pool.close();
  await ends;
});

it('queue keys that each lost a worker share a single one, so that new keys do not wait for deadlines', async (t) => {
  const clock = new HandClock();
  const pool = poolFor(t, { ...clock.options, deadlineMs: 1000 });
  const lanes = ['x', 'y', 'z'];
  const first = lanes.map((queueKey) =>
    assert.rejects(pool.run('spin', null, { queueKey }), TaskTooCostlyError),
  );
  const settled = { count: 0 };
  for (const task of first) void task.then(() => (settled.count += 1));
  while (settled.count < 3) {
    if (clock.timers.length > 0) await clock.endTimer();
    else await new Promise((resolve) => setImmediate(resolve));
  }
  const again = lanes.map((queueKey) =>
    assert.rejects(pool.run('spin', null, { queueKey }), TaskFailedError),
  );
  for (let count = 0; count < 5; count += 1)
    assert.equal(await pool.run('echo', count, { queueKey: `good ${count}` }), count);
  await pool.close();
  await Promise.all(again);
});

it('a task waits for only a few deadlines of its queue key', async (t) => {
  const clock = new HandClock();
  const pool = poolFor(t, { ...clock.options, deadlineMs: 1000, queueLength: 40 });
  const first = assert.rejects(
    pool.run('spin', null, { queueKey: 'x', deadlineMs: 11_000 }),
    TaskTooCostlyError,
  );
  const waiting = assert.rejects(pool.run('echo', 1, { queueKey: 'x' }), WorkersBusyError);
  await clock.endTimer();
  await Promise.all([first, waiting]);
  assert.equal(await pool.run('echo', 2, { queueKey: 'x' }), 2);
});

it('a queue key fills at most half of the queue', async (t) => {
  const pool = poolFor(t, { queueLength: 4 });
  const tasks = Array.from({ length: 3 }, () => pool.run('spin', null, { queueKey: 'hostile' }));
  const ends = Promise.all(tasks.map((task) => assert.rejects(task, TaskFailedError)));
  await assert.rejects(pool.run('spin', null, { queueKey: 'hostile' }), (error) => {
    assert.ok(error instanceof WorkersBusyError);
    // The other worker is free.
    assert.match(error.message, /^No worker is free for this task, and \d+ other tasks are waiting\. /);
    return true;
  });
  assert.equal(await pool.run('echo', 1, { queueKey: 'good' }), 1);
  await pool.close();
  await ends;
});

it('the queue key of a task is its kind by default', async (t) => {
  const pool = poolFor(t);
  const ends = [1, 2, 3].map(() => assert.rejects(pool.run('spin', null), TaskFailedError));
  assert.equal(await pool.run('echo', 1), 1);
  await pool.close();
  await Promise.all(ends);
});

it('batched tasks each get their own result, in any combination and order', async (t) => {
  const pool = poolFor(t, { queueLength: 1000 });
  const order = fc.record({
    kind: fc.constantFrom('echo', 'later', 'fail'),
    queueKey: fc.constantFrom('a', 'b', 'c'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(order, { maxLength: 60 }), async (orders) => {
      await Promise.all(
        orders.map(async ({ kind, queueKey }, index) => {
          const task = pool.run(kind, `${index}` as never, { queueKey });
          if (kind !== 'fail') assert.equal(await task, `${index}`);
          else
            await assert.rejects(
              task,
              (error) =>
                error instanceof TaskFailedError &&
                error.cause instanceof RangeError &&
                error.cause.message === `${index}`,
            );
        }),
      );
    }),
    { numRuns: 50 },
  );
});

for (const [kind, bound] of [
  ['spin', 'time'],
  ['strange', undefined],
] as const) {
  it(`a batched task that fails does not affect the others: ${kind}`, async (t) => {
    const pool = poolFor(t, { threads: 1, deadlineMs: 500 });
    for (let count = 0; count < 100; count += 1) await pool.run('echo', count, { queueKey: 'a' });
    const mixed = [1, 2, 3, 4, 5].map((value) => pool.run('echo', value, { queueKey: 'a' }));
    const failing = assert.rejects(pool.run(kind, null, { queueKey: 'a' }), (error) =>
      bound === undefined
        ? error instanceof TaskFailedError
        : error instanceof TaskTooCostlyError && error.bound === bound,
    );
    mixed.push(...[6, 7, 8].map((value) => pool.run('echo', value, { queueKey: 'a' })));
    assert.deepEqual(await Promise.all(mixed), [1, 2, 3, 4, 5, 6, 7, 8]);
    await failing;
  });
}

it('an abandoned task does not cost the worker if it ends within the grace period', async (t) => {
  const clock = new HandClock();
  const pool = poolFor(t, { threads: 1, ...clock.options });
  await pool.run('echo', 0);
  const caller = new AbortController();
  const task = pool.run('later', 1, { signal: caller.signal });
  await handedOver();
  caller.abort(new Error('The caller went away.'));
  await assert.rejects(task, /went away/);
  // No timer fires, so the worker itself must have become free.
  assert.equal(await pool.run('echo', 2), 2);
});

it('an abandoned task that continues is ended together with its worker', async (t) => {
  const clock = new HandClock();
  const pool = poolFor(t, { threads: 1, ...clock.options });
  await pool.run('echo', 0);
  const caller = new AbortController();
  const task = pool.run('spin', null, { signal: caller.signal });
  const next = pool.run('echo', 1);
  await handedOver();
  caller.abort(new Error('The caller went away.'));
  await assert.rejects(task, /went away/);
  assert.ok(clock.timers.every(({ ms }) => ms <= 100));
  await clock.endTimer();
  assert.equal(await next, 1);
});

it('an abandoned task with mayFinish continues if it has started, and is removed if it is waiting', async (t) => {
  const clock = new HandClock();
  const pool = poolFor(t, { threads: 1, ...clock.options, deadlineMs: 60_000 });
  await pool.run('echo', 0);
  const caller = new AbortController();
  const options = { signal: caller.signal, mayFinish: true };
  const tasks = [pool.run('spin', null, options), pool.run('spin', null, options)];
  await handedOver();
  caller.abort(new Error('The caller went away.'));
  for (const task of tasks) await assert.rejects(task, /went away/);
  // The deadline still applies; if the second task ran, there would be two timers.
  assert.deepEqual(column(clock.timers, 'ms'), [60_000]);
  await clock.endTimer();
  assert.equal(await pool.run('echo', 1), 1);
});

it('a task whose signal has already been aborted fails at once', async (t) => {
  const pool = poolFor(t);
  const signal = AbortSignal.abort(new Error('The caller went away.'));
  await assert.rejects(pool.run('echo', 0, { signal }), /went away/);
});

it('when the pool is closed, running and waiting tasks fail once, also if their caller then abandons them', async (t) => {
  const pool = poolFor(t, { threads: 1 });
  await pool.run('echo', 0);
  const caller = new AbortController();
  const tasks = [pool.run('spin', null), pool.run('echo', 1), pool.run('echo', 2, { signal: caller.signal })];
  const ends = tasks.map((task) => assert.rejects(task, TaskFailedError));
  await pool.close();
  await Promise.all(ends);
  caller.abort();
});

it('the deadline of a task does not include the time that a worker takes to load', async (t) => {
  const clock = new HandClock();
  const pool = poolFor(t, { threads: 1, ...clock.options, deadlineMs: 1000 });
  const spinning = assert.rejects(pool.run('spin', null), TaskTooCostlyError);
  const next = pool.run('echo', 1, { queueKey: 'next' });
  assert.equal(clock.timers.length, 0, 'the first worker is still loading');
  await clock.endTimer();
  await spinning;
  assert.equal(clock.timers.length, 0, 'the next worker is still loading');
  assert.equal(await next, 1);
  assert.equal(clock.started, 2);
});

it('ending workers at any moment of their loading does not end the process', async (t) => {
  // A crash would end this test file. The moments are spread over the loading time.
  for (let closing = 0; closing < 12; closing += 1) {
    const pool = poolFor(t, { threads: 2 });
    for (let turn = 0; turn < closing * 400; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await pool.close();
  }
});

it('workers get the module options of this process, and none that they would refuse', () => {
  const kept = (...argv: readonly string[]) => workerArguments(argv);
  assert.deepEqual(kept('--enable-source-maps', '--max-old-space-size=96'), ['--enable-source-maps']);
  assert.deepEqual(kept('--import', 'tsx', '--inspect'), ['--import=tsx']);
  assert.deepEqual(kept('--require=./a.cjs', '--expose-gc'), ['--require=./a.cjs']);
});

it(
  'workers run at a lower priority than the main thread',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const pool = poolFor(t, { threads: 1 });
    const before = getPriority();
    assert.ok((await pool.run('niceness', null)) >= Math.min(19, before + 5));
    assert.equal(getPriority(), before);
  },
);

it('a task for a given thread runs in it, or in another one if that thread is gone', async (t) => {
  const pool = poolFor(t);
  const end = assert.rejects(pool.run('spin', null, { queueKey: 'a', deadlineMs: 300 }), TaskTooCostlyError);
  const free = await pool.run('thread', null, { queueKey: 'b' });
  await end;
  const tasks = ['a', 'b', 'c', 'd', 'e', 'f'].map((queueKey) =>
    pool.run('thread', null, { queueKey, threadId: free }),
  );
  assert.deepEqual([...new Set(await Promise.all(tasks))], [free]);
  assert.equal(pool.load().waiting, 0);
  assert.equal(typeof (await pool.run('thread', null, { threadId: 1_000_000 })), 'number');
});

it('tasks with the same affinity run in the same worker while it is free, whatever their queue keys', async (t) => {
  const pool = poolFor(t);
  const both = new Set<unknown>();
  // Until the second worker has loaded.
  while (both.size < 2)
    for (const thread of await Promise.all(
      ['a', 'b'].map((queueKey) => pool.run('thread', null, { queueKey })),
    ))
      both.add(thread);
  const threads = new Map<string, Set<unknown>>();
  for (const affinity of ['x', 'y', 'x', 'y'])
    for (const queueKey of ['a', 'b', 'c']) {
      const thread = await pool.run('thread', null, { queueKey, affinity });
      threads.set(affinity, (threads.get(affinity) ?? new Set()).add(thread));
    }
  const [one, other] = [...threads.values()].map((all) => [...all]);
  assert.deepEqual([one?.length, other?.length], [1, 1]);
  assert.deepEqual(new Set([...(one ?? []), ...(other ?? [])]), both);
});
