import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, it } from 'node:test';
import type { PurgeRecord, PurgeService } from '../../../sidecar/jobs/purge-service.js';
import {
  PurgeStoppedError,
  type PurgeEvent,
  type PurgeReport,
  type PurgeOrder,
  type RunningPurges,
} from '../../../sidecar/purge/index.js';
import type { GatewayError } from '../../../sidecar/shared/errors.js';
import { systemClock } from '../../../sidecar/shared/clock.js';
import { KeptPurges } from '../../support/kept-purges.js';
import { LIMITS, purgeServiceOf, type PurgeServiceSetup, type Run } from '../../support/purge-service.js';

const services: { readonly service: PurgeService; readonly running: RunningPurges }[] = [];

/** Starts the service of a process. */
function startService(kept: KeptPurges, run: Run, setup: PurgeServiceSetup = {}) {
  const made = purgeServiceOf(run, { kept, clock: systemClock, maxRunning: 2, ...setup });
  made.service.start();
  services.push(made);
  return made;
}

async function stopServices(): Promise<void> {
  for (const { service, running } of services.splice(0)) {
    running.stop();
    await service.close();
  }
}

const order = (query = 'type=Car', headers: Readonly<Record<string, string>> = {}) => ({
  ...{ target: 'entities' as const, query, headers, policy: {}, caller: 'c', requestId: 'r' },
});

const counts = (deleted: number, unknown = 0) => ({
  ...{ matched: deleted + unknown, deleted, alreadyGone: 0, failed: 0, unknown, arrived: 0 },
  ...{ requests: 1, retries: 0 },
});
const progress = (deleted: number, unknown = 0): PurgeEvent => ({
  type: 'progress',
  ...counts(deleted, unknown),
  hasBegun: true,
});
const finished = (deleted: number): PurgeEvent => {
  const report: PurgeReport = {
    ...{ ...counts(deleted), dryRun: false, success: [], errors: [], sample: [], warnings: [] },
  };
  return { type: 'finished', report };
};

/** A purge that reserves its deletes one by one, and stops in the middle of it. */
async function* deletesUntilStopped(
  { reserve }: PurgeOrder,
  signal: AbortSignal,
  deleted: number,
  { toldOf = deleted, unknown = 0 } = {},
): AsyncGenerator<PurgeEvent> {
  for (let index = 0; index < deleted + unknown; index++) await reserve?.(1);
  yield progress(toldOf, unknown);
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw new PurgeStoppedError('stopped');
}

/** A purge that tells how many matches there may be, and how many it may delete, and ends. */
function tellsMaximum(maxima: (number | undefined)[], allow: (allowed: number) => void = () => {}): Run {
  return async function* run({ limits, reserve }) {
    maxima.push(limits.maxAffected);
    let allowed = 0;
    while (allowed < 1000 && (await reserve?.(1)) !== undefined) allowed += 1;
    allow(allowed);
    yield finished(0);
  };
}

async function endOf({ service }: { readonly service: PurgeService }, id: string): Promise<PurgeRecord> {
  let last: PurgeRecord | undefined;
  for await (const record of service.watch(id, new AbortController().signal)) last = record;
  return last ?? assert.fail('there is no record');
}

/** Waits until the purge has told of its progress. */
async function hasWorked({ service }: { readonly service: PurgeService }, id: string): Promise<void> {
  for await (const record of service.watch(id, new AbortController().signal)) if (record.requests > 0) return;
}

/** Waits until the progress of the purge is in the database. */
async function hasKept(store: KeptPurges, id: string): Promise<void> {
  const isKept = async () =>
    (await store.records()).some((record) => record.id === id && record.requests > 0);
  while (!(await isKept())) await nextTurn();
}

/** Waits until a write has failed and was tried again. */
async function hasFailedTwice(store: KeptPurges): Promise<void> {
  const puts = () => store.calls.filter(({ name }) => name === 'put').length;
  while (!store.isAway) await nextTurn();
  const before = puts();
  while (puts() < before + 2) await nextTurn();
}

describe('the maximum of a job', () => {
  afterEach(stopServices);

  it('the maximum of a job holds over a crash: what may have been deleted counts, reported or not', async () => {
    const store = new KeptPurges();
    const first = startService(store, (one, signal) => deletesUntilStopped(one, signal, 40, { toldOf: 25 }));
    const { id } = await first.service.submit(order('type=Car&maxAffected=100'));
    await hasKept(store, id);
    // The first process is as good as dead: nothing that it writes is kept from here on.
    const maxima: (number | undefined)[] = [];
    let allowed = 0;
    const second = startService(
      store,
      tellsMaximum(maxima, (number) => (allowed = number)),
    );
    assert.equal((await endOf(second, id)).state, 'succeeded');
    // Those that were reported are gone; the others may be left, and are withheld where they are.
    assert.deepEqual([maxima, allowed], [[75], 60]);
  });

  it('the maximum of a job is reduced by exactly what was deleted or may have been when the gateway shuts down', async () => {
    const store = new KeptPurges();
    const first = startService(store, async function* (one, signal) {
      for (let tries = 0; tries < 30; tries++) await one.reserve?.(1);
      yield* deletesUntilStopped(one, signal, 40, { unknown: 3 });
    });
    const { id } = await first.service.submit(order('type=Car&maxAffected=100'));
    await hasWorked(first, id);
    first.service.stop();
    first.running.stop();
    await first.service.idle();
    assert.equal(first.service.isAtWork, false);
    await first.service.close();
    assert.equal((await store.store.get(id))?.state, 'queued');
    const maxima: (number | undefined)[] = [];
    let allowed = 0;
    const second = startService(
      store,
      tellsMaximum(maxima, (number) => (allowed = number)),
    );
    const { state, deleted, unknown, matched } = await endOf(second, id);
    assert.deepEqual([state, deleted, unknown, matched], ['partial', 40, 3, 43]);
    assert.deepEqual([maxima, allowed], [[60], 57]);
  });

  it('the maximum of a job holds while the store is away: the job waits for it, and sends no delete meanwhile', async () => {
    const store = new KeptPurges();
    let sent = 0;
    const gateway = startService(store, async function* ({ reserve }) {
      store.isAway = true;
      await reserve?.(1);
      sent += 1;
      yield finished(1);
    });
    const { id } = await gateway.service.submit(order('type=Car&maxAffected=100'));
    await hasFailedTwice(store);
    assert.equal(sent, 0);
    store.isAway = false;
    assert.equal((await endOf(gateway, id)).state, 'succeeded');
    assert.equal(sent, 1);
  });

  it('a job that waits for the store ends when it is cancelled', async () => {
    const store = new KeptPurges();
    const gateway = startService(store, async function* ({ reserve }) {
      store.isAway = true;
      await reserve?.(1);
      yield assert.fail('nothing may be sent');
    });
    const { id } = await gateway.service.submit(order('type=Car&maxAffected=100'));
    await hasFailedTwice(store);
    await gateway.service.cancel(id);
    assert.equal((await endOf(gateway, id)).state, 'cancelled');
  });
});

describe('jobs', () => {
  afterEach(stopServices);

  it('jobs that arrive together never exceed the number that may wait', async () => {
    const store = new KeptPurges();
    const gateway = startService(store, (one, signal) => deletesUntilStopped(one, signal, 1), {
      maxQueued: 3,
      maxRunning: 1,
    });
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, () => gateway.service.submit(order())),
    );
    assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 3);
  });

  it('jobs with credentials that cannot be kept are recorded as refused', async () => {
    const store = new KeptPurges();
    const { service } = startService(store, tellsMaximum([]));
    await assert.rejects(service.submit(order('type=Car', { authorization: 'Bearer b' })), ({ cause }) => {
      return (cause as GatewayError).kind === 'jobSecretMissing';
    });
    await service.close();
    const [record] = await store.records();
    assert.equal(record?.state, 'refused');
    assert.equal(JSON.stringify(record).includes('Bearer b'), false);
  });

  it('jobs that go on have no more requests at a time than the configuration allows by then', async () => {
    const store = new KeptPurges();
    const first = startService(store, (one, signal) => deletesUntilStopped(one, signal, 1));
    const { id } = await first.service.submit(order());
    await hasWorked(first, id);
    first.service.stop();
    first.running.stop();
    await first.running.idle();
    await first.service.close();
    const seen: number[] = [];
    const second = startService(
      store,
      async function* ({ limits }) {
        seen.push(limits.concurrency);
        yield finished(0);
      },
      { limits: { ...LIMITS, concurrency: 2 } },
    );
    assert.equal((await endOf(second, id)).concurrency, 2);
    assert.deepEqual(seen, [2]);
  });

  it('jobs that the broker runs itself take no rate', async () => {
    const gateway = startService(new KeptPurges(), (one, signal) => deletesUntilStopped(one, signal, 1), {
      limits: { ...LIMITS, strategy: 'native' },
    });
    const { id } = await gateway.service.submit(order());
    await hasWorked(gateway, id);
    await assert.rejects(gateway.service.change(id, { maxPerSecond: 5 }), /cannot be held to a rate/);
    assert.equal((await gateway.service.change(id, { maxPerSecond: null })).maxPerSecond, null);
    assert.equal((await gateway.service.get(id)).maxPerSecond, null);
  });

  it('a slow watcher of a job gets its latest state, not every change', async () => {
    let begin = () => {};
    const isWatched = new Promise<void>((resolve) => (begin = resolve));
    const gateway = startService(new KeptPurges(), async function* () {
      await isWatched;
      for (let deleted = 1; deleted <= 5000; deleted++) yield progress(deleted);
      yield finished(5000);
    });
    const { id } = await gateway.service.submit(order());
    const watching = gateway.service.watch(id, new AbortController().signal);
    await watching.next();
    begin();
    await endOf(gateway, id);
    const told: number[] = [];
    for await (const { deleted } of watching) told.push(deleted);
    assert.deepEqual(told, [5000]);
  });

  it('jobs are stored as running before they send anything', async () => {
    const store = new KeptPurges();
    let seen: PurgeRecord | undefined;
    const gateway = startService(store, async function* () {
      [seen] = await store.records();
      yield finished(0);
    });
    const { id } = await gateway.service.submit(order());
    await endOf(gateway, id);
    assert.equal(seen?.state, 'running');
  });

  it('jobs keep the warnings of an earlier process', async () => {
    const store = new KeptPurges();
    const first = startService(store, (one, signal) => deletesUntilStopped(one, signal, 1));
    const { id } = await first.service.submit(order());
    await hasWorked(first, id);
    const second = startService(store, tellsMaximum([]));
    const { state, warnings } = await endOf(second, id);
    assert.equal(state, 'succeeded');
    assert.match(warnings.join(), /restarted/);
  });
});
