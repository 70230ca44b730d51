import assert from 'node:assert/strict';
import { LeaseLostError, RestoreUnderWayError, RunUnderWayError } from '../../sidecar/store/errors.js';
import type { JobRecord, PurgeRecord, RequeueOptions, TakeOptions } from '../../sidecar/store/job-records.js';
import type { SqlStore } from '../../sidecar/store/sql-store.js';
import { purgeOf, purgeRecord } from './store-contract-purges.js';
import type { StoreTest } from './store-samples.js';
import { column } from './columns.js';

const JOB = { headers: {} };

/** A process with free places for everything, whose leases end in an hour. */
const one: TakeOptions = {
  holder: 'one',
  leaseMs: 3_600_000,
  takesJobs: true,
  takesDryRuns: true,
  takesScans: true,
  takesLapsed: true,
};
const two: TakeOptions = { ...one, holder: 'two' };
/** A process whose leases have ended before it checks. */
const slow: TakeOptions = { ...one, holder: 'slow', leaseMs: -1 };

const add = ({ jobs: purges }: SqlStore, id: string, members: Partial<PurgeRecord> = {}) =>
  purges.add(purgeRecord(id, 'queued', members), JOB, 100);

const taken = async ({ jobs: purges }: SqlStore, options: TakeOptions) =>
  (await purges.take(options))?.record.id;

async function lease({ jobs: purges }: SqlStore, options: TakeOptions): Promise<number> {
  return (await purges.take(options))?.lease ?? assert.fail('nothing was taken');
}

/** What every store must guarantee for the queue of jobs. */
export function purgeQueueContract(test: StoreTest): void {
  test('a job is taken once, with all its data, and by no other process while its lease lasts', async (store) => {
    const job = { headers: { link: '<x>' }, spent: 3 };
    const record = purgeRecord('a', 'queued');
    assert.equal(await store.jobs.add(record, job, 1), true);
    const first = await store.jobs.take(one);
    assert.deepEqual([first?.record, first?.job, first?.request], [record, job, undefined]);
    assert.ok((first?.lease ?? 0) > 0);
    assert.equal(await store.jobs.take(two), undefined);
    assert.equal(await store.jobs.take(one), undefined);
  });

  test('tenants take turns with their jobs: the tenant served longest ago comes first, with its oldest job', async (store) => {
    for (const id of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) await add(store, id, { tenant: id.slice(0, 1) });
    const order = [await taken(store, one)];
    const number = await lease(store, two);
    order.push('b1');
    await add(store, 'd1', { tenant: 'd' });
    for (let n = 0; n < 5; n += 1) order.push(await taken(store, n % 2 === 0 ? one : two));
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'd1', 'a2', 'b2', 'a3']);
    await store.jobs.put(purgeRecord('b1', 'succeeded', { tenant: 'b' }), undefined, { lease: number });
    for (const tenant of ['b', 'a', 'e']) await add(store, `${tenant}9`, { tenant });
    assert.deepEqual(
      [await taken(store, one), await taken(store, one), await taken(store, one)],
      ['e9', 'b9', 'a9'],
    );
  });

  test('if many processes take jobs at the same time, each job is taken once', async (store) => {
    for (let n = 0; n < 20; n += 1) await add(store, `p${String(n)}`, { tenant: String(n % 3) });
    const all = await Promise.all(
      Array.from({ length: 30 }, (_, n) => taken(store, { ...one, holder: `h${String(n)}` })),
    );
    const found = all.filter((id) => id !== undefined);
    assert.equal(new Set(found).size, found.length);
    while ((await taken(store, two)) !== undefined) found.push('another');
    assert.equal(found.length, 20);
  });

  test('a job stays queued while there is no free place', async (store) => {
    await add(store, 'dry', { dryRun: true });
    await add(store, 'deletes');
    assert.equal(await taken(store, { ...one, takesJobs: false, takesDryRuns: false }), undefined);
    assert.equal(await taken(store, { ...one, takesDryRuns: false }), 'deletes');
    assert.equal(await taken(store, { ...one, takesJobs: false }), 'dry');
  });

  test('the queue never holds more jobs than allowed, however many are added at once', async (store) => {
    const add3 = (id: string) => store.jobs.add(purgeRecord(id, 'queued'), JOB, 3);
    const added = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add3));
    assert.equal(added.filter(Boolean).length, 3);
    assert.equal(await store.jobs.waiting(), 3);
    assert.equal((await store.jobs.list({ limit: 9, offset: 0 })).total, 3);
    await store.jobs.take(one);
    assert.deepEqual([await add3('f'), await add3('g')], [true, false]);
  });

  test('a job for a broker is taken only by processes with that broker, also after its lease has ended', async (store) => {
    const { jobs: purges } = store;
    await purges.add(purgeRecord('a', 'queued'), JOB, 10, 'http://a/');
    await purges.add(purgeRecord('b', 'queued'), JOB, 10, 'http://b/');
    await add(store, 'any');
    const ofB = { ...slow, takesLapsed: false, broker: 'http://b/' };
    assert.deepEqual([await taken(store, ofB), await taken(store, ofB)], ['b', 'any']);
    assert.equal(await taken(store, { ...one, broker: 'http://c/' }), 'any');
    assert.equal(await taken(store, { ...one, broker: 'http://c/' }), undefined);
    assert.equal(await taken(store, { ...two, broker: 'http://b/' }), 'b');
    // A store used by a single process has a single broker.
    assert.equal(await taken(store, one), 'a');
  });

  test('a process with another broker does not return a job to the queue that is waiting or held by another process', async (store) => {
    const { jobs: purges } = store;
    const a = { ...one, broker: 'http://a/' };
    for (const id of ['held', 'waits']) await purges.add(purgeRecord(id, 'queued'), JOB, 10, 'http://a/');
    await add(store, 'any');
    const number = await lease(store, a);
    await purges.put(purgeRecord('held', 'running'), undefined, { lease: number });
    const requeued = (options: Partial<RequeueOptions>) =>
      purges.requeue({ broker: 'http://b/', takesLapsed: true, takesWaiting: false, ...options }, (left) => ({
        ...left,
        record: { ...left.record, state: 'queued', warnings: [left.broker] },
      }));
    assert.deepEqual(await requeued({}), []);
    assert.deepEqual(await requeued({ broker: 'http://a/', takesWaiting: true }), []);
    const waiting = await requeued({ takesWaiting: true });
    assert.deepEqual(
      waiting.map(({ record, broker }) => [record.id, record.state, broker]),
      [['waits', 'queued', 'http://a/']],
    );
    assert.deepEqual((await purges.get('waits'))?.warnings, ['http://a/']);
    await purges.put(purgeRecord('held', 'running', { deleted: 1 }), undefined, { lease: number });
    assert.equal(await taken(store, a), 'waits');
  });

  test('a job whose lease has ended is returned to the queue by a process with another broker, once, and later writes of its holder are dropped', async (store) => {
    const { jobs: purges } = store;
    const a = { ...slow, broker: 'http://a/' };
    await purges.add(purgeRecord('lost', 'queued'), JOB, 10, 'http://a/');
    const number = await lease(store, a);
    await purges.put(purgeRecord('lost', 'running', { deleted: 3 }), { ...JOB, spent: 5 }, { lease: number });
    await purges.request('lost', { concurrency: 2 }, (record) => record);
    const seen: unknown[] = [];
    const requeued = (takesLapsed: boolean) =>
      purges.requeue({ broker: 'http://b/', takesLapsed, takesWaiting: false }, (left) => {
        seen.push([left.record.state, purgeOf(left.record).deleted, left.job.spent, left.request]);
        return { record: { ...left.record, state: 'queued' }, job: { ...left.job, mayHaveBegun: true } };
      });
    assert.deepEqual(await requeued(false), []);
    assert.equal((await requeued(true)).length, 1);
    assert.deepEqual(await requeued(true), []);
    assert.deepEqual(seen, [['running', 3, 5, { concurrency: 2 }]]);
    for (const state of ['running', 'queued', 'succeeded'] as const)
      await assert.rejects(
        purges.put(purgeRecord('lost', state), undefined, { lease: number }),
        LeaseLostError,
      );
    assert.deepEqual(await purges.renew(a), []);
    assert.equal((await purges.list({ state: 'queued', limit: 9, offset: 0 })).total, 1);
    assert.equal(await purges.waiting(), 1);
    const next = await purges.take({ ...two, broker: 'http://a/' });
    assert.deepEqual(
      [next?.record.state, purgeOf(next?.record).deleted, next?.job],
      ['queued', 3, { ...JOB, spent: 5, mayHaveBegun: true }],
    );
  });

  test('only one of two concurrent runs of a retention policy is added', async ({ jobs: purges }) => {
    const run = (id: string) => purgeRecord(id, 'queued', { retentionPolicy: 'old' });
    await purges.add(run('a'), JOB, 10);
    await assert.rejects(purges.add(run('b'), JOB, 10), RunUnderWayError);
  });

  test('only one of two concurrent restores of an archive is added; dry runs do not count', async ({
    jobs,
  }) => {
    const restore = (id: string, restoreOf: string, dryRun = false) =>
      jobs.add(purgeRecord(id, 'queued', { target: 'restore', restoreOf, dryRun }), JOB, 10);
    const [one, other] = await Promise.allSettled([restore('a', 'p'), restore('b', 'p')]);
    assert.deepEqual([one.status, other.status].sort(), ['fulfilled', 'rejected']);
    const refused = one.status === 'rejected' ? one : other;
    assert.ok(refused.status === 'rejected' && refused.reason instanceof RestoreUnderWayError);
    await restore('c', 'p', true);
    await restore('d', 'another');
    await jobs.put(purgeRecord(refused.reason.purge, 'cancelled', { target: 'restore', restoreOf: 'p' }));
    await restore('e', 'p');
  });

  test('a job whose lease has ended is taken over, and later writes of its former holder are dropped', async (store) => {
    const { jobs: purges } = store;
    await add(store, 'a');
    const old = await lease(store, slow);
    await purges.put(purgeRecord('a', 'running', { deleted: 5 }), undefined, { lease: old });
    assert.equal(await taken(store, { ...two, takesLapsed: false }), undefined);
    const over = (await purges.take(two)) ?? assert.fail('nothing was taken');
    assert.equal(purgeOf(over.record).deleted, 5);
    for (const state of ['running', 'queued', 'succeeded'] as const)
      await assert.rejects(
        purges.put(purgeRecord('a', state, { deleted: 9 }), { ...JOB, spent: 9 }, { lease: old }),
        LeaseLostError,
      );
    await purges.release({ id: 'a', lease: old });
    assert.equal(await purges.take(one), undefined);
    assert.deepEqual(await purges.unfinished(), [{ record: over.record, job: over.job }]);
    assert.deepEqual(await purges.renew(slow), []);
    await purges.put(purgeRecord('a', 'succeeded'), undefined, { lease: over.lease });
  });

  test('renewing leases returns the held jobs, and prevents others from taking them over', async (store) => {
    await add(store, 'a');
    await add(store, 'b');
    const next = { ...slow, takesLapsed: false };
    const leases = [await lease(store, next), await lease(store, next)];
    const held = await store.jobs.renew({ ...slow, leaseMs: one.leaseMs });
    assert.deepEqual(
      held.toSorted((a, b) => a.lease - b.lease),
      ['a', 'b'].map((id, index) => ({ id, lease: leases[index], request: undefined })),
    );
    assert.equal(await store.jobs.take(two), undefined);
    await store.jobs.put(purgeRecord('b', 'failed'), undefined, { lease: leases[1] ?? 0 });
    assert.deepEqual(column(await store.jobs.renew(slow), 'id'), ['a']);
  });

  test('a released job is in the queue again at once', async (store) => {
    const { jobs: purges } = store;
    await add(store, 'a');
    await purges.release({ id: 'a', lease: await lease(store, one) });
    assert.equal(await purges.waiting(), 1);
    const again = await lease(store, two);
    await purges.put(purgeRecord('a', 'queued', { deleted: 2 }), undefined, { lease: again });
    assert.equal(purgeOf((await purges.take(one))?.record).deleted, 2);
    await purges.releaseOthers('one');
    assert.equal(await purges.take(two), undefined);
    await purges.releaseOthers('two');
    assert.equal(await taken(store, two), 'a');
  });

  test('a purge with a waiting caller is taken over if its process is gone, and its true end is still stored', async (store) => {
    const { jobs: purges } = store;
    const sync = (state: 'running' | 'interrupted' | 'succeeded', deleted: number) =>
      purges.put(purgeRecord('s', state, { deleted }), undefined, { lease: 0, by: slow });
    await sync('running', 1);
    assert.equal(await taken(store, { ...one, takesLapsed: false }), undefined);
    const left = await purges.take({ ...one, takesJobs: false, takesDryRuns: false });
    assert.deepEqual([purgeOf(left?.record).deleted, left?.job, left?.lease], [1, undefined, 0]);
    await sync('interrupted', 1);
    await assert.rejects(sync('running', 4), LeaseLostError);
    await sync('succeeded', 7);
    assert.deepEqual(
      [(await purges.get('s'))?.state, purgeOf(await purges.get('s')).deleted],
      ['succeeded', 7],
    );
  });

  test('the end of a purge with a waiting caller stays, even if another process has just taken it over', async (store) => {
    const { jobs: purges } = store;
    const put = (state: 'running' | 'interrupted' | 'succeeded', deleted: number) =>
      purges.put(purgeRecord('s', state, { deleted }), undefined, { lease: 0, by: slow });
    await put('running', 1);
    assert.equal(await taken(store, one), 's');
    await put('succeeded', 7);
    await assert.rejects(put('interrupted', 1), LeaseLostError);
    assert.deepEqual(
      [(await purges.get('s'))?.state, purgeOf(await purges.get('s')).deleted],
      ['succeeded', 7],
    );
  });

  test('a request to change a queued purge is carried out in the store, and one for a running purge is passed to its holder', async (store) => {
    const { jobs: purges } = store;
    await add(store, 'a');
    const slower = (record: JobRecord): JobRecord => ({ ...record, maxPerSecond: 5 });
    assert.equal(await purges.request('none', { cancel: true }, slower), undefined);
    assert.equal((await purges.request('a', { maxPerSecond: 5 }, slower))?.outcome, 'done');
    assert.equal((await purges.get('a'))?.maxPerSecond, 5);
    const number = await lease(store, one);
    const asked = await purges.request('a', { concurrency: 2 }, (record) => ({ ...record, concurrency: 2 }));
    assert.deepEqual([asked?.outcome, purgeOf(asked?.record).concurrency], ['asked', 2]);
    assert.equal(purgeOf(await purges.get('a')).concurrency, 4, 'the record is its holder’s');
    await purges.request('a', { maxPerSecond: null }, slower);
    const request = { concurrency: 2, maxPerSecond: null };
    const held = { id: 'a', lease: number, request };
    assert.deepEqual(await purges.renew(one), [held]);
    await purges.request('a', { cancel: true }, slower);
    await purges.clearRequest(held);
    assert.deepEqual(await purges.renew(one), [{ ...held, request: { ...request, cancel: true } }]);
    await purges.clearRequest({ ...held, request: { ...request, cancel: true } });
    assert.deepEqual(await purges.renew(one), [{ ...held, request: undefined }]);
    await purges.put(purgeRecord('a', 'succeeded'), undefined, { lease: number });
    assert.equal((await purges.request('a', { cancel: true }, slower))?.outcome, 'over');
  });

  test('a lease with half a minute left keeps its job from every other process', async (store) => {
    await store.jobs.add(purgeRecord('held', 'queued'), JOB, 10, 'http://a/');
    const held = { ...one, leaseMs: 30_000, broker: 'http://a/' };
    const number = await lease(store, held);
    await store.jobs.put(purgeRecord('held', 'running'), undefined, { lease: number });
    assert.equal(await taken(store, { ...two, broker: 'http://a/' }), undefined);
    const requeued = await store.jobs.requeue(
      { broker: 'http://b/', takesLapsed: true, takesWaiting: true },
      () => assert.fail('it is held'),
    );
    assert.deepEqual(requeued, []);
  });

  test('a purge with a waiting caller does not count as a waiting job, whether held or not', async ({
    jobs: purges,
  }) => {
    await purges.put(purgeRecord('s', 'running'), undefined, { lease: 0, by: one });
    assert.equal(await purges.waiting(), 0);
    await purges.releaseOthers('another');
    assert.equal(await purges.waiting(), 0);
    assert.equal(await purges.add(purgeRecord('a', 'queued'), JOB, 1), true);
    assert.equal((await purges.take({ ...two, takesLapsed: false }))?.record.id, 's', 'it is free at once');
  });

  test('of several requests for a purge, the last value of each member applies', async (store) => {
    const { jobs: purges } = store;
    await add(store, 'a');
    const number = await lease(store, one);
    for (const request of [{ concurrency: 2, maxPerSecond: 5 }, { concurrency: 3 }])
      await purges.request('a', request, (record) => record);
    const request = { concurrency: 3, maxPerSecond: 5 };
    assert.deepEqual(await purges.renew(one), [{ id: 'a', lease: number, request }]);
    await purges.clearRequest({ id: 'a', lease: number + 1, request });
    assert.deepEqual(await purges.renew(one), [{ id: 'a', lease: number, request }], 'of another holder');
  });

  test('a job that was returned to the queue can be changed and cancelled while it waits', async (store) => {
    const { jobs: purges } = store;
    await add(store, 'a');
    const number = await lease(store, one);
    await purges.put(purgeRecord('a', 'queued'), undefined, { lease: number });
    const slower = await purges.request('a', { maxPerSecond: 5 }, (record) => ({
      ...record,
      maxPerSecond: 5,
    }));
    assert.deepEqual([slower?.outcome, slower?.record.maxPerSecond], ['done', 5]);
    assert.deepEqual((await purges.take(two))?.job, JOB);
  });

  test('a job that became a dry run is one in the queue as well', async (store) => {
    const { jobs: purges } = store;
    await add(store, 'a');
    const number = await lease(store, one);
    await purges.put(purgeRecord('a', 'queued', { dryRun: true }), undefined, { lease: number });
    assert.equal((await purges.list({ dryRun: true, limit: 9, offset: 0 })).total, 1);
    assert.equal(await taken(store, { ...one, takesDryRuns: false }), undefined);
    assert.equal(await taken(store, { ...one, takesJobs: false }), 'a');
  });

  test('a purge that has ended is neither held nor returned to the queue, and accepts no request', async (store) => {
    const { jobs: purges } = store;
    await add(store, 'a');
    const number = await lease(store, one);
    await purges.put(purgeRecord('a', 'succeeded'), undefined, { lease: number });
    await purges.release({ id: 'a', lease: number });
    await purges.releaseOthers('another');
    assert.deepEqual([await purges.renew(one), await purges.take(two)], [[], undefined]);
    assert.equal((await purges.request('a', { cancel: true }, (record) => record))?.outcome, 'over');
    assert.deepEqual(await purges.unfinished(), []);
  });

  test('a request for a purge whose holder is gone is passed to the next holder', async (store) => {
    await add(store, 'a');
    await store.jobs.take(slow);
    await store.jobs.request('a', { cancel: true }, (record) => record);
    assert.deepEqual((await store.jobs.take(two))?.request, { cancel: true });
  });

  test('a job cancelled while it waits is not taken', async (store) => {
    await add(store, 'a');
    const over = purgeRecord('a', 'cancelled');
    assert.equal((await store.jobs.request('a', { cancel: true }, () => over))?.outcome, 'done');
    assert.deepEqual([await store.jobs.get('a'), await store.jobs.take(one)], [over, undefined]);
  });
}
