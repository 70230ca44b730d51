import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkCrashes, withCrash } from '../../../sidecar/jobs/job-record.js';
import { defined } from '../../../sidecar/shared/defined.js';
import type { JobResumeData, PurgeRecord } from '../../../sidecar/store/job-records.js';
import { KeptPurges } from '../../support/kept-purges.js';
import {
  BEGUN,
  newPurge,
  purgeServiceOf,
  recordOf,
  turns,
  untilStopped,
  type Run,
} from '../../support/purge-service.js';

/** A purge that never gets further, in a process that is then abandoned. */
const hanging: Run = async function* run() {
  await new Promise(() => {});
  yield BEGUN;
};

/** One process after the other on one store; each but the first finds what the one before left. */
async function process(kept: KeptPurges, run: Run, setup: Parameters<typeof purgeServiceOf>[1] = {}) {
  const made = purgeServiceOf(run, { kept, ...setup });
  made.service.jobs.start();
  await turns();
  return made;
}

async function only(kept: KeptPurges): Promise<PurgeRecord> {
  const [record, ...others] = await kept.records();
  assert.ok(record !== undefined && others.length === 0);
  return record;
}

it('a job that crashes each process that runs it is begun by three processes, and the next one ends it', async () => {
  const kept = new KeptPurges();
  let begun = 0;
  const poison: Run = (...given) => {
    begun += 1;
    return hanging(...given);
  };
  const first = await process(kept, poison);
  await first.service.submit(newPurge());
  await turns();
  for (const count of [1, 2, 3]) {
    assert.deepEqual([begun, (await only(kept)).state], [count, 'running']);
    await process(kept, poison);
  }
  const { state, problem, endedAt } = await only(kept);
  assert.deepEqual([begun, state, problem?.status], [3, 'failed', 500]);
  assert.match(problem?.type ?? '', /:job-crashes$/);
  assert.ok(endedAt !== undefined);
});

it('a job that settles something before each crash continues, however often its processes crash', async () => {
  const kept = new KeptPurges();
  const deleting: Run = async function* run(...given) {
    yield { ...BEGUN, matched: 1, deleted: 1 };
    yield* hanging(...given);
  };
  const first = await process(kept, deleting);
  await first.service.submit(newPurge());
  await turns();
  for (const deleted of [1, 2, 3, 4, 5]) {
    assert.deepEqual(await only(kept).then((record) => [record.state, record.deleted]), ['running', deleted]);
    await process(kept, deleting);
  }
});

it('a job that was put back into the queue by processes that shut down has not crashed', async () => {
  const kept = new KeptPurges();
  const first = await process(kept, untilStopped);
  await first.service.submit(newPurge());
  await turns();
  await first.shutDown();
  for (let restart = 0; restart < 5; restart += 1) await (await process(kept, untilStopped)).shutDown();
  assert.equal((await only(kept)).state, 'queued');
});

it('a crash counts as well if a gateway of another broker puts the job back into the queue', async () => {
  const kept = new KeptPurges();
  const first = await process(kept, hanging, { broker: 'a' });
  await first.service.submit(newPurge());
  await turns();
  for (let crash = 0; crash < 3; crash += 1) {
    await process(kept, hanging, { broker: 'b' });
    assert.equal((await only(kept)).state, 'queued');
    await process(kept, hanging, { broker: 'a' });
  }
  assert.deepEqual(await only(kept).then(({ state, problem }) => [state, problem?.status]), ['failed', 500]);
});

/** The number of crashes in a row, of which each found a job in one of these states. */
const crashesOf = (record: PurgeRecord, jobs: readonly JobResumeData[]) => {
  let crashes: JobResumeData['crashes'];
  for (const job of jobs) ({ crashes } = withCrash(record, { ...job, ...defined({ crashes }) }));
  return crashes?.count;
};

it('a restore makes progress with each page of its archive, and not by what it created of a page', () => {
  const at = (line: number): JobResumeData => ({ headers: {}, restore: { position: { line } } });
  const restore = recordOf({ target: 'restore', restored: 7 });
  assert.equal(crashesOf(restore, [at(5), at(5), at(5)]), 3);
  assert.equal(crashesOf(restore, [at(5), at(5), at(9)]), 1);
});

it('a dry run begins anew each time, and so it makes no progress', () => {
  const job = { headers: {} };
  const record = recordOf({ dryRun: true, matched: 9 });
  assert.equal(crashesOf(record, [job, job, job]), 3);
  assert.throws(
    () => checkCrashes(record, { ...job, crashes: { count: 3, settled: 0 } }),
    /3 times in a row/,
  );
  checkCrashes(record, { ...job, crashes: { count: 2, settled: 0 } });
});
