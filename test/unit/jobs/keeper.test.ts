import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Keeper, type KeeperOptions } from '../../../sidecar/jobs/keeper.js';
import { StoreUnavailableError } from '../../../sidecar/schemas/store/errors.js';
import type { HeldPurge, TakeOptions } from '../../../sidecar/schemas/store/purge-records.js';

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
