import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Lease } from '../../../sidecar/jobs/live-job.js';
import { LeaseKeeper, type LeaseKeeperOptions } from '../../../sidecar/jobs/lease-keeper.js';
import { LivePurge } from '../../../sidecar/jobs/live-purge.js';
import { JobRegistry } from '../../../sidecar/jobs/registry.js';
import { PurgeStoppedError } from '../../../sidecar/purge/errors.js';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import type { HeldJob, PurgeRecord, TakenJob } from '../../../sidecar/store/job-records.js';
import { createTestClock } from '../../support/purge-harness.js';
import { purgeOf } from '../../support/store-contract-purges.js';
import { leaseOf, recordOf } from '../../support/purge-service.js';

const LEASE_MS = 10_000;

const jobOf = (id: string): TakenJob => ({
  record: recordOf({ id }),
  job: { headers: {} },
  lease: 7,
  request: undefined,
});

/**
 * A keeper of a process that shares its store, its calls of the store and of its process, and a clock that only the test moves.
 */
function keeperOf(more: Partial<LeaseKeeperOptions> = {}) {
  const state = {
    nowMs: 0,
    isAway: false,
    renewMs: 0,
    takeMs: 0,
    jobs: [] as TakenJob[],
    held: [] as readonly HeldJob[],
    pending: new Set<string>(),
    ended: new Set<string>(),
    renewed: undefined as Promise<void> | undefined,
  };
  const registry = new JobRegistry(4);
  const told: string[] = [];
  const takesLapsed: boolean[] = [];
  const tell = (what: string) => {
    told.push(what);
    if (state.isAway) throw new StoreUnavailableError('The database is away.');
  };
  const enter = (record: PurgeRecord, lease: Lease) => {
    registry.enter(new LivePurge(record, lease, createTestClock(), () => {}));
    return lease;
  };
  const keeper = new LeaseKeeper({
    registry,
    store: {
      get: async (id) => {
        tell(`get ${id}`);
        if (id === 'unwritten') return undefined;
        return recordOf({ id, state: state.ended.has(id) ? 'interrupted' : 'running' });
      },
      release: async ({ id, lease }) => tell(`release ${id} ${String(lease)}`),
      releaseOthers: async (holder) => tell(`release others than ${holder}`),
      requeue: async ({ broker, takesLapsed, takesWaiting }) => {
        tell(`requeue ${broker} ${String(takesLapsed)} ${String(takesWaiting)}`);
        return [];
      },
      renew: async () => {
        tell('renew');
        state.nowMs += state.renewMs;
        await state.renewed;
        return state.held;
      },
      take: async (options) => {
        tell('take');
        takesLapsed.push(options.takesLapsed);
        state.nowMs += state.takeMs;
        return state.jobs.shift();
      },
    },
    holder: 'h',
    leaseMs: LEASE_MS,
    isStoreShared: true,
    clock: { monotonicMs: () => state.nowMs },
    begin: ({ record }, lease) => {
      told.push(`begin ${record.id}`);
      enter(purgeOf(record), lease);
    },
    grant: (id, request) => told.push(`grant ${id} ${JSON.stringify(request)}`),
    isPending: (id) => state.pending.has(id),
    requeued: () => assert.fail('nothing goes back into the queue'),
    onRequeued: () => assert.fail('nothing went back into the queue'),
    ...more,
  });
  const since = async (act: () => unknown) => {
    told.length = 0;
    await act();
    for (let index = 0; index < 10; index += 1) await turn();
    return [...told];
  };
  /** Adds a purge whose caller waits. */
  const hold = (id: string) => enter(recordOf({ id }), keeper.lease());
  const leaseIn = (id: string) => registry.get(id)?.lease ?? assert.fail(`${id} does not run`);
  /** Whether at this time the keeper would take jobs of others whose leases have ended. */
  const takesLapsedAt = async (nowMs: number) => {
    state.nowMs = nowMs;
    await keeper.poll();
    return takesLapsed.at(-1);
  };
  return { keeper, registry, state, told, since, hold, leaseIn, takesLapsedAt };
}

const timed = (number: number) => {
  const time = { ms: 0, asked: 0 };
  const ask = async () => void (time.asked += 1);
  return { time, lease: leaseOf(number, { untilMs: 1000, clock: { monotonicMs: () => time.ms }, ask }) };
};

it('a job sends no delete from the last millisecond of its lease on, and is stopped', () => {
  const { lease, time } = timed(1);
  time.ms = 999;
  void lease.check();
  assert.equal(lease.lost.aborted, false);
  time.ms = 1000;
  assert.throws(() => lease.check(), PurgeStoppedError);
  assert.deepEqual([lease.lost.aborted, lease.isTaken], [true, false]);
});

it('a renewed lease is valid until its new end, and a lease that was given up is never valid again', () => {
  const { lease, time } = timed(1);
  time.ms = 1500;
  lease.renew(2000);
  assert.equal(lease.isValid, true);
  time.ms = 2000;
  assert.equal(lease.isValid, false);
  for (const giveUp of ['expire', 'markTaken'] as const) {
    const { lease } = timed(1);
    lease[giveUp]();
    lease.renew(5000);
    assert.deepEqual(
      [lease.isValid, lease.isTaken, lease.lost.aborted],
      [false, giveUp === 'markTaken', true],
    );
    assert.throws(() => lease.check(), PurgeStoppedError);
  }
});

it('a purge whose caller waits asks the store once a second after its lease has ended, and continues until the store says that it was ended', async () => {
  const { lease, time } = timed(0);
  for (const [ms, asked] of [
    [999, 0],
    [1000, 1],
    [1001, 1],
    [1999, 1],
    [2000, 2],
    [2999, 2],
    [3000, 3],
  ] as const) {
    time.ms = ms;
    await lease.check();
    assert.equal(time.asked, asked, `${String(ms)} ms`);
  }
  assert.equal(lease.lost.aborted, false);
  lease.markTaken();
  assert.throws(() => lease.check(), PurgeStoppedError);
  assert.equal(time.asked, 3);
});

it('a renewed lease counts from the time of the request to the store, however late the answer', async () => {
  const { keeper, state, hold } = keeperOf();
  const lease = hold('a');
  state.held = [{ id: 'a', lease: 0, request: undefined }];
  state.nowMs = 5000;
  state.renewMs = 4000;
  await keeper.poll();
  assert.equal(state.nowMs, 9000);
  state.nowMs = 5000 + LEASE_MS - 1;
  assert.equal(lease.isValid, true);
  state.nowMs = 5000 + LEASE_MS;
  assert.equal(lease.isValid, false);
});

it('lapsed jobs of others are taken only after a whole lease without an outage of the store or a pause of this process', async () => {
  const { keeper, state, takesLapsedAt } = keeperOf();
  for (const [nowMs, expected] of [
    [0, false],
    [5000, false],
    [9999, false],
    [10_000, true],
  ] as const)
    assert.equal(await takesLapsedAt(nowMs), expected, String(nowMs));
  state.isAway = true;
  await keeper.poll();
  state.isAway = false;
  for (const [nowMs, expected] of [
    [11_000, false],
    [20_000, false],
    [21_000, true],
    // This process was stopped, so the others get time to renew.
    [31_000, false],
    [40_000, false],
    [41_000, true],
  ] as const)
    assert.equal(await takesLapsedAt(nowMs), expected, String(nowMs));
});

it('a process takes jobs one after the other until none waits, each with a lease from the time of the request', async () => {
  const { keeper, registry, state, since, leaseIn } = keeperOf();
  state.jobs = [jobOf('a'), jobOf('b')];
  assert.deepEqual(await since(() => keeper.poll()), ['take', 'begin a', 'take', 'begin b', 'take']);
  for (const id of ['a', 'b']) {
    const { number, isValid, claim } = leaseIn(id);
    assert.deepEqual([number, isValid, claim], [7, true, { lease: 7 }]);
  }
  registry.stop();
  state.jobs = [jobOf('c')];
  assert.deepEqual(await since(() => keeper.poll()), ['renew'], 'a process that stops takes nothing');
  assert.deepEqual(keeper.lease().claim, { lease: 0, by: { holder: 'h', leaseMs: LEASE_MS } });
});

it('leases are renewed in between if taking jobs lasts long', async () => {
  const { keeper, state, since } = keeperOf();
  state.jobs = ['a', 'b', 'c'].map((id) => jobOf(id));
  state.takeMs = 600;
  const calls = (await since(() => keeper.poll())).filter((call) => /^(?:begin|renew)/.test(call));
  assert.deepEqual(calls, ['begin a', 'begin b', 'renew', 'begin c']);
});

it('a job that another process has taken, or that is gone, stops in this process', async () => {
  for (const held of [[], [{ id: 'a', lease: 8, request: { cancel: true } }]] as const) {
    const { keeper, state, since, leaseIn } = keeperOf();
    state.jobs = [jobOf('a')];
    await keeper.poll();
    state.held = held;
    assert.deepEqual(await since(() => keeper.poll()), ['renew', 'take'], 'no request is granted');
    assert.deepEqual([leaseIn('a').isTaken, leaseIn('a').lost.aborted], [true, true]);
  }
});

it('a purge whose caller waits stops once its record says that it has ended, but not while its record is missing', async () => {
  const { keeper, state, hold } = keeperOf();
  const leases = ['unwritten', 'runs', 'over'].map(hold);
  state.ended.add('over');
  await keeper.poll();
  assert.deepEqual(
    leases.map(({ isTaken }) => isTaken),
    [false, false, true],
  );
});

it('requests of other processes are granted by the process that runs the purge, and a job taken by a lost answer is released', async () => {
  const { keeper, state, since, hold } = keeperOf();
  hold('a');
  // The end of one job is still to be written.
  state.pending.add('over');
  state.held = ['a', 'lost', 'over'].map((id) => ({
    id,
    lease: id === 'a' ? 0 : 9,
    request: { cancel: true },
  }));
  const expected = ['renew', 'grant a {"cancel":true}', 'release lost 9', 'take'];
  assert.deepEqual(await since(() => keeper.poll()), expected);
});

it('when the store is unavailable, a job stops at the end of its lease, and a purge whose caller waits continues', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const { keeper, state, since, hold, leaseIn } = keeperOf();
  state.jobs = [jobOf('a')];
  keeper.start();
  const waits = hold('b');
  await since(() => {});
  const job = leaseIn('a');
  state.isAway = true;
  state.nowMs = LEASE_MS - 1;
  await since(() => t.mock.timers.tick(1000));
  assert.equal(job.lost.aborted, false);
  state.nowMs = LEASE_MS;
  await since(() => t.mock.timers.tick(1000));
  assert.deepEqual([job.lost.aborted, job.isTaken, waits.lost.aborted], [true, false, false]);
  keeper.close();
  assert.deepEqual(await since(() => t.mock.timers.tick(10_000)), [], 'a closed keeper looks no more');
});

it('the leases of a process with its own store never end', () => {
  const { state, hold } = keeperOf({ isStoreShared: false });
  const own = hold('a');
  state.nowMs = Number.MAX_SAFE_INTEGER;
  assert.equal(own.isValid, true);
});

it('leases are renewed three times before they end, and at least once a second', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  for (const [leaseMs, everyMs] of [
    [600, 200],
    [60_000, 1000],
  ] as const) {
    const { keeper, since } = keeperOf({ leaseMs });
    await since(() => keeper.start());
    assert.deepEqual(await since(() => t.mock.timers.tick(everyMs - 1)), []);
    assert.deepEqual(await since(() => t.mock.timers.tick(1)), ['take']);
    keeper.close();
  }
});

it('requests for a check during a running check cause one more check afterwards', async () => {
  const { keeper, since } = keeperOf();
  const looks = () => Promise.all([keeper.poll(), keeper.poll(), keeper.poll()]);
  assert.deepEqual(await since(looks), ['take', 'take']);
});

it('a free place causes a check only while jobs may be waiting', async () => {
  const { keeper, registry, state, since } = keeperOf();
  assert.deepEqual(await since(() => keeper.pollForMore()), ['take']);
  assert.deepEqual(await since(() => keeper.pollForMore()), [], 'all that waited was taken');
  for (const kind of ['job', 'dry run'] as const) {
    const full = Array.from({ length: 4 }, (_, n) => ({ n, record: recordOf() })).flatMap(({ record }) => {
      if (!registry.isFree(kind)) return [];
      const live = new LivePurge(record, leaseOf(), createTestClock(), () => {});
      registry.enter(live);
      registry.takePlace(live, kind);
      return [live];
    });
    await since(() => keeper.poll());
    for (const live of full) registry.leave(live);
    assert.deepEqual(await since(() => keeper.pollForMore()), ['take'], kind);
  }
  state.isAway = true;
  await since(() => keeper.poll());
  state.isAway = false;
  assert.deepEqual(await since(() => keeper.pollForMore()), ['take'], 'nobody knows what waits');
});

it('a process with its own store releases jobs of an earlier process once, and retries this every second until it succeeds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const { keeper, state, since } = keeperOf({ isStoreShared: false, broker: 'b' });
  state.isAway = true;
  assert.deepEqual(await since(() => keeper.start()), ['release others than h']);
  assert.deepEqual(await since(() => t.mock.timers.tick(999)), []);
  state.isAway = false;
  const freed = ['release others than h', 'requeue b false true', 'take'];
  assert.deepEqual(await since(() => t.mock.timers.tick(1)), freed);
  assert.deepEqual(await since(() => t.mock.timers.tick(60_000)), [], 'no other process adds jobs');
  assert.deepEqual(await since(() => keeper.poll()), ['take']);
});

it('a process that was closed while the store was unavailable does not ask it again, even if a check was running', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const isDuring of [false, true]) {
    const { keeper, state, since } = keeperOf({ isStoreShared: false });
    state.isAway = true;
    const look = keeper.poll();
    if (!isDuring) await look;
    keeper.close();
    await look;
    assert.deepEqual(await since(() => t.mock.timers.tick(5000)), []);
    assert.deepEqual(await since(() => keeper.poll()), []);
  }
});

it('lapsed jobs of other brokers are put back into the queue of a shared store only after a whole lease of contact with the store', async () => {
  const { keeper, state, since } = keeperOf({ broker: 'b' });
  assert.deepEqual(await since(() => keeper.poll()), ['take']);
  state.nowMs = LEASE_MS - 1;
  assert.deepEqual(await since(() => keeper.poll()), ['take']);
  state.nowMs = LEASE_MS;
  assert.deepEqual(await since(() => keeper.poll()), ['requeue b true false', 'take']);
});

it('a purge whose lease is in doubt waits for the next check, but for no more than a second', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { state, since, hold } = keeperOf();
  const lease = hold('a');
  state.nowMs = LEASE_MS;
  let answer = () => {};
  state.renewed = new Promise<void>((resolve) => (answer = resolve));
  let isDone = false;
  await since(() => void lease.check()?.then(() => (isDone = true)));
  await since(() => t.mock.timers.tick(999));
  assert.equal(isDone, false);
  await since(() => t.mock.timers.tick(1));
  assert.equal(isDone, true);
  answer();
  state.nowMs += 1000;
  state.renewed = undefined;
  isDone = false;
  await since(() => void lease.check()?.then(() => (isDone = true)));
  assert.equal(isDone, true);
});
