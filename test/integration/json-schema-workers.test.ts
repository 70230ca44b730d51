import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../sidecar/shared/json/json.js';
import type { Tasks } from '../../sidecar/schemas/worker.js';
import {
  TaskFailedError,
  TaskTooCostlyError,
  WorkersBusyError,
} from '../../sidecar/shared/workers/errors.js';
import { entryBeside, WorkerPool, type PoolOptions } from '../../sidecar/shared/workers/pool.js';
import type { BusyTasks } from '../support/busy-worker.js';
import { isThorough } from '../support/thoroughness.js';

const ENTRY = entryBeside('../../sidecar/schemas/worker', import.meta.url);
const HUNGRY = entryBeside('../support/hungry-worker', import.meta.url);
const BUSY = entryBeside('../support/busy-worker', import.meta.url);

interface HungryTasks {
  readonly [kind: string]: (input: never) => unknown;
  readonly fill: (size: number) => number;
  readonly fillMap: (input: null) => number;
  readonly compile: (count: number) => number;
  readonly environment: (input: null) => readonly string[];
  readonly none: (input: number) => number;
}

/**
 * A pool with a single worker, closed after the test. Filling the memory of a worker takes much
 * work.
 */
function poolOf<Tasks extends Record<string, (input: never) => unknown>>(
  t: TestContext,
  entry: URL,
  options: Partial<PoolOptions> = {},
): WorkerPool<Tasks> {
  const pool = new WorkerPool<Tasks>({ threads: 1, queueLength: 8, deadlineMs: 600_000, entry, ...options });
  t.after(() => pool.close());
  return pool;
}

const isOutOfMemory = (error: unknown) => error instanceof TaskTooCostlyError && error.bound === 'memory';

/** A schema whose default is checked against a pattern that backtracks practically forever. */
const ENDLESS: JsonObject = {
  properties: { a: { default: `${'a'.repeat(40)}!`, pattern: '^(a|a)*$' } },
  required: ['a'],
};

describe('work on schemas in workers', () => {
  let workers: WorkerPool<Tasks>;
  before(() => {
    workers = new WorkerPool<Tasks>({ entry: ENTRY, threads: 2, queueLength: 8, deadlineMs: 60_000 });
  });
  after(() => workers.close());

  /**
   * Returns the faults of a schema.
   * @param documents the documents that the schema refers to, by URI
   */
  const faultsOf = async (schema: object, documents: Readonly<Record<string, object>> = {}) => {
    const texts = Object.entries(documents).map(([uri, one]) => [uri, JSON.stringify(one)] as const);
    const outcome = await workers.run('acceptVersion', {
      schema: JSON.stringify(schema),
      documents: new Map(texts),
      model: 'T',
      contextBase: 'https://a.example/',
    });
    if (!('refused' in outcome)) return [];
    assert.equal(outcome.refused.kind, 'schemaInvalid');
    return outcome.refused.errors;
  };

  const compile = async (schema: object) => {
    const text = JSON.stringify(schema);
    const input = { models: [{ key: text, name: 'T' }], schemas: [[text, text]] } as const;
    assert.deepEqual(await workers.run('compileModels', input), { areKept: true });
  };

  it('workers compile chains of references and many properties up to the limits', async () => {
    const links: readonly ((next: JsonObject) => JsonObject)[] = [
      (next) => ({ properties: { next } }),
      (next) => ({ allOf: [next] }),
      (next) => ({ patternProperties: { a: next } }),
    ];
    for (const [at, link] of (isThorough ? links : links.slice(0, 1)).entries()) {
      const $defs: Record<string, JsonObject> = { d990: { type: 'object', minProperties: at } };
      for (let index = 0; index < 990; index += 1)
        $defs[`d${index}`] = link({ $ref: `#/$defs/d${index + 1}` });
      const schema = { $ref: '#/$defs/d0', $defs };
      assert.deepEqual(await faultsOf(schema), []);
      await compile(schema);
    }
    if (!isThorough) return;
    const properties = Object.fromEntries(
      Array.from({ length: 1900 }, (_, index) => [`p${index}`, { type: 'string', pattern: `^${index}` }]),
    );
    assert.deepEqual(await faultsOf({ properties }), []);
    await compile({ properties });
  });

  it('workers compile a large definition once, however many references lead to it', async () => {
    const numbered = (count: number, one: (index: number) => JsonObject) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, one(index)]));
    const large = { properties: numbered(500, (maxLength) => ({ type: 'string', maxLength })) };
    const properties = numbered(500, () => ({ $ref: '#/$defs/large' }));
    await compile({ properties, $defs: { large } });
  });

  it('workers do not block the calling thread while a pattern backtracks or a large schema is compiled', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 600 }, (_, index) => [
        `p${index}`,
        { type: 'string', format: 'uri', pattern: `${index}` },
      ]),
    );
    const work = await Promise.all([
      turnsDuring(faultsOf({ properties })),
      turnsDuring(
        assert.rejects(
          workers.run(
            'makeExample',
            { schema: JSON.stringify(ENDLESS), entityType: 'T' },
            { deadlineMs: 80 },
          ),
          TaskTooCostlyError,
        ),
      ),
    ]);
    // A blocked thread takes only a turn or two.
    for (const turns of work) assert.ok(turns > 20, `${turns} turns`);
  });
});

it('the pool of workers ends a task past its deadline, which counts from the start of the task, and runs the next one in a new worker', async (t) => {
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const startTimer = (ms: number, act: () => void) => {
    timers.push({ ms, act });
    return () => undefined;
  };
  const clock = { now: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() };
  const workers = poolOf<BusyTasks>(t, BUSY, { clock, startTimer });
  const begun = () => timers.map(({ ms }) => ms);
  const first = workers.run('spin', null, { deadlineMs: 7 });
  const second = workers.run('echo', 1, { deadlineMs: 8 });
  await untilTrueSoon(() => timers.length === 1);
  assert.deepEqual(begun(), [7]);
  timers[0]?.act();
  await assert.rejects(first, (error) => error instanceof TaskTooCostlyError && error.bound === 'time');
  assert.equal(await second, 1);
  assert.deepEqual(begun(), [7, 8]);
});

it('the pool of workers gives tasks that share their time one time limit together', async (t) => {
  const timers: { readonly ms: number; readonly act: () => void }[] = [];
  const startTimer = (ms: number, act: () => void) => {
    timers.push({ ms, act });
    return () => undefined;
  };
  const clock = { now: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() };
  const workers = poolOf<BusyTasks>(t, BUSY, { clock, startTimer, deadlineMs: 100 });
  const isLate = (error: unknown) => error instanceof TaskTooCostlyError && error.bound === 'time';
  const time = { usedMs: 60 };
  const part = workers.run('spin', null, { time, share: 0.25 });
  await untilTrueSoon(() => timers.length === 1);
  timers[0]?.act();
  await assert.rejects(part, isLate);
  assert.deepEqual([timers[0]?.ms, time.usedMs], [10, 70]);

  assert.equal(await workers.run('echo', 1, { time }), 1);
  assert.ok(time.usedMs > 70 && time.usedMs < 100, `${time.usedMs} ms`);
  const leftMs = 100 - time.usedMs;
  const last = workers.run('spin', null, { time });
  await untilTrueSoon(() => timers.length === 3);
  timers[2]?.act();
  await assert.rejects(last, isLate);
  assert.ok(Math.abs((timers[2]?.ms ?? 0) - leftMs) < 1e-6);
  await assert.rejects(workers.run('echo', 1, { time }), isLate);
  assert.equal(timers.length, 3, 'no worker was given the last one');
});

it('the pool of workers refuses a task if all workers are busy and the queue is full', async (t) => {
  const workers = poolOf<BusyTasks>(t, BUSY, { queueLength: 1 });
  const endless = [workers.run('spin', null), workers.run('spin', null)];
  await assert.rejects(workers.run('echo', 1), WorkersBusyError);
  const ends = endless.map((task) => assert.rejects(task, TaskFailedError));
  await workers.close();
  await Promise.all(ends);
});

it('the pool of workers drops a task whose caller disconnects, whether waiting or running', async (t) => {
  const workers = poolOf<BusyTasks>(t, BUSY);
  const caller = new AbortController();
  const tasks = [1, 2].map(() => workers.run('spin', null, { signal: caller.signal }));
  const ends = tasks.map((task) => assert.rejects(task, /went away/));
  caller.abort(new Error('The caller went away.'));
  await Promise.all(ends);
  assert.equal(await workers.run('echo', 1), 1);
});

it('the pool of workers keeps no code of schemas that are no longer used', async (t) => {
  const workers = poolOf<HungryTasks>(t, HUNGRY);
  const bytes = await workers.run('compile', 75);
  // The code of each has some 15 kB.
  assert.ok(bytes < 4_000, `${bytes} bytes for each schema`);
});

it('the pool of workers reports a task that took too much memory, and queues fewer tasks with its queue key', async (t) => {
  const workers = poolOf<HungryTasks>(t, HUNGRY, { threads: 3, queueLength: 2 });
  await assert.rejects(workers.run('fill', Infinity), isOutOfMemory);
  const tasks = [1, 2].map((size) => workers.run('fill', size));
  await assert.rejects(workers.run('fill', 3), WorkersBusyError);
  assert.deepEqual(await Promise.all(tasks), [1, 2]);
});

// Filling a Map to its limit takes seconds.
if (isThorough)
  it('the pool of workers survives a task that fills a Map without end, whose single allocations are large', async (t) => {
    const workers = poolOf<HungryTasks>(t, HUNGRY);
    await assert.rejects(workers.run('fillMap', null), isOutOfMemory);
    assert.equal(await workers.run('fill', 3), 3);
  });

it('the pool of workers reports the cause of a failed task, and hides the environment from workers', async (t) => {
  process.env['SECRET_OF_THE_TEST'] = 'x';
  t.after(() => delete process.env['SECRET_OF_THE_TEST']);
  const workers = poolOf<HungryTasks>(t, HUNGRY);
  await assert.rejects(workers.run('fill', -1), (error) => {
    assert.ok(error instanceof TaskFailedError && error.cause instanceof Error);
    return /negative/.test(error.cause.message);
  });
  await assert.rejects(workers.run('none', 1), TaskFailedError);
  assert.ok(!(await workers.run('environment', null)).includes('SECRET_OF_THE_TEST'));
});

it('the pool of workers fails its tasks if no worker can be started or if it is closed', async (t) => {
  const workers = poolOf<BusyTasks>(t, new URL('./no-such-module.js', import.meta.url));
  for (let count = 0; count < 3; count += 1) await assert.rejects(workers.run('echo', 1), TaskFailedError);
  await workers.close();
  await assert.rejects(workers.run('echo', 1), TaskFailedError);
});

/** Returns how many turns the event loop takes until the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  const state = { isDone: false };
  const done = work.finally(() => {
    state.isDone = true;
  });
  while (!state.isDone) {
    // A few hundred turns show enough; more would take the processor from the worker.
    await (turns < 300 ? nextTurn() : pause(1));
    turns += 1;
  }
  await done;
  return turns;
}

async function untilTrueSoon(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(1);
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
