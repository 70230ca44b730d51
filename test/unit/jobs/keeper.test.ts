import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Keeper, type KeeperOptions } from '../../../sidecar/jobs/keeper.js';
import type { Lease } from '../../../sidecar/jobs/lease.js';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import type {
  HeldPurge,
  PurgeRecord,
  TakenPurge,
  TakeOptions,
} from '../../../sidecar/store/purge-records.js';

const LEASE_MS = 10_000;

/** A keeper of a process that shares its store, on a clock that only the test moves. */
function keeperOf() {
  const state = { nowMs: 0, isAway: false, renewMs: 0, held: [] as readonly HeldPurge[] };
  const taken: TakeOptions[] = [];
  const unexpected = () => Promise.reject(new Error('not asked for here'));
  const store: KeeperOptions['store'] = {
    ...{ get: unexpected, add: unexpected, waiting: unexpected, ask: unexpected },
    ...{ release: unexpected, releaseOthers: unexpected, forget: unexpected },
    layAside: async () => [],
    renew: async () => {
      state.nowMs += state.renewMs;
      return state.held;
    },
    take: async (options) => {
      if (state.isAway) throw new StoreUnavailableError('The database is away.');
      taken.push(options);
      return undefined;
    },
  };
  const keeper = new Keeper({
    ...{ store, holder: 'h', leaseMs: LEASE_MS, isShared: true, monotonicMs: () => state.nowMs },
    places: () => ({ takesJobs: true, takesDryRuns: true }),
    ...{ begin: () => {}, grant: () => {}, isPending: () => false },
    laid: () => assert.fail('nothing is laid aside'),
    onLaid: () => {},
  });
  /** Whether jobs of others would be taken whose leases have ended, at a time. */
  const takesLapsedAt = async (nowMs: number) => {
    state.nowMs = nowMs;
    await keeper.look();
    return taken.at(-1)?.takesLapsed;
  };
  return { keeper, state, takesLapsedAt };
}

describe('the keeper of leases', () => {
  it('a renewed lease lasts from when the store was asked, however late its answer comes', async () => {
    const { keeper, state } = keeperOf();
    const lease = keeper.hold('a');
    state.held = [{ id: 'a', lease: 0, wish: undefined }];
    state.nowMs = 5000;
    state.renewMs = 4000;
    await keeper.look();
    assert.equal(state.nowMs, 9000);
    state.nowMs = 5000 + LEASE_MS - 1;
    assert.equal(lease.holds, true);
    state.nowMs = 5000 + LEASE_MS;
    assert.equal(lease.holds, false);
  });

  it('jobs of others whose leases have ended are taken only after a whole lease without an outage of the store', async () => {
    const { keeper, state, takesLapsedAt } = keeperOf();
    assert.equal(await takesLapsedAt(0), false);
    assert.equal(await takesLapsedAt(5000), false);
    assert.equal(await takesLapsedAt(9999), false);
    assert.equal(await takesLapsedAt(10_000), true);
    state.isAway = true;
    await keeper.look();
    state.isAway = false;
    assert.equal(await takesLapsedAt(11_000), false);
    assert.equal(await takesLapsedAt(20_000), false);
    assert.equal(await takesLapsedAt(21_000), true);
  });

  it('a process that was stopped for a whole lease lets the others renew before it takes what is theirs', async () => {
    const { takesLapsedAt } = keeperOf();
    for (const nowMs of [0, 6000, 12_000]) await takesLapsedAt(nowMs);
    assert.equal(await takesLapsedAt(22_000), false);
    assert.equal(await takesLapsedAt(31_000), false);
    assert.equal(await takesLapsedAt(32_000), true);
  });
});

const JOB = { record: { id: 'a' }, job: { headers: {} }, lease: 7, wish: undefined } as unknown as TakenPurge;

/** A keeper, and what it asks of the store and of its process, in order; each answer can be set. */
function watchedKeeper(more: Partial<KeeperOptions> = {}) {
  const state = {
    ...{ nowMs: 0, isAway: false, jobs: [] as TakenPurge[], held: [] as readonly HeldPurge[] },
    ...{ pending: new Set<string>(), ended: new Set<string>() },
    places: { takesJobs: true, takesDryRuns: true } as ReturnType<KeeperOptions['places']>,
  };
  const told: string[] = [];
  const begun: Lease[] = [];
  const tell = (what: string) => {
    told.push(what);
    if (state.isAway) throw new StoreUnavailableError('The database is away.');
  };
  const unexpected = () => Promise.reject(new Error('not asked for here'));
  const keeper = new Keeper({
    store: {
      ...{ add: unexpected, waiting: unexpected, ask: unexpected, forget: unexpected },
      get: async (id) => {
        tell(`get ${id}`);
        if (id === 'unwritten') return undefined;
        return { id, state: state.ended.has(id) ? 'interrupted' : 'running' } as PurgeRecord;
      },
      release: async ({ id, lease }) => tell(`release ${id} ${String(lease)}`),
      releaseOthers: async (holder) => tell(`release others than ${holder}`),
      layAside: async ({ broker, takesLapsed, takesWaiting }) => {
        tell(`lay aside ${broker} ${String(takesLapsed)} ${String(takesWaiting)}`);
        return [];
      },
      renew: async () => {
        tell('renew');
        return state.held;
      },
      take: async () => {
        tell('take');
        return state.jobs.shift();
      },
    },
    ...{ holder: 'h', leaseMs: LEASE_MS, isShared: true, monotonicMs: () => state.nowMs },
    places: () => state.places,
    begin: (taken, lease) => {
      told.push(`begin ${taken.record.id}`);
      begun.push(lease);
    },
    grant: (id, wish) => told.push(`grant ${id} ${JSON.stringify(wish)}`),
    isPending: (id) => state.pending.has(id),
    laid: () => assert.fail('nothing is laid aside'),
    onLaid: () => assert.fail('nothing was laid aside'),
    ...more,
  });
  const since = async (act: () => unknown) => {
    told.length = 0;
    await act();
    for (let index = 0; index < 10; index += 1) await turn();
    return [...told];
  };
  return { keeper, state, told, begun, since };
}

describe('what a process holds', () => {
  it('a process takes jobs one after the other until none waits, each with a lease from when it asked', async () => {
    const { keeper, state, since, begun } = watchedKeeper();
    state.jobs = [JOB, { ...JOB, record: { ...JOB.record, id: 'b' } }];
    assert.deepEqual(await since(() => keeper.look()), ['take', 'begin a', 'take', 'begin b', 'take']);
    assert.deepEqual(
      begun.map(({ number, holds }) => [number, holds]),
      [
        [7, true],
        [7, true],
      ],
    );
    assert.deepEqual([keeper.holds('a'), keeper.holds('b'), keeper.holds('c')], [true, true, false]);
  });

  it('a process that stops takes nothing', async () => {
    const { keeper, state, since } = watchedKeeper();
    state.jobs = [JOB];
    state.places = undefined;
    assert.deepEqual(await since(() => keeper.look()), []);
  });

  it('a job that another process has, or that is gone, stops here', async () => {
    for (const held of [[], [{ id: 'a', lease: 8, wish: { cancel: true } }]] as const) {
      const { keeper, state, since, begun } = watchedKeeper();
      state.jobs = [JOB];
      await keeper.look();
      state.held = held;
      assert.deepEqual(
        await since(() => keeper.look()),
        ['renew', 'take'],
        'and no wish for another is granted',
      );
      assert.deepEqual([begun[0]?.isTaken, begun[0]?.lost.aborted], [true, true]);
    }
  });

  it('a purge whose caller waits stops here once its record says that it has ended, and not while it has none', async () => {
    const { keeper, state, since } = watchedKeeper();
    const [unwritten, runs, over] = ['unwritten', 'runs', 'over'].map((id) => keeper.hold(id));
    state.ended.add('over');
    await since(() => keeper.look());
    assert.deepEqual([unwritten?.isTaken, runs?.isTaken, over?.isTaken], [false, false, true]);
  });

  it('what others ask of a purge is granted by its holder', async () => {
    const { keeper, state, since } = watchedKeeper();
    keeper.hold('a');
    state.held = [{ id: 'a', lease: 0, wish: { cancel: true } }];
    assert.deepEqual(await since(() => keeper.look()), ['renew', 'grant a {"cancel":true}', 'take']);
  });

  it('a purge that was taken though the answer got lost is given back, unless its end is still to be written', async () => {
    const { keeper, state, since } = watchedKeeper();
    keeper.hold('a');
    state.pending.add('over');
    state.held = ['a', 'lost', 'over'].map((id) => ({ id, lease: id === 'a' ? 0 : 9, wish: undefined }));
    assert.deepEqual(await since(() => keeper.look()), ['renew', 'release lost 9', 'take']);
  });

  it('a purge that went on under another lease stays held when the one before is dropped', () => {
    const { keeper } = watchedKeeper();
    const before = keeper.hold('a');
    const lease = keeper.hold('a');
    keeper.drop('a', before);
    assert.equal(keeper.holds('a'), true);
    keeper.drop('a', lease);
    assert.equal(keeper.holds('a'), false);
  });

  it('a job stops when its lease is over while the store is away, and a purge whose caller waits goes on', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    const { keeper, state, since, begun } = watchedKeeper();
    state.jobs = [JOB];
    keeper.start();
    const waits = keeper.hold('b');
    await since(() => {});
    state.isAway = true;
    state.nowMs = LEASE_MS - 1;
    await since(() => t.mock.timers.tick(1000));
    assert.equal(begun[0]?.lost.aborted, false);
    state.nowMs = LEASE_MS;
    await since(() => t.mock.timers.tick(1000));
    assert.deepEqual([begun[0].lost.aborted, begun[0].isTaken, waits.lost.aborted], [true, false, false]);
    keeper.close();
    assert.deepEqual(await since(() => t.mock.timers.tick(10_000)), [], 'a closed keeper looks no more');
  });

  it('the leases of a process end a whole lease after it last heard of the store, and on a store of its own never', async () => {
    const { keeper, state } = watchedKeeper({ isShared: false });
    const own = keeper.hold('a');
    state.nowMs = Number.MAX_SAFE_INTEGER;
    assert.equal(own.holds, true);
  });

  it('leases are renewed three times before they end, and once a second where they last long', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    for (const [leaseMs, everyMs] of [
      [600, 200],
      [60_000, 1000],
    ] as const) {
      const { keeper, since } = watchedKeeper({ leaseMs });
      await since(() => keeper.start());
      assert.deepEqual(await since(() => t.mock.timers.tick(everyMs - 1)), []);
      assert.deepEqual(await since(() => t.mock.timers.tick(1)), ['take']);
      keeper.close();
    }
  });
});

describe('a look of the keeper', () => {
  it('looks that are asked for during a look are one more look, after it', async () => {
    const { keeper, since } = watchedKeeper();
    const looks = () => Promise.all([keeper.look(), keeper.look(), keeper.look()]);
    assert.deepEqual(await since(looks), ['take', 'take']);
  });

  it('a place that becomes free is a reason to look only while jobs may wait', async () => {
    const { keeper, state, since } = watchedKeeper();
    assert.deepEqual(await since(() => keeper.lookForMore()), ['take']);
    assert.deepEqual(await since(() => keeper.lookForMore()), [], 'all that waited was taken');
    for (const full of [
      { takesJobs: false, takesDryRuns: true },
      { takesJobs: true, takesDryRuns: false },
    ]) {
      state.places = full;
      await since(() => keeper.look());
      state.places = { takesJobs: true, takesDryRuns: true };
      assert.deepEqual(await since(() => keeper.lookForMore()), ['take'], JSON.stringify(full));
    }
    state.isAway = true;
    await since(() => keeper.look());
    state.isAway = false;
    assert.deepEqual(await since(() => keeper.lookForMore()), ['take'], 'nobody knows what waits');
  });

  it('on a store of its own, a process frees what an earlier one left, once, and tries again every second until that is done', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const { keeper, state, since } = watchedKeeper({ isShared: false, broker: 'b' });
    state.isAway = true;
    assert.deepEqual(await since(() => keeper.start()), ['release others than h']);
    assert.deepEqual(await since(() => t.mock.timers.tick(999)), []);
    state.isAway = false;
    const freed = ['release others than h', 'lay aside b false true', 'take'];
    assert.deepEqual(await since(() => t.mock.timers.tick(1)), freed);
    assert.deepEqual(await since(() => t.mock.timers.tick(60_000)), [], 'no other process adds jobs');
    assert.deepEqual(await since(() => keeper.look()), ['take']);
  });

  it('a process that is closed while the store is away does not ask it again', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { keeper, state, since } = watchedKeeper({ isShared: false });
    state.isAway = true;
    await since(() => keeper.look());
    keeper.close();
    assert.deepEqual(await since(() => t.mock.timers.tick(5000)), []);
    assert.deepEqual(await since(() => keeper.look()), []);
    // Closed in the middle of a look.
    const other = watchedKeeper({ isShared: false });
    other.state.isAway = true;
    const look = other.keeper.look();
    other.keeper.close();
    await look;
    assert.deepEqual(await other.since(() => t.mock.timers.tick(5000)), []);
  });

  it('jobs of other brokers are laid aside on a shared store only when it has been in touch for a whole lease', async () => {
    const { keeper, state, since } = watchedKeeper({ broker: 'b' });
    assert.deepEqual(await since(() => keeper.look()), ['take']);
    state.nowMs = LEASE_MS - 1;
    assert.deepEqual(await since(() => keeper.look()), ['take']);
    state.nowMs = LEASE_MS;
    assert.deepEqual(await since(() => keeper.look()), ['lay aside b true false', 'take']);
  });

  it('a purge that asks about its lease waits for a look, and for no more than a second', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { keeper, since } = watchedKeeper();
    let isDone = false;
    await since(() => keeper.inquire().then(() => (isDone = true)));
    assert.equal(isDone, true);
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    const slow = watchedKeeper();
    slow.keeper.hold('a');
    Object.defineProperty(slow.state, 'held', { get: () => isAnswered.then(() => []) });
    isDone = false;
    const inquiry = slow.keeper.inquire().then(() => (isDone = true));
    await slow.since(() => t.mock.timers.tick(999));
    assert.equal(isDone, false);
    await slow.since(() => t.mock.timers.tick(1));
    assert.equal(isDone, true);
    await inquiry;
    answer();
  });
});
