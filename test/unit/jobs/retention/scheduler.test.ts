import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { QueueFullError } from '../../../../sidecar/jobs/errors.js';
import { RetentionScheduler } from '../../../../sidecar/jobs/retention/scheduler.js';
import { PurgeStoppedError } from '../../../../sidecar/purge/index.js';
import { RunUnderWayError, StoreUnavailableError } from '../../../../sidecar/store/errors.js';
import type { RetentionPolicy } from '../../../../sidecar/store/policy-records.js';
import type { Clock } from '../../../../sidecar/shared/clock.js';
import { HandClock } from '../../../support/hand-clock.js';
import { settingsOf } from '../../../support/retention-settings.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;

const SETTINGS = settingsOf({ schedule: '30 2 * * *', timeZone: 'Europe/Berlin', mode: 'report' });

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Policies in memory, over the life of several schedulers. */
function keptPolicies(...names: readonly string[]) {
  const policies = new Map<string, RetentionPolicy>(
    names.map((name) => [
      name,
      {
        name,
        settings: SETTINGS,
        author: { caller: 'c', policy: {} },
        doneUntil: START,
        createdAt: START,
        modifiedAt: START,
        etag: 'e',
      },
    ]),
  );
  const store = {
    isAway: false,
    enabled: async () => {
      if (store.isAway) throw new StoreUnavailableError('away');
      return [...policies.values()];
    },
    claim: async (name: string, from: number, until: number) => {
      if (store.isAway) throw new StoreUnavailableError('away');
      const policy = policies.get(name);
      if (policy?.doneUntil !== from) return false;
      policies.set(name, { ...policy, doneUntil: until });
      return true;
    },
  };
  return { policies, store };
}

const schedulers: RetentionScheduler[] = [];
afterEach(async () => {
  for (const scheduler of schedulers.splice(0)) await scheduler.stop();
});

interface Started {
  readonly failure?: () => Error | undefined;
  /** A run starts once this is settled. */
  readonly isBegun?: Promise<void>;
  readonly onEnabled?: (policy: string) => void;
  readonly pollIntervalMs?: number;
}

function start(
  clock: Clock,
  store: ReturnType<typeof keptPolicies>['store'],
  { failure, isBegun, onEnabled = () => {}, pollIntervalMs = 3_600_000 }: Started = {},
) {
  const runs: string[] = [];
  const errors: string[] = [];
  const scheduler = new RetentionScheduler({
    store,
    clock,
    pollIntervalMs,
    service: {
      runScheduled: async ({ name }) => {
        const error = failure?.();
        if (error !== undefined) throw error;
        runs.push(`${name} ${new Date(clock.now()).toISOString()}`);
        await isBegun;
        return {} as never;
      },
    },
    onEnabled,
    onError: (error, policy) => errors.push(`${policy ?? ''} ${String(error)}`),
  });
  schedulers.push(scheduler);
  scheduler.start();
  return { scheduler, runs, errors };
}

it('the scheduler starts one run a day over a year with both changes of the clocks', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a');
  const { runs, errors } = start(clock, store);
  await clock.runUntil(START + 365 * DAY_MS);
  assert.equal(runs.length, 365);
  assert.equal(runs[0], 'a 2026-01-01T01:30:00.000Z');
  assert.ok(runs.includes('a 2026-03-29T01:00:00.000Z'));
  assert.ok(runs.includes('a 2026-07-01T00:30:00.000Z'));
  assert.deepEqual(errors, []);
});

it('the scheduler makes up once for all runs that were missed while no gateway ran', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a', 'b');
  const first = start(clock, store);
  await clock.runUntil(START + DAY_MS);
  await first.scheduler.stop();
  clock.jumpTo(START + 10.5 * DAY_MS);
  const second = start(clock, store);
  await clock.runUntil(START + 11.5 * DAY_MS);
  assert.deepEqual(second.runs, [
    'a 2026-01-11T12:00:00.000Z',
    'b 2026-01-11T12:00:00.000Z',
    'a 2026-01-12T01:30:00.000Z',
    'b 2026-01-12T01:30:00.000Z',
  ]);
});

it('a policy whose last run was by a clock far ahead runs again by the current clock', async () => {
  const clock = new HandClock(START);
  const { policies, store } = keptPolicies('a');
  policies.set('a', { ...(policies.get('a') ?? assert.fail()), doneUntil: START + 365 * DAY_MS });
  const { runs } = start(clock, store);
  await clock.runUntil(START + 2 * DAY_MS);
  assert.deepEqual(runs, ['a 2026-01-01T01:30:00.000Z', 'a 2026-01-02T01:30:00.000Z']);
});

it('a gateway whose clock is hours behind does not repeat runs of other gateways', async () => {
  const { store } = keptPolicies('a');
  const clock = new HandClock(START);
  const right = start(clock, store);
  await clock.runUntil(START + 2 * 3_600_000);
  const behind = new HandClock(START - 10 * 3_600_000);
  const slow = start(behind, store);
  await behind.runUntil(START + 3_600_000);
  assert.deepEqual([right.runs.length, slow.runs.length], [1, 0]);
});

it('each run starts once if several processes watch the same policies', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a');
  const all = [start(clock, store), start(clock, store), start(clock, store)];
  for (let day = 1; day <= 30; day++) await clock.runUntil(START + day * DAY_MS);
  const runs = all.flatMap((one) => one.runs);
  assert.equal(runs.length, new Set(runs.map((run) => run.slice(0, 12))).size);
  assert.ok(runs.length >= 29);
});

it('a run that found no free place, no database or a stopping gateway is soon tried again', async () => {
  for (const error of [
    new QueueFullError(1),
    new StoreUnavailableError('away'),
    new PurgeStoppedError('the gateway stops'),
  ]) {
    const clock = new HandClock(START);
    const { store } = keptPolicies('a');
    let failures = 3;
    const { runs, errors } = start(clock, store, {
      failure: () => {
        // Finding this out takes its time.
        if (failures > 0) clock.jumpTo(clock.now() + 7);
        return failures-- > 0 ? error : undefined;
      },
      pollIntervalMs: 30_000,
    });
    await clock.runUntil(START + DAY_MS);
    assert.equal(errors.length, 3);
    assert.equal(runs.length, 1);
    assert.match(runs[0] ?? '', /T01:31:30/);
  }
});

it('a run that could not start is made up for, even if the store was unavailable when it was given back', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a');
  let isFailing = true;
  const { runs, errors } = start(clock, store, {
    failure: () => {
      store.isAway = isFailing;
      return isFailing ? new StoreUnavailableError('away') : undefined;
    },
    pollIntervalMs: 30_000,
  });
  await clock.runUntil(START + 2 * 3_600_000);
  assert.deepEqual([runs, errors[0]], [[], 'a StoreUnavailableError: away']);
  isFailing = false;
  store.isAway = false;
  await clock.pass(60_000);
  assert.equal(runs.length, 1);
});

it('a run that could not start is made up for by another process if this one stops', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a');
  const failure = () => {
    store.isAway = true;
    return new StoreUnavailableError('away');
  };
  const { scheduler } = start(clock, store, { failure });
  await clock.runUntil(START + 1.75 * 3_600_000);
  store.isAway = false;
  await scheduler.stop();
  const { runs } = start(clock, store);
  await clock.runUntil(START + 2 * 3_600_000);
  assert.equal(runs.length, 1);
});

it('a run whose claim was stored, although its answer was lost, is made up for', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a');
  const { claim } = store;
  let losesAnswer = true;
  store.claim = async (...claimed) => {
    const isClaimed = await claim(...claimed);
    if (losesAnswer) {
      losesAnswer = false;
      throw new StoreUnavailableError('It is not known whether it was done.');
    }
    return isClaimed;
  };
  const { runs } = start(clock, store, { pollIntervalMs: 30_000 });
  await clock.runUntil(START + 2 * 3_600_000);
  await clock.pass(60_000);
  assert.equal(runs.length, 1);
});

it('a run is skipped while the previous one has not ended', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a');
  let isBusy = true;
  const { runs, errors } = start(clock, store, {
    failure: () => (isBusy ? new RunUnderWayError('a', 'p') : undefined),
  });
  await clock.runUntil(START + DAY_MS);
  isBusy = false;
  await clock.runUntil(START + 1.5 * DAY_MS);
  assert.equal(errors.length, 1);
  assert.deepEqual(runs, ['a 2026-01-02T01:30:00.000Z']);
});

it('a changed policy is due by its new schedule', async () => {
  const clock = new HandClock(START);
  const { policies, store } = keptPolicies('a');
  const { runs } = start(clock, store, { pollIntervalMs: 30_000 });
  await clock.runUntil(START + 60_000);
  const before = policies.get('a') ?? assert.fail();
  policies.set('a', { ...before, settings: { ...SETTINGS, schedule: '0 2 * * *' }, etag: 'f' });
  await clock.runUntil(START + 86_000_000);
  assert.deepEqual(runs, ['a 2026-01-01T01:00:00.000Z']);
});

it('a stopped scheduler starts no further run, and waits for the run that it is starting', async () => {
  const clock = new HandClock(START);
  const { store } = keptPolicies('a', 'b');
  let begin = () => {};
  const isBegun = new Promise<void>((resolve) => (begin = resolve));
  const { scheduler, runs } = start(clock, store, { isBegun });
  await clock.runUntil(START + DAY_MS / 2);
  assert.deepEqual(runs, ['a 2026-01-01T01:30:00.000Z']);
  let isOver = false;
  const stopped = scheduler.stop().then(() => (isOver = true));
  await turn();
  assert.equal(isOver, false);
  begin();
  await stopped;
  await clock.runUntil(START + DAY_MS);
  assert.equal(runs.length, 1);
});

it('the scheduler names all enabled policies before it starts the first run', async () => {
  const clock = new HandClock(START + DAY_MS);
  const { store } = keptPolicies('a', 'b');
  const named: string[] = [];
  const namedBeforeRun: number[] = [];
  const failure = () => void namedBeforeRun.push(named.length);
  const { runs } = start(clock, store, { failure, onEnabled: (policy) => named.push(policy) });
  await clock.runUntil(START + DAY_MS + 1);
  assert.deepEqual([named.slice(0, 2), namedBeforeRun, runs.length], [['a', 'b'], [2, 2], 2]);
});

it('policies are checked every half minute, even if none is due', async () => {
  const clock = new HandClock(START);
  let looks = 0;
  const scheduler = new RetentionScheduler({
    store: { enabled: async () => ((looks += 1), []), claim: async () => assert.fail('nothing is due') },
    clock,
    onEnabled: () => {},
    onError: () => {},
    service: { runScheduled: async () => assert.fail('nothing is due') },
  });
  schedulers.push(scheduler);
  scheduler.start();
  await clock.runUntil(START + 29_999);
  assert.equal(looks, 1);
  await clock.runUntil(START + 30_000);
  assert.equal(looks, 2);
});

it('the scheduler continues if one policy cannot be run, and if the policies cannot be read for a while', async () => {
  const clock = new HandClock(START);
  const { policies, store } = keptPolicies('a', 'b');
  const broken = policies.get('a') ?? assert.fail();
  policies.set('a', { ...broken, settings: { ...SETTINGS, timeZone: 'Mars/Olympus' } });
  store.isAway = true;
  const { runs, errors } = start(clock, store);
  await clock.runUntil(START + 1_800_000);
  store.isAway = false;
  await clock.runUntil(START + DAY_MS);
  assert.deepEqual(runs, ['b 2026-01-01T01:30:00.000Z']);
  assert.match(errors.join(), /away/);
  assert.match(errors.join(), /a .*timeZone/);
});
