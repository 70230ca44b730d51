import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  ClientDisconnectedError,
  PurgeCancelledError,
  PlanUnavailableError,
  PurgeFailedError,
  JobNotFoundError,
  JobEndedError,
  QueueFullError,
} from '../../../sidecar/jobs/errors.js';
import type { PurgeService } from '../../../sidecar/jobs/purge-service.js';
import {
  BrokerRefusedError,
  FilterIgnoredError,
  PurgeStoppedError,
  QueryRefusedError,
  TooManyPurgesError,
} from '../../../sidecar/purge/errors.js';
import { StoreUnavailableError } from '../../../sidecar/store/errors.js';
import type { PurgeRecord } from '../../../sidecar/store/index.js';
import type { PurgeOrder } from '../../../sidecar/purge/index.js';
import { problemOf } from '../../../sidecar/http/problem.js';
import { KeptPurges } from '../../support/kept-purges.js';
import { createTestClock } from '../../support/purge-harness.js';
import {
  BEGUN,
  finished,
  jobOf,
  newPurge,
  NEVER,
  purgeServiceOf,
  recordOf,
  REPORT,
  STARTED,
  turns,
  untilStopped,
  type Run,
} from '../../support/purge-service.js';

type Service = ReturnType<typeof purgeServiceOf>;

/** The end of a purge whose caller waited. */
async function failureOf(run: Promise<unknown>): Promise<PurgeFailedError> {
  const error: unknown = await run.catch((reason: unknown) => reason);
  assert.ok(error instanceof PurgeFailedError, String(error));
  return error;
}

const failure = ({ service }: Service, query?: string, gone: AbortSignal = NEVER) =>
  failureOf(service.run(newPurge(query), gone));

/** Statuses by which a broker refuses a query permanently. */
const REFUSALS = [400, 403, 409, 501];
const refusedBy = (status: number) => new BrokerRefusedError('list the entities', { status });

const throwing = (error: Error, hasBegun: boolean): Run =>
  async function* run() {
    if (hasBegun) yield BEGUN;
    throw error;
  };

it('a purge whose caller waits is recorded from its start to its end, and its events are reported in order', async () => {
  const made = purgeServiceOf(async function* run() {
    yield BEGUN;
    yield finished();
  });
  const { report, record } = await made.service.run(newPurge('type=T&maxPerSecond=5'), NEVER);
  assert.equal(report.deleted, 3);
  const { state, deleted, maxPerSecond, unit, concurrency } = record;
  assert.deepEqual([state, deleted, maxPerSecond, unit, concurrency], ['succeeded', 3, 5, 'entities', 4]);
  assert.ok(record.startedAt !== undefined && record.endedAt !== undefined);
  assert.deepEqual(made.told, ['started running', 'progress', 'ended succeeded']);
  assert.deepEqual(made.errors, [undefined]);
  await turns();
  assert.deepEqual(await made.kept.store.get(record.id), record);
  assert.deepEqual(await made.service.get(record.id), record);
});

it('a purge writes its record once before it runs, whether its caller waits or not', async () => {
  const kept = new KeptPurges();
  const written = () =>
    kept.calls.filter(({ name }) => name === 'put').map(({ given: [record] }) => record as PurgeRecord);
  let before: readonly PurgeRecord[] = [];
  const { service } = purgeServiceOf(
    async function* run() {
      before = written();
      yield finished();
    },
    { kept },
  );
  for (const begin of [
    async () => (await service.run(newPurge(), NEVER)).record,
    async () => service.submit(newPurge()),
  ]) {
    const earlier = written().length;
    const { id } = await begin();
    await turns();
    const [start, ...more] = before.slice(earlier);
    assert.deepEqual([start?.id, start?.state, more], [id, 'running', []]);
    assert.ok(start?.startedAt !== undefined);
  }
});

it('a purge succeeds only if no item failed, no outcome is unknown, and the broker sent no warning', async () => {
  for (const [more, state] of [
    [{}, 'succeeded'],
    [{ alreadyGone: 1, arrived: 2 }, 'succeeded'],
    [{ failed: 1 }, 'partial'],
    [{ unknown: 1 }, 'partial'],
    [{ warnings: ['110 x "stale"'] }, 'partial'],
  ] as const) {
    const { service } = purgeServiceOf(async function* run() {
      yield finished(more);
    });
    assert.equal((await service.run(newPurge(), NEVER)).record.state, state);
  }
});

it('a purge with an invalid query is recorded as refused, with overlong values of its caller shortened', async () => {
  const made = purgeServiceOf(untilStopped);
  for (const more of [0, 1]) {
    const query = `type=T&limit=5&q=`.padEnd(8192 + more, 'x');
    const headers = { 'ngsild-tenant': 't'.repeat(256 + more), link: '<'.padEnd(4096 + more, 'l') };
    const asked = { ...newPurge(query, headers), policy: { maxAffected: 7 } };
    const { cause, record, hasBegun } = await failureOf(made.service.run(asked, NEVER));
    assert.ok(cause instanceof QueryRefusedError && record.endedAt !== undefined && !hasBegun);
    assert.deepEqual([record.state, record.startedAt, record.problem?.status], ['refused', undefined, 400]);
    assert.deepEqual([record.query.length, record.tenant?.length, record.link?.length], [8192, 256, 4096]);
    assert.deepEqual([record.policy, record.caller, record.worker], [{ maxAffected: 7 }, 'c', 'w']);
    await turns();
    assert.deepEqual(await made.kept.store.get(record.id), record);
  }
  assert.deepEqual(made.told, ['ended refused', 'ended refused']);
});

it('a refused purge is recorded as a dry run if its query asks for one, valid or not', async () => {
  const made = purgeServiceOf(untilStopped);
  for (const [query, dryRun] of [
    ['type=T&q=a%3E&dryRun=true', true],
    ['type=T&q=a%3E', false],
    ['type=T&limit=5&dryRun=false', false],
    ['type=T&q=dryRun=true&limit=5', false],
    ['type=T&dryRun=TRUE', false],
  ] as const)
    assert.equal((await failure(made, query)).record.dryRun, dryRun, query);
});

it('a purge that a refusal ends before its first delete is refused; any other failure makes it failed', async () => {
  for (const [error, hasBegun, state] of [
    [new QueryRefusedError('badRequestData', 'no'), false, 'refused'],
    [new QueryRefusedError('badRequestData', 'no'), true, 'failed'],
    [new FilterIgnoredError('q', 'ignored'), false, 'refused'],
    ...REFUSALS.map((status) => [refusedBy(status), false, 'refused'] as const),
    ...[401, 404, 429, 500].map((status) => [refusedBy(status), false, 'failed'] as const),
    [new Error('a bug'), false, 'failed'],
  ] as const) {
    const made = purgeServiceOf(throwing(error, hasBegun));
    const failed = await failure(made);
    assert.deepEqual([failed.record.state, failed.hasBegun, failed.cause], [state, hasBegun, error]);
    assert.ok(failed.record.problem !== undefined);
    assert.deepEqual(made.errors, [error]);
  }
});

it('a purge whose caller disconnects is cancelled, without a problem', async () => {
  const made = purgeServiceOf(untilStopped);
  const gone = new AbortController();
  const ended = failure(made, 'type=T', gone.signal);
  await turns();
  gone.abort();
  const { record } = await ended;
  assert.deepEqual([record.state, record.problem], ['cancelled', undefined]);
  assert.ok(made.errors[0] instanceof ClientDisconnectedError);
});

it('a purge whose caller waits is interrupted, with a problem, when the gateway stops', async () => {
  const made = purgeServiceOf(untilStopped);
  const ended = failure(made);
  await turns();
  made.service.jobs.stop();
  const { record, cause } = await ended;
  assert.deepEqual([record.state, record.problem?.status], ['interrupted', 503]);
  assert.deepEqual(made.errors, [cause]);
});

it('a purge whose caller waits can be cancelled by request, and the caller gets an error', async () => {
  const made = purgeServiceOf(untilStopped);
  const ended = failure(made);
  await turns();
  const id = (await made.kept.records())[0]?.id ?? '';
  const twice = await Promise.all([made.service.cancel(id), made.service.cancel(id)]);
  assert.deepEqual(
    twice.map(({ state }) => state),
    ['cancelling', 'cancelling'],
  );
  const { record, cause } = await ended;
  assert.deepEqual(
    [record.state, record.problem, cause instanceof PurgeCancelledError],
    ['cancelled', undefined, true],
  );
  assert.deepEqual(made.errors, [(cause as Error).cause]);
  const answer = problemOf(cause);
  assert.deepEqual([answer?.problem.status, answer?.headers], [503, {}]);
});

it('a purge that finds no free place leaves no record', async () => {
  const made = purgeServiceOf(untilStopped, { maxRunning: 1 });
  const first = failure(made);
  await turns();
  await assert.rejects(made.service.run(newPurge(), NEVER), TooManyPurgesError);
  assert.equal((await made.service.list({ limit: 9, offset: 0 })).total, 1);
  made.service.jobs.stop();
  await first;
});

it('a purge runs without a record only if none is required', async () => {
  for (const recordRequired of [false, true]) {
    let runs = 0;
    const made = purgeServiceOf(
      async function* run() {
        runs += 1;
        yield finished();
      },
      { recordRequired },
    );
    made.kept.isAway = true;
    const ended = await made.service.run(newPurge(), NEVER).catch(() => undefined);
    assert.deepEqual([ended?.record.state, runs], recordRequired ? [undefined, 0] : ['succeeded', 1]);
    made.kept.isAway = false;
    await made.service.jobs.close();
    assert.equal((await made.kept.records()).length, 1, 'it is recorded when the store is back');
  }
});

it('a job is refused if the queue is full or the gateway stops', async () => {
  const made = purgeServiceOf(untilStopped, { maxRunning: 1, maxQueued: 1 });
  await made.service.submit(newPurge());
  await made.service.submit(newPurge());
  await assert.rejects(made.service.submit(newPurge()), QueueFullError);
  await made.shutDown();
  await assert.rejects(made.service.submit(newPurge()), PurgeStoppedError);
});

it('a job whose query is refused is recorded as refused and never queued', async () => {
  const made = purgeServiceOf(untilStopped);
  await assert.rejects(made.service.submit(newPurge('type=T&limit=5')), PurgeFailedError);
  assert.deepEqual([made.told, await made.service.jobs.queued()], [['ended refused'], 0]);
});

it('a waiting job is cancelled at once, and a running one when its deletes in flight have ended', async () => {
  const made = purgeServiceOf(untilStopped, { maxRunning: 1 });
  const running = await made.service.submit(newPurge());
  const waiting = await made.service.submit(newPurge());
  await turns();
  const cancelled = await made.service.cancel(waiting.id);
  assert.deepEqual([cancelled.state, await made.service.jobs.queued()], ['cancelled', 0]);
  assert.ok(cancelled.endedAt !== undefined);
  assert.equal((await made.service.cancel(running.id)).state, 'cancelling');
  await turns();
  for (const { id } of [running, waiting]) assert.equal((await made.service.cancel(id)).state, 'cancelled');
  assert.deepEqual(
    made.told.filter((each) => each.startsWith('ended')),
    ['ended cancelled', 'ended cancelled'],
  );
});

it('a job whose place a caller took is taken again, even if it is back in the queue after that caller has left', async () => {
  const left = Promise.withResolvers<undefined>();
  const writable = Promise.withResolvers<undefined>();
  const made = purgeServiceOf(
    async function* run() {
      await left.promise;
      yield finished();
    },
    { maxRunning: 1 },
  );
  let caller: Promise<unknown> | undefined;
  made.kept.before = (name) => {
    if (name === 'take') caller ??= made.service.run(newPurge(), NEVER);
    return name === 'put' && caller !== undefined ? writable.promise : undefined;
  };
  const { id } = await made.service.submit(newPurge());
  left.resolve(undefined);
  await caller;
  await turns();
  writable.resolve(undefined);
  await turns();
  assert.equal((await made.service.get(id)).state, 'succeeded');
});

it('a job that starts while its cancellation or new rate waits for the store is cancelled, or gets its rate', async () => {
  for (const how of ['cancel', 'change'] as const) {
    const made = purgeServiceOf(untilStopped, { maxRunning: 1 });
    const running = await made.service.submit(newPurge());
    const waiting = await made.service.submit(newPurge());
    const makePlace = async () => {
      await made.service.cancel(running.id);
      await turns();
    };
    made.kept.before = (name) => (name === 'request' ? makePlace() : undefined);
    const { state, maxPerSecond } =
      how === 'cancel'
        ? await made.service.cancel(waiting.id)
        : await made.service.change(waiting.id, { maxPerSecond: 7 });
    assert.deepEqual([state, maxPerSecond], how === 'cancel' ? ['cancelling', null] : ['running', 7]);
    await turns();
    const left = await made.service.get(waiting.id);
    assert.deepEqual(
      [left.state, left.maxPerSecond],
      how === 'cancel' ? ['cancelled', null] : ['running', 7],
    );
  }
});

/** Does the work, except for the first time. */
function failingOnce<Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) {
  let hasFailed = false;
  return async (...given: Given): Promise<Result> => {
    if (hasFailed) return work(...given);
    hasFailed = true;
    throw new StoreUnavailableError('away');
  };
}

it('a plan is kept, and applied, even if the store was unavailable for a moment', async () => {
  const made = purgeServiceOf(async function* run(order) {
    order.onPlanned?.('urn:a');
    yield finished({ matched: 1, deleted: 1, dryRun: order.plan === undefined });
  });
  const { plans } = made.kept;
  plans.keep = failingOnce(plans.keep.bind(plans));
  plans.part = failingOnce(plans.part.bind(plans));
  const dryRun = await made.service.submit({ ...newPurge('type=T&dryRun=true'), makesPlan: true });
  await turns();
  const { state, plan } = await made.service.get(dryRun.id);
  assert.deepEqual([state, plan?.items], ['succeeded', 1]);
  assert.match(
    plan?.expiresAt ?? '',
    /^2026-01-01T01:00:0/,
    'an hour after the start, by the clock of the test',
  );
  const asked = await made.service.planned(dryRun.id, newPurge());
  const { id } = await made.service.submit(asked);
  await turns();
  assert.equal((await made.service.get(id)).state, 'succeeded');
});

it('a plan that a waiting purge is going to apply cannot be applied by another one', async () => {
  const made = purgeServiceOf(
    async function* run(order, signal) {
      order.onPlanned?.('urn:a');
      if (order.onPlanned === undefined) yield* untilStopped(order, signal);
      else yield finished({ matched: 1, dryRun: true });
    },
    { maxRunning: 1 },
  );
  const dryRun = await made.service.submit({ ...newPurge('type=T&dryRun=true'), makesPlan: true });
  await turns();
  await made.service.submit(newPurge());
  await turns();
  const asked = await made.service.planned(dryRun.id, newPurge());
  const { id } = await made.service.submit(asked);
  assert.equal((await made.service.get(id)).state, 'queued');
  await assert.rejects(
    made.service.submit(asked),
    (error) => error instanceof PurgeFailedError && error.cause instanceof PlanUnavailableError,
  );
  await made.shutDown();
});

it('a cancellation and a new rate are stored before they are answered, so that they survive a crash', async () => {
  const clock = createTestClock(STARTED);
  // Writes in the background are not carried out.
  const { id, ...made } = await jobOf(untilStopped, undefined, {
    clock: { ...clock, sleep: async () => new Promise<never>(() => {}) },
  });
  const kept = async () => (await made.kept.records())[0];
  await made.service.change(id, { maxPerSecond: 7 });
  assert.equal((await kept())?.maxPerSecond, 7);
  await made.service.cancel(id);
  assert.match((await kept())?.state ?? '', /^cancell/);
});

it('a job goes back to the queue when the gateway stops', async () => {
  const { id, ...made } = await jobOf(untilStopped);
  await made.shutDown();
  assert.equal((await made.kept.store.get(id))?.state, 'queued');
  assert.ok(!made.told.some((each) => each.startsWith('ended')));
});

it('a job that is being cancelled when the gateway stops is cancelled, and is not resumed', async () => {
  const made = purgeServiceOf(async function* run(order, signal) {
    yield BEGUN;
    await turns();
    yield* untilStopped(order, signal);
  });
  const { id } = await made.service.submit(newPurge());
  await turn();
  assert.equal((await made.service.cancel(id)).state, 'cancelling');
  await made.shutDown();
  assert.equal((await made.kept.store.get(id))?.state, 'cancelled');
});

it('a job that is cancelled while it goes back to the queue is cancelled, and is not resumed', async () => {
  const { id, ...made } = await jobOf(async function* run(order, signal) {
    await order.budget?.reserve(1);
    yield* untilStopped(order, signal);
  }, 'type=T&maxAffected=5');
  // The rest of its maximum is written last of all.
  let write = () => {};
  const isHeld = new Promise<void>((held) => {
    made.kept.before = (name) => {
      if (name !== 'put') return undefined;
      made.kept.before = () => undefined;
      held();
      return new Promise<void>((resolve) => (write = resolve));
    };
  });
  made.service.jobs.stop();
  await isHeld;
  const cancelling = made.service.cancel(id);
  await turns();
  write();
  assert.match((await cancelling).state, /^cancel/);
  await made.service.jobs.registry.idle();
  await made.service.jobs.close();
  assert.equal((await made.kept.store.get(id))?.state, 'cancelled');
});

it('a job that waits for the store before a delete goes back to the queue when the gateway stops', async () => {
  let sent = 0;
  const made = purgeServiceOf(async function* run({ budget }) {
    yield { type: 'progress', hasBegun: false, ...REPORT, deleted: 0 };
    made.kept.isAway = true;
    await budget?.reserve(1);
    sent += 1;
  });
  const { id } = await made.service.submit(newPurge('type=T&maxAffected=5'));
  await turns();
  made.service.jobs.stop();
  await made.service.jobs.registry.idle();
  assert.equal(sent, 0);
  made.kept.isAway = false;
  await made.service.jobs.close();
  assert.equal((await made.kept.store.get(id))?.state, 'queued');
});

it('a job whose purge ends without a report is interrupted', async () => {
  const { id, ...made } = await jobOf(async function* run() {
    yield BEGUN;
  });
  assert.equal((await made.service.get(id)).state, 'interrupted');
});

it('the rate and the concurrency of a purge can be changed while it runs, within the limits of its start', async () => {
  const orders: PurgeOrder[] = [];
  const run: Run = (order, signal) => {
    orders.push(order);
    return untilStopped(order, signal);
  };
  const { id, ...made } = await jobOf(run, 'type=T&maxPerSecond=5');
  const change = async (members: Parameters<PurgeService['change']>[1]) => {
    const { maxPerSecond, concurrency } = await made.service.change(id, members);
    const [{ limits, rateLimiter } = assert.fail('it does not run')] = orders;
    assert.deepEqual([rateLimiter?.burst, limits.concurrency], [maxPerSecond ?? Infinity, concurrency]);
    return [maxPerSecond, concurrency];
  };
  assert.deepEqual(await change({ concurrency: 2 }), [5, 2]);
  assert.deepEqual(await change({ concurrency: 9 }), [5, 4]);
  assert.deepEqual(await change({ maxPerSecond: 7 }), [7, 4]);
  assert.deepEqual(await change({ maxPerSecond: null, concurrency: 1 }), [null, 1]);
  assert.deepEqual(await change({}), [null, 1]);
  await made.service.cancel(id);
  await assert.rejects(made.service.change(id, { concurrency: 1 }), JobEndedError);
  await turns();
  await assert.rejects(made.service.change(id, { concurrency: 1 }), JobEndedError);
});

it('changing or cancelling an unknown purge throws JobNotFoundError', async () => {
  const { service } = purgeServiceOf(untilStopped);
  await assert.rejects(service.change('nobody', {}), JobNotFoundError);
  await assert.rejects(service.cancel('nobody'), JobNotFoundError);
  await assert.rejects(service.get('nobody'), JobNotFoundError);
});

const watched = async ({ service }: Service, id: string, signal = NEVER) => {
  const states: string[] = [];
  for await (const { state } of service.watch(id, signal)) if (states.at(-1) !== state) states.push(state);
  return states;
};

it('a watcher gets each state of a purge until its end, and only the final one if it has ended', async () => {
  const made = purgeServiceOf(untilStopped);
  const { id } = await made.service.submit(newPurge());
  const states = watched(made, id);
  await turns();
  await made.service.cancel(id);
  assert.deepEqual(await states, ['running', 'cancelling', 'cancelled']);
  assert.deepEqual(await watched(made, id), ['cancelled']);
  await assert.rejects(watched(made, 'nobody'), JobNotFoundError);
});

it('watching ends when the watcher stops, and when the gateway stops', async () => {
  const made = purgeServiceOf(untilStopped, { maxRunning: 1 });
  const [running, waiting] = [await made.service.submit(newPurge()), await made.service.submit(newPurge())];
  const stop = new AbortController();
  const own = watched(made, running.id, stop.signal);
  const others = [watched(made, running.id), watched(made, waiting.id)] as const;
  await turns();
  stop.abort();
  assert.deepEqual(await own, ['running']);
  made.service.jobs.stop();
  assert.deepEqual(await Promise.all(others), [['running', 'queued'], ['queued']]);
});

const DAY_MS = 86_400_000;

/** More than two days ago, which is how long records are kept in these tests. */
async function keepOld({ store }: ReturnType<typeof purgeServiceOf>['kept']): Promise<void> {
  const createdAt = new Date(STARTED - 3 * DAY_MS).toISOString();
  await store.put(recordOf({ id: 'old', state: 'succeeded', createdAt, endedAt: createdAt }));
}

it('old records, and refused ones beyond the maximum number, are deleted at the start and every hour', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const made = purgeServiceOf(untilStopped);
  await keepOld(made.kept);
  made.service.jobs.start();
  await turns();
  const pruned = () => made.kept.calls.filter(({ name }) => name === 'prune').map(({ given }) => given);
  const prune = [STARTED - 2 * DAY_MS, 10_000];
  assert.deepEqual(pruned(), [prune]);
  t.mock.timers.tick(3_599_999);
  await turns();
  assert.equal(pruned().length, 1);
  await keepOld(made.kept);
  t.mock.timers.tick(1);
  await turns();
  assert.deepEqual(pruned(), [prune, prune]);
  made.service.jobs.stop();
  t.mock.timers.tick(7_200_000);
  await turns();
  assert.equal(pruned().length, 2);
});

it('no record is deleted because of its age while the clock is ahead of the broker, which is asked first', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let aheadMs: number | undefined;
  const broker: { minutes: number | undefined; isUp: boolean } = { minutes: 11, isUp: true };
  let asked = 0;
  const made = purgeServiceOf(untilStopped, {
    brokerAheadMs: () => aheadMs,
    isBrokerUp: async () => {
      asked += 1;
      aheadMs = broker.minutes && broker.minutes * 60_000;
      return broker.isUp;
    },
  });
  await keepOld(made.kept);
  const isKept = async () => (await made.kept.store.get('old')) !== undefined;
  made.service.jobs.start();
  await turns();
  assert.deepEqual([await isKept(), asked], [true, 1], 'at the start');
  for (const [minutes, isUp, expected] of [
    [10, true, false],
    [11, true, true],
    [10, false, true],
    [-60, true, false],
    [undefined, true, false],
  ] as const) {
    await keepOld(made.kept);
    Object.assign(broker, { minutes, isUp });
    t.mock.timers.tick(3_600_000);
    await turns();
    assert.equal(await isKept(), expected, `${String(minutes)} ${String(isUp)}`);
  }
  const before = asked;
  t.mock.timers.tick(3_600_000);
  await turns();
  assert.equal(asked, before, 'nothing is old');
  made.service.jobs.stop();
});

it('refused records beyond the maximum number are deleted after each thousand more, whatever the reason of the refusal', async () => {
  const made = purgeServiceOf(throwing(new FilterIgnoredError('q', 'ignored'), false));
  const pruned = () => made.kept.calls.filter(({ name }) => name === 'prune').map(({ given }) => given);
  const refusing: readonly (() => Promise<unknown>)[] = [
    async () => made.service.refusal(newPurge('type=A'), new QueryRefusedError('badRequestData', 'no')),
    () => made.service.run(newPurge('typo=A'), new AbortController().signal).catch(() => {}),
    () => made.service.submit(newPurge('typo=A')).catch(() => {}),
    () => made.service.run(newPurge('type=A'), new AbortController().signal).catch(() => {}),
  ];
  for (let count = 1; count <= 2000; count += 1) {
    await refusing[count % refusing.length]?.();
    assert.equal(pruned().length, Math.floor(count / 1000), `${count} refused`);
  }
  assert.equal(pruned()[0]?.[1], 10_000);
  await made.service.jobs.close();
});
