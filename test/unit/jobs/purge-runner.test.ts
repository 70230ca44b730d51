import assert from 'node:assert/strict';
import { JobSecretError } from '../../../sidecar/jobs/job-headers.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, it } from 'node:test';
import type { IdFiles } from '../../../sidecar/jobs/id-files.js';
import { PurgeStoppedError, TooManyMatchesError } from '../../../sidecar/purge/errors.js';
import type { PurgeEvent, PurgeOrder } from '../../../sidecar/purge/index.js';
import type { JobResumeData, PurgeRecord, UnfinishedJob } from '../../../sidecar/store/job-records.js';
import { KeptPurges } from '../../support/kept-purges.js';
import { createTestClock } from '../../support/purge-harness.js';
import { purgeOf } from '../../support/store-contract-purges.js';
import {
  finished,
  finishing,
  hasStopped,
  LIMITS,
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

type Started = ReturnType<typeof purgeServiceOf>;

const services: Started[] = [];

/** Starts the service of a process on a store that outlives it. */
function startService(kept: KeptPurges, run: Run, setup: PurgeServiceSetup = {}): Started {
  const made = purgeServiceOf(run, { kept, maxRunning: 2, ...setup });
  made.service.jobs.start();
  services.push(made);
  return made;
}

const closeServices = async () => {
  for (const { service } of services.splice(0)) await service.jobs.close();
};

/** A purge that reserves its deletes one by one, and is stopped in the middle. */
async function* deletesUntilStopped(
  { budget }: PurgeOrder,
  signal: AbortSignal,
  deleted: number,
  { toldOf = deleted, unknown = 0 } = {},
): AsyncGenerator<PurgeEvent> {
  for (let index = 0; index < deleted + unknown; index++) await budget?.reserve(1);
  yield { ...REPORT, type: 'progress', hasBegun: true, matched: toldOf + unknown, deleted: toldOf, unknown };
  await hasStopped(signal);
  throw new PurgeStoppedError('stopped');
}

/** A purge that notes how many matches there may be, and how many it may delete, and ends. */
function notesMaximum() {
  const seen = { maxima: [] as (number | undefined)[], allowed: 0 };
  const run: Run = async function* run({ limits, budget }) {
    seen.maxima.push(limits.maxAffected);
    while (seen.allowed < 1000 && (await budget?.reserve(1)) !== undefined) seen.allowed += 1;
    yield finished({ matched: 0, deleted: 0 });
  };
  return { run, seen };
}

async function endOf({ service }: Started, id: string): Promise<PurgeRecord> {
  let last: PurgeRecord | undefined;
  for await (const record of service.watch(id, NEVER)) last = record;
  return last ?? assert.fail('there is no record');
}

/** Waits until a purge has reported progress, in the store if requested. */
async function hasWorked({ service, kept }: Started, id: string, isInStore = false): Promise<void> {
  for await (const record of service.watch(id, NEVER)) if (record.requests > 0) break;
  const isKept = async () => ((await kept.store.get(id))?.requests ?? 0) > 0;
  while (isInStore && !(await isKept())) await nextTurn();
}

/** Waits until a write has failed and was retried. */
async function hasFailedTwice(store: KeptPurges): Promise<void> {
  const puts = () => store.calls.filter(({ name }) => name === 'put').length;
  while (!store.isAway) await nextTurn();
  const before = puts();
  while (puts() < before + 2) await nextTurn();
}

describe('the maximum of a job', () => {
  afterEach(closeServices);

  it('the maximum of a job includes everything that may have been deleted before a crash, reported or not', async () => {
    const store = new KeptPurges();
    const first = startService(store, (one, signal) => deletesUntilStopped(one, signal, 40, { toldOf: 25 }));
    const { id } = await first.service.submit(newPurge('type=Car&maxAffected=100'));
    await hasWorked(first, id, true);
    // The first process is as good as dead: nothing that it writes from now on is kept.
    const { run, seen } = notesMaximum();
    assert.equal((await endOf(startService(store, run), id)).state, 'succeeded');
    // Reported deletes are gone. The others may still exist, and are withheld if they do.
    assert.deepEqual([seen.maxima, seen.allowed], [[75], 60]);
  });

  it('the maximum of a job includes what each process may have deleted over several crashes', async () => {
    const store = new KeptPurges();
    const first = startService(store, (one, signal) => deletesUntilStopped(one, signal, 40, { toldOf: 25 }));
    const { id } = await first.service.submit(newPurge('type=Car&maxAffected=100'));
    await hasWorked(first, id, true);
    const again = new AbortController();
    startService(store, async function* (one, signal) {
      for (let deletes = 0; deletes < 30; deletes++) await one.budget?.reserve(1);
      again.abort();
      yield* untilStopped(one, signal);
    });
    await hasStopped(again.signal);
    const { run, seen } = notesMaximum();
    assert.equal((await endOf(startService(store, run), id)).state, 'succeeded');
    assert.equal(seen.allowed, 30);
  });

  it('the maximum of a job is reduced by exactly the deleted and unknown items when the gateway shuts down', async () => {
    const store = new KeptPurges();
    const first = startService(store, async function* (one, signal) {
      for (let tries = 0; tries < 30; tries++) await one.budget?.reserve(1);
      yield* deletesUntilStopped(one, signal, 40, { unknown: 3 });
    });
    const { id } = await first.service.submit(newPurge('type=Car&maxAffected=100'));
    await hasWorked(first, id);
    await first.shutDown();
    assert.equal((await store.store.get(id))?.state, 'queued');
    const { run, seen } = notesMaximum();
    const { state, deleted, unknown, matched } = await endOf(startService(store, run), id);
    assert.deepEqual([state, deleted, unknown, matched], ['partial', 40, 3, 43]);
    assert.deepEqual([seen.maxima, seen.allowed], [[60], 57]);
  });

  it('a job with a maximum sends no delete while the store is unavailable, and can be cancelled', async () => {
    for (const isCancelled of [false, true]) {
      const store = new KeptPurges();
      let sent = 0;
      const gateway = startService(store, async function* ({ budget }) {
        store.isAway = true;
        await budget?.reserve(1);
        sent += 1;
        yield finished();
      });
      const { id } = await gateway.service.submit(newPurge('type=Car&maxAffected=100'));
      await hasFailedTwice(store);
      assert.equal(sent, 0);
      if (isCancelled) await gateway.service.cancel(id);
      else store.isAway = false;
      assert.equal((await endOf(gateway, id)).state, isCancelled ? 'cancelled' : 'succeeded');
      assert.equal(sent, isCancelled ? 0 : 1);
    }
  });
});

describe('a job of an earlier process', () => {
  afterEach(closeServices);

  const left = (members: Partial<PurgeRecord>, job: JobResumeData = { headers: {} }): UnfinishedJob => ({
    record: recordOf({ startedAt: '2026-01-01T00:00:01.000Z', concurrency: 3, ...members }),
    job,
  });

  /** The end of a purge that another process left. */
  async function ended({ record, job }: UnfinishedJob, run: Run = finishing, setup: PurgeServiceSetup = {}) {
    const made = purgeServiceOf(run, setup);
    await made.kept.store.put(record, job);
    made.service.jobs.start();
    await turns();
    made.service.jobs.stop();
    return { ...made, record: await made.service.get(record.id) };
  }

  it('a purge of an earlier process is interrupted if its caller waited, and cancelled if that was requested', async () => {
    for (const [members, job, state] of [
      [{}, undefined, 'interrupted'],
      [{ state: 'queued' }, undefined, 'interrupted'],
      [{ state: 'cancelling' }, { headers: {} }, 'cancelled'],
    ] as const) {
      const { record, told } = await ended({ ...left(members), job });
      assert.deepEqual([record.state, record.worker, told], [state, 'old', [`ended ${state}`]]);
      assert.ok(record.endedAt !== undefined);
      const wasQueued = 'state' in members && members.state === 'queued';
      assert.equal(record.warnings.length, wasQueued ? 0 : 1);
      if (!wasQueued)
        assert.match(record.warnings[0] ?? '', /^The gateway .* stopped responding, and w ended it\. /);
    }
  });

  it('a resumed job warns how many matches have an unknown outcome, and how many count towards its maximum', async () => {
    const counts = { matched: 90, deleted: 40, alreadyGone: 5, failed: 4, unknown: 1 };
    const { record } = await ended(left({ ...counts, warnings: ['first'] }, { headers: {}, spent: 43 }));
    assert.deepEqual([record.state, record.worker], ['succeeded', 'w']);
    assert.deepEqual([record.matched, record.deleted, record.alreadyGone], [48, 43, 5]);
    assert.deepEqual([record.failed, record.unknown, record.startedAt], [0, 0, '2026-01-01T00:00:01.000Z']);
    const [first, warning = ''] = record.warnings;
    assert.deepEqual([record.warnings.length, first], [2, 'first']);
    assert.match(warning, /^The gateway old stopped responding, and w resumed it\. 40 of its matches were/);
    assert.match(warning, / 3 matches that may have been deleted count towards its maximum\.$/);
    const many = await ended(left({ warnings: Array.from({ length: 25 }, (_, index) => `w${index}`) }));
    assert.deepEqual([many.record.warnings.length, many.record.warnings[0]], [20, 'w6']);
    for (const spent of [undefined, 3, 5]) {
      const job = { headers: {}, ...(spent === undefined ? {} : { spent }) };
      const overCounted = await ended(left({ matched: 1, deleted: 5, worker: 'w' }, job));
      assert.match(
        overCounted.record.warnings[0] ?? '',
        /^The gateway was restarted\. Its counts do not include what was deleted [^.]*\.$/,
      );
    }
  });

  it('a queued job starts without a warning, keeps its unknown items, and is limited by the current configuration', async () => {
    const { record } = await ended(left({ state: 'queued', concurrency: 9, unknown: 2 }));
    assert.deepEqual(
      [record.state, record.warnings, record.unknown, record.concurrency],
      ['partial', [], 2, 4],
    );
    const seen: number[] = [];
    const run: Run = async function* run({ limits }) {
      seen.push(limits.concurrency);
      yield finished();
    };
    await ended(left({}), run, { limits: { ...LIMITS, concurrency: 2 } });
    assert.deepEqual(seen, [2]);
  });

  it('the record of a resumed job has no digest of its archive before its first delete', async () => {
    const archive = { entities: 1, bytes: 9, segments: 1, expiresAt: '2999-01-01T00:00:00.000Z' };
    const job = left({ archive: { ...archive, listDigest: 'a'.repeat(64) } });
    const kept = new KeptPurges(createTestClock(STARTED));
    const seen: unknown[] = [];
    const run: Run = async function* run() {
      seen.push(purgeOf(await kept.store.get(job.record.id)).archive);
      yield finished();
    };
    await ended(job, run, { kept });
    assert.deepEqual(seen, [archive]);
  });

  it('a job that cannot be resumed is refused, or fails if it may have deleted', async () => {
    const wrong = { query: 'type=T&limit=5' };
    assert.equal((await ended(left({ ...wrong, state: 'queued' }))).record.state, 'refused');
    const failed = await ended(left(wrong));
    assert.equal(failed.record.state, 'failed');
    assert.match(failed.record.warnings.join(), /w ended it/);
    const sealed = { headers: {}, sealedHeaders: 'AAAA' };
    assert.equal((await ended(left({}, sealed))).record.problem?.status, 400);
  });

  it('a job that may have deleted is neither refused nor turned into a report if too many items match after a restart', async () => {
    const tooMany: Run = async function* run() {
      yield { type: 'progress', ...REPORT, hasBegun: false };
      throw new TooManyMatchesError(200, 5, true);
    };
    const guarded = { headers: {}, reportAbove: 5 };
    const bounded = { query: 'type=T&maxAffected=5' };
    const cases: readonly (readonly [UnfinishedJob, string, RegExp])[] = [
      [
        left({}, { ...guarded, spent: 3 }),
        'failed',
        /the 5 that .* \(maxGrowth\), with up to 3 already used/,
      ],
      [left({ deleted: 2 }, guarded), 'failed', /the 5 that .* \(maxGrowth\), with up to 2 already used/],
      [
        left(bounded, { ...guarded, spent: 3 }),
        'failed',
        /the 5 that .* \(maxGrowth\), with up to 3 already used/,
      ],
      [
        left(bounded, { headers: {}, spent: 1 }),
        'failed',
        /the 5 that .* \(maxAffected\), with up to 1 already used/,
      ],
      [left(bounded, { headers: {}, spent: 0 }), 'refused', /more than the 5 that may be affected\./],
      [left({}), 'failed', /more than the 5 that may be affected\./],
      [left({ state: 'queued' }), 'refused', /more than the 5 that may be affected\./],
    ];
    for (const [one, state, detail] of cases) {
      const { record } = await ended(one, tooMany);
      assert.deepEqual([record.state, record.dryRun], [state, false], JSON.stringify(one));
      assert.match(record.problem?.detail ?? '', detail);
    }
  });

  it('a job that became a report is resumed as a report, even if it was to record ids, and deletes nothing', async () => {
    for (const query of ['type=T', 'type=T&record=ids']) {
      const seen: boolean[] = [];
      const { record } = await ended(
        left({ dryRun: true, heldBack: true, query }, { headers: {}, reportAbove: 5 }),
        async function* run(order) {
          seen.push(order.query.dryRun);
          yield finished({ dryRun: true });
        },
      );
      assert.deepEqual([seen, record.state, record.dryRun], [[true], 'succeeded', true]);
    }
  });

  it('a job warns that ids recorded earlier are on another gateway, unless their list is here as well', async () => {
    const note = 'The ids that the gateway one recorded are not in the list of ids here.';
    for (const [query, worker, isHere, notes, hasStarted] of [
      ['type=T&record=ids', 'one', false, [note], true],
      ['type=T&record=ids', 'one', true, [], true],
      ['type=T&record=ids', 'w', false, [], true],
      ['type=T', 'one', false, [], true],
      // The job has waited there, and nothing was recorded.
      ['type=T&record=ids', 'one', false, [], false],
    ] as const) {
      const recorder = { note: () => {}, close: async () => undefined };
      const idFiles = { recorder: () => recorder, has: async () => isHere, sweep: async () => {} };
      const { startedAt, ...waited } = left({ query, worker, state: 'queued' }).record;
      const record = hasStarted && startedAt !== undefined ? { ...waited, startedAt } : waited;
      const setup = { idFiles: idFiles as unknown as IdFiles };
      const { record: now } = await ended({ record, job: { headers: {} } }, finishing, setup);
      assert.deepEqual([now.state, now.warnings], ['succeeded', notes], query);
      assert.equal(now.startedAt === startedAt, hasStarted, query);
    }
  });
});

describe('the queue of jobs', () => {
  afterEach(closeServices);

  it('jobs that arrive together never exceed the size of the queue', async () => {
    const { service } = startService(new KeptPurges(), untilStopped, { maxQueued: 3, maxRunning: 1 });
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => service.submit(newPurge())));
    assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 3);
  });

  it('jobs with credentials that cannot be stored are recorded as refused, without the credentials', async () => {
    const { service, kept } = startService(new KeptPurges(), finishing);
    await assert.rejects(service.submit(newPurge('type=Car', { authorization: 'Bearer b' })), ({ cause }) => {
      return cause instanceof JobSecretError;
    });
    await service.jobs.close();
    const [record] = await kept.records();
    assert.equal(record?.state, 'refused');
    assert.equal(JSON.stringify(record).includes('Bearer b'), false);
  });

  it('jobs that the broker runs itself accept no rate', async () => {
    const { service } = startService(new KeptPurges(), untilStopped, {
      limits: { ...LIMITS, strategy: 'native' },
    });
    const { id } = await service.submit(newPurge());
    await assert.rejects(service.change(id, { maxPerSecond: 5 }), /rate cannot be limited/);
    assert.equal((await service.change(id, { maxPerSecond: null })).maxPerSecond, null);
  });

  it('a job whose rate was set while it ran fails if its gateway now leaves deletes to the broker, which has no rate', async () => {
    const kept = new KeptPurges();
    const first = startService(kept, untilStopped);
    const { id } = await first.service.submit(newPurge());
    await first.service.change(id, { maxPerSecond: 5 });
    await closeServices();
    const native = { limits: { ...LIMITS, strategy: 'native' as const } };
    const second = startService(
      kept,
      () => assert.fail('a purge without its rate was sent to the broker'),
      native,
    );
    const { state, problem } = await endOf(second, id);
    assert.deepEqual([state, problem?.status], ['failed', 400]);
    assert.match(problem?.detail ?? '', /rate cannot be limited/);
  });

  it('jobs are stored as running before they send anything', async () => {
    const kept = new KeptPurges();
    let seen: PurgeRecord | undefined;
    const gateway = startService(kept, async function* () {
      [seen] = await kept.records();
      yield finished();
    });
    await endOf(gateway, (await gateway.service.submit(newPurge())).id);
    assert.equal(seen?.state, 'running');
  });
});
