import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  IdsNotFoundError,
  PurgeFailedError,
  JobNotFoundError,
  JobEndedError,
} from '../../../sidecar/jobs/errors.js';
import type { IdFiles } from '../../../sidecar/jobs/id-files.js';
import { PurgeStoppedError, TooManyMatchesError } from '../../../sidecar/purge/index.js';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import type { PurgeRecord, Jobs } from '../../../sidecar/store/index.js';
import { purgeOf } from '../../support/store-contract-purges.js';
import { KeptPurges } from '../../support/kept-purges.js';
import type { Clock } from '../../../sidecar/shared/clock.js';
import { createTestClock } from '../../support/purge-harness.js';
import {
  BEGUN,
  finished,
  finishing,
  hasStopped,
  jobOf,
  newPurge,
  NEVER,
  purgeServiceOf,
  recordOf,
  REPORT,
  STARTED,
  turns,
  untilStopped,
  type PurgeServiceSetup,
  type Run,
} from '../../support/purge-service.js';

/** A purge that is stopped, and whose last delete is answered when the test says so. */
function slowToStop() {
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => (answer = resolve));
  const run: Run = async function* run(_order, signal) {
    yield BEGUN;
    await hasStopped(signal);
    await isAnswered;
    throw new PurgeStoppedError('stopped');
  };
  return { run, answer };
}

/** Two processes on one store. */
function twoProcesses(
  run: Run = untilStopped,
  setup: PurgeServiceSetup & Partial<Pick<Clock, 'monotonicMs'>> = {},
) {
  const { monotonicMs = () => 0, ...more } = setup;
  const clock = { ...createTestClock(STARTED), monotonicMs };
  const kept = new KeptPurges(clock);
  const shared = { kept, clock, isStoreShared: true, ...more };
  const one = purgeServiceOf(run, { ...shared, holder: 'one', worker: 'one' });
  const two = purgeServiceOf(run, { ...shared, holder: 'two', worker: 'two' });
  const renewals = () => kept.calls.filter(({ name }) => name === 'renew').length;
  const requests = async () =>
    (await kept.store.renew({ holder: 'one', leaseMs: 30_000 })).map(({ request }) => request);
  const close = async () => {
    one.service.jobs.stop();
    await Promise.all([one.service.jobs.close(), two.service.jobs.close()]);
  };
  return { one, two, kept, renewals, requests, close };
}

/** A store of which one method does something else first. */
function storeWith(kept: KeptPurges, name: 'request' | 'put', first: (given: unknown) => Promise<void>) {
  return new Proxy<Jobs>(kept.store, {
    get: (target, member: keyof typeof target) => {
      return async (...given: unknown[]) => {
        if (member === name) await first(given[0]);
        return (target[member] as (...all: unknown[]) => unknown)(...given);
      };
    },
  });
}

it('a purge of another process is cancelled there once that process is notified, and is not over before', async () => {
  const { one, two, kept, renewals, close } = twoProcesses();
  const { id } = await one.service.submit(newPurge());
  await turns();
  assert.equal((await two.service.cancel(id)).state, 'cancelling');
  await turns();
  assert.deepEqual([(await kept.store.get(id))?.state, two.told], ['running', []]);
  const before = renewals();
  one.service.jobs.onNotice({ what: 'record', id });
  one.service.jobs.onNotice({ what: 'request', id: 'another' });
  await turns();
  assert.equal(renewals(), before, 'what is of no concern is not asked for');
  one.service.jobs.onNotice({ what: 'request', id });
  await turns();
  assert.equal((await kept.store.get(id))?.state, 'cancelled');
  assert.equal(one.told.at(-1), 'ended cancelled');
  await close();
});

it('a purge of another process gets its new rate there once, within its limits', async () => {
  const { one, two, kept, requests, close } = twoProcesses();
  const { id } = await one.service.submit(newPurge());
  await turns();
  const asked = await two.service.change(id, { maxPerSecond: 7, concurrency: 99 });
  assert.deepEqual([asked.maxPerSecond, asked.concurrency], [7, 4]);
  assert.deepEqual(await requests(), [{ maxPerSecond: 7, concurrency: 4 }]);
  one.service.jobs.onNotice({ what: 'request', id });
  await turns();
  const { maxPerSecond, concurrency } = await one.service.get(id);
  assert.deepEqual([maxPerSecond, concurrency], [7, 4]);
  assert.equal((await kept.store.get(id))?.maxPerSecond, 7);
  assert.deepEqual(await requests(), [undefined]);
  await close();
});

it('a change of a purge that begins here in the meantime is made once', async () => {
  const kept = new KeptPurges(createTestClock(STARTED));
  await kept.store.put(recordOf({ id: 'a', state: 'queued' }), { headers: {} });
  const begin = async () => service.jobs.leases.poll();
  const setup = { store: storeWith(kept, 'request', begin), holder: 'one' };
  const { service, shutDown } = purgeServiceOf(untilStopped, setup);
  assert.equal((await service.change('a', { maxPerSecond: 7 })).maxPerSecond, 7);
  const renewed = await kept.store.renew({ holder: 'one', leaseMs: 30_000 });
  assert.deepEqual(
    renewed.map(({ id, request }) => [id, request]),
    [['a', undefined]],
  );
  await shutDown();
});

it('a purge that is being cancelled, or has just ended, cannot be changed', async () => {
  const { run, answer } = slowToStop();
  const { id, ...made } = await jobOf(run);
  await made.service.cancel(id);
  assert.equal((await made.service.get(id)).state, 'cancelling');
  await assert.rejects(made.service.change(id, { concurrency: 1 }), JobEndedError);
  answer();
  await turns();

  const kept = new KeptPurges(createTestClock(STARTED));
  const queued: PurgeRecord = { ...(await made.service.get(id)), id: 'late', state: 'queued' };
  const over: PurgeRecord = { ...queued, state: 'succeeded' };
  await kept.store.put(queued, { headers: {} });
  const store = storeWith(kept, 'request', () => kept.store.put(over));
  const late = purgeServiceOf(run, { store });
  await assert.rejects(late.service.change('late', { concurrency: 1 }), JobEndedError);
  assert.equal((await late.service.cancel('late')).state, 'succeeded');
  assert.deepEqual(late.told, []);
  await late.service.jobs.close();
  await made.service.jobs.close();
});

it('a watcher of a purge of another process waits while the store is unavailable, and gets an error once the record is gone', async () => {
  const { one, two, kept, close } = twoProcesses();
  const { id } = await one.service.submit(newPurge());
  await turns();
  const watching = two.service.watch(id, NEVER);
  const first = await watching.next();
  assert.equal(first.done === true ? undefined : first.value.state, 'running');
  kept.isAway = true;
  const next = watching.next();
  await turns();
  kept.isAway = false;
  await one.service.cancel(id);
  two.service.jobs.onNotice({ what: 'record', id });
  const last = await next;
  assert.match(last.done === true ? '' : last.value.state, /^cancell/);

  const other = two.service.watch(id, NEVER);
  await other.next();
  await close();
  const gone = purgeServiceOf(untilStopped, { kept });
  const queued: PurgeRecord = { ...(await kept.store.get(id)), id: 'gone', state: 'queued' } as PurgeRecord;
  await kept.store.put(queued, { headers: {} });
  const lost = gone.service.watch('gone', NEVER);
  await lost.next();
  await kept.store.put({ ...queued, state: 'refused', endedAt: queued.createdAt });
  await kept.store.prune(0, 0);
  gone.service.jobs.onNotice({ what: 'record', id: 'gone' });
  await assert.rejects(lost.next(), JobNotFoundError);
  await gone.service.jobs.close();
});

it('a purge whose caller waits has its true counts in its record, even if another process has ended it', async () => {
  const { one, kept, close } = twoProcesses();
  const ended = one.service.run(newPurge(), NEVER).catch((error: unknown) => error);
  await turns();
  const [record] = await kept.records();
  assert.ok(record !== undefined);
  await kept.store.put(
    { ...record, deleted: 0, state: 'interrupted', endedAt: record.createdAt },
    undefined,
    { lease: 0 },
  );
  one.service.jobs.onNotice({ what: 'waiting', id: 'any' });
  const error = await ended;
  assert.ok(error instanceof PurgeFailedError);
  assert.deepEqual([error.record.state, error.hasBegun], ['interrupted', true]);
  await turns();
  assert.equal(purgeOf(await kept.store.get(record.id)).deleted, 3);
  await close();
});

it('a purge that has ended is shown as ended before its record is written, and cancelling it changes nothing', async () => {
  const kept = new KeptPurges(createTestClock(STARTED));
  const state = { isFull: false };
  const store = storeWith(kept, 'put', async () => {
    if (state.isFull) throw new StoreUnavailableError('The disk is full.');
  });
  const made = purgeServiceOf(
    async function* run() {
      state.isFull = true;
      yield finished();
    },
    { store },
  );
  const { record } = await made.service.run(newPurge(), NEVER);
  assert.equal((await kept.store.get(record.id))?.state, 'running');
  const page = { limit: 9, offset: 0 };
  const all = [
    ...(await made.service.list(page)).items,
    await made.service.get(record.id),
    await made.service.cancel(record.id),
  ];
  assert.deepEqual(
    all.map(({ state }) => state),
    ['succeeded', 'succeeded', 'succeeded'],
  );
  state.isFull = false;
  await made.service.jobs.close();
  assert.deepEqual(
    made.told.filter((each) => each.startsWith('ended')),
    ['ended succeeded'],
  );
});

it('a job that was released while the store is unavailable is not reported as cancelled, because another process may take it', async () => {
  const { id, ...made } = await jobOf(untilStopped);
  made.kept.isAway = true;
  made.service.jobs.stop();
  await made.service.jobs.registry.idle();
  await assert.rejects(made.service.cancel(id), StoreUnavailableError);
  made.kept.isAway = false;
  await made.service.jobs.close();
  assert.equal((await made.kept.store.get(id))?.state, 'queued');
});

it('the recorded ids of a purge are kept as long as its process or the store knows it', async () => {
  let isKept: (id: string) => Promise<boolean> = async () => assert.fail('nothing was swept');
  const idFiles = { sweep: async (kept: typeof isKept) => void (isKept = kept) } as unknown as IdFiles;
  const kept = new KeptPurges(createTestClock(STARTED));
  let unwritten: PurgeRecord | undefined;
  const store = storeWith(kept, 'put', async (record) => {
    unwritten = record as PurgeRecord;
    throw new StoreUnavailableError('The disk is full.');
  });
  const made = purgeServiceOf(untilStopped, { idFiles, store });
  made.service.jobs.start();
  const ended = made.service.run(newPurge(), NEVER).catch(() => {});
  await turns();
  assert.ok(unwritten !== undefined);
  assert.equal(await kept.store.get(unwritten.id), undefined);
  await kept.store.put({ ...unwritten, id: 'stored' });
  const ids = [unwritten.id, 'stored', 'nobody'];
  assert.deepEqual(await Promise.all(ids.map((id) => isKept(id))), [true, true, false]);
  made.service.jobs.stop();
  await ended;
  await made.service.jobs.close();
});

it('the ids of a purge of this process can be removed even if there are none, and those of another process cannot', async () => {
  const idFiles = { remove: async () => false, read: async () => undefined } as unknown as IdFiles;
  const { one, two, close } = twoProcesses(untilStopped, { idFiles });
  const { id } = await one.service.submit(newPurge());
  await turns();
  await one.service.removeIds(id);
  await assert.rejects(two.service.removeIds(id), IdsNotFoundError);
  for (const { service } of [one, two]) {
    await assert.rejects(service.ids(id), (error) => {
      return error instanceof IdsNotFoundError && /\(one\)/.test(error.message);
    });
    await assert.rejects(service.removeIds('nobody'), JobNotFoundError);
  }
  await close();
});

it('a job that another process takes while it waits for the store stops here, and its record is not changed', async () => {
  const { one, two, kept, close } = twoProcesses(async function* run({ budget }) {
    yield { type: 'progress', hasBegun: false, ...REPORT, deleted: 0 };
    await kept.store.releaseOthers('nobody');
    const taken = await kept.store.take({
      holder: 'two',
      leaseMs: 30_000,
      takesJobs: true,
      takesDryRuns: true,
      takesScans: true,
      takesLapsed: false,
    });
    assert.ok(taken !== undefined);
    await budget?.reserve(1);
    yield assert.fail('nothing may be sent');
  });
  const { id } = await one.service.submit(newPurge('type=T&maxAffected=5'));
  await turns();
  assert.equal(one.told.at(-1), 'taken');
  await one.service.jobs.registry.idle();
  assert.deepEqual(two.told, []);
  assert.equal((await kept.store.get(id))?.state, 'running');
  await close();
});

it('a job whose lease has ended, and a purge that another process has ended, send no further delete', async () => {
  for (const isJob of [true, false]) {
    let nowMs = 0;
    const refusals: unknown[] = [];
    let isAsked: Promise<void> | undefined;
    const run: Run = async function* run({ beforeDelete }, signal) {
      yield BEGUN;
      assert.equal(beforeDelete?.(), undefined);
      nowMs = 30_000;
      try {
        isAsked = beforeDelete?.();
      } catch (error) {
        refusals.push(error);
        throw error;
      }
      await isAsked;
      await hasStopped(signal);
      assert.throws(() => beforeDelete?.(), PurgeStoppedError);
      throw new PurgeStoppedError('stopped');
    };
    const { one, kept, close } = twoProcesses(run, { monotonicMs: () => nowMs });
    if (isJob) {
      await one.service.submit(newPurge());
      await turns();
      assert.ok(refusals[0] instanceof PurgeStoppedError);
      assert.equal(
        one.told.some((news) => news.startsWith('ended')),
        false,
        'it goes back to the queue',
      );
    } else {
      kept.before = (name) => {
        if (name !== 'renew') return undefined;
        kept.before = () => undefined;
        return kept.records().then(async ([record]) => {
          assert.ok(record !== undefined);
          await kept.store.put({ ...record, state: 'interrupted', endedAt: record.createdAt });
        });
      };
      await assert.rejects(one.service.run(newPurge(), NEVER), PurgeFailedError);
      assert.ok(isAsked !== undefined, 'the store was asked');
    }
    await close();
  }
});

it('a dry run starts even if the maximum number of purges is running', async () => {
  const made = purgeServiceOf(
    async function* run(order, signal) {
      if (!order.query.dryRun) yield* untilStopped(order, signal);
      yield finished({ dryRun: true });
    },
    { maxRunning: 1 },
  );
  const purge = made.service.run(newPurge(), NEVER).catch(() => {});
  await turns();
  const { record } = await made.service.run(newPurge('type=T&dryRun=true'), NEVER);
  assert.deepEqual([record.state, record.dryRun], ['succeeded', true]);
  made.service.jobs.stop();
  await purge;
  await made.service.jobs.close();
});

it('the number of waiting jobs is the last known one while the store is unavailable', async () => {
  const made = purgeServiceOf(untilStopped, { maxRunning: 1 });
  for (let count = 0; count < 3; count += 1) await made.service.submit(newPurge());
  assert.equal(await made.service.jobs.queued(), 2);
  made.kept.isAway = true;
  assert.equal(await made.service.jobs.queued(), 2);
  made.kept.isAway = false;
  made.service.jobs.stop();
  await made.service.jobs.close();
});

it('a closed process makes no more requests to its store', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const { one, kept, close } = twoProcesses();
  one.service.jobs.start();
  await turns();
  await close();
  const calls = kept.calls.length;
  t.mock.timers.tick(60_000);
  await turns();
  assert.equal(kept.calls.length, calls);
});

it('a folder of recorded ids that cannot be read does not prevent purges', async () => {
  const idFiles = { sweep: () => Promise.reject(new Error('no rights')) } as unknown as IdFiles;
  const made = purgeServiceOf(finishing, { idFiles });
  made.service.jobs.start();
  await turns();
  assert.equal((await made.service.run(newPurge(), NEVER)).record.state, 'succeeded');
  await made.service.jobs.close();
});

it('the list of ids of a purge is closed however the purge ends, and missing ids are a warning', async () => {
  for (const isBroken of [false, true]) {
    let closed = 0;
    const recorder = {
      note: () => {},
      close: async () => ((closed += 1) === 1 ? 'The recorded ids are incomplete: x.' : undefined),
    };
    const idFiles = { recorder: () => recorder, has: async () => true } as unknown as IdFiles;
    const { id, ...made } = await jobOf(
      async function* run() {
        yield BEGUN;
        if (isBroken) throw new Error('a bug');
        yield finished();
      },
      'type=T&record=ids',
      { idFiles },
    );
    const { state, warnings } = await made.service.get(id);
    assert.deepEqual(
      [state, warnings],
      [isBroken ? 'failed' : 'succeeded', ['The recorded ids are incomplete: x.']],
    );
    assert.ok(closed > 0);
    await made.service.jobs.close();
  }
});

it('a purge that fails by itself after a cancellation is reported with its own error', async () => {
  const failure = new Error('a bug');
  const made = purgeServiceOf(async function* run(_order, signal) {
    yield BEGUN;
    await hasStopped(signal);
    throw failure;
  });
  const ended = made.service.run(newPurge(), NEVER).catch((error: unknown) => error);
  await turns();
  await made.service.cancel((await made.kept.records())[0]?.id ?? '');
  const error = await ended;
  assert.ok(error instanceof PurgeFailedError);
  assert.deepEqual([error.cause, error.record.state], [failure, 'cancelled']);
});

it('a run of a retention policy deletes nothing if the clock of the gateway is ahead of the broker', async () => {
  let aheadMs: number | undefined;
  const made = purgeServiceOf(
    async function* run({ query, beforeDelete }) {
      if (query.dryRun) yield finished({ dryRun: true, deleted: 0, matched: 9 });
      await beforeDelete?.();
      yield finished();
    },
    { brokerAheadMs: () => aheadMs },
  );
  const ran = async (retentionPolicy: string | undefined) => {
    const { id } = await made.service.submit({ ...newPurge(), retentionPolicy });
    await turns();
    return made.service.get(id);
  };
  for (const minutes of [undefined, -60, 0, 10]) {
    aheadMs = minutes && minutes * 60_000;
    const { state, deleted, heldBack } = await ran('nightly');
    assert.deepEqual([state, deleted, heldBack], ['succeeded', 3, undefined]);
  }
  aheadMs = 2880 * 60_000;
  const { state, dryRun, heldBack, matched, deleted, warnings } = await ran('nightly');
  assert.deepEqual([state, dryRun, heldBack, matched, deleted], ['succeeded', true, true, 9, 0]);
  assert.match(warnings.join(), /^The clock of the gateway was 2880 minutes ahead of the broker's/);
  assert.equal((await ran(undefined)).deleted, 3, "the age of other purges is their callers' affair");
  await made.shutDown();
});

it('a job with more matches than its guard allows reports them without a bound, and deletes nothing', async () => {
  const seen: (readonly [string, number | undefined])[] = [];
  const made = purgeServiceOf(async function* run({ query, limits, budget }) {
    seen.push([String(query.dryRun), limits.maxAffected]);
    if (!query.dryRun) throw new TooManyMatchesError(9, limits.maxAffected ?? 0, false);
    assert.equal(budget, undefined);
    yield finished({ dryRun: true, deleted: 0, matched: 9 });
  });
  for (const [query, bounds] of [
    ['type=T', [5, undefined]],
    ['type=T&maxAffected=5', [5, 5]],
    ['type=T&maxAffected=6', [5, 6]],
  ] as const) {
    seen.length = 0;
    const { id } = await made.service.submit({ ...newPurge(query), reportAbove: 5 });
    await turns();
    const { state, dryRun, heldBack, matched, warnings } = await made.service.get(id);
    assert.deepEqual([state, dryRun, heldBack, matched], ['succeeded', true, true, 9], query);
    assert.match(warnings.join(), /^It matches at least 9, more than the 5 that .* \(maxGrowth\)/);
    assert.deepEqual(seen, [
      ['false', bounds[0]],
      ['true', bounds[1]],
    ]);
  }
  // The lower bound of its caller refuses the job.
  const { id } = await made.service.submit({ ...newPurge('type=T&maxAffected=4'), reportAbove: 5 });
  await turns();
  const { state, dryRun } = await made.service.get(id);
  assert.deepEqual([state, dryRun], ['refused', false]);
  await made.service.jobs.close();
});
