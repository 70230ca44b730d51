import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { RunUnderWayError } from '../../sidecar/store/errors.js';
import type {
  JobRecord,
  JobState,
  PurgeRecord,
  ScanFinding,
  ScanRecord,
} from '../../sidecar/store/job-records.js';
import { handClock, type StoreTest } from './store-samples.js';

const NOW = handClock().time;

/** Asserts that a record is that of a purge, and returns it. */
export function purgeOf(record: JobRecord | undefined): PurgeRecord {
  assert.ok(record !== undefined && record.target !== 'scan');
  return record;
}

/** A record of a purge; those with a final state ended an hour ago. */
export function purgeRecord(id: string, state: JobState, members: Partial<PurgeRecord> = {}): PurgeRecord {
  const isOver = !['queued', 'running', 'cancelling'].includes(state);
  return {
    id,
    state,
    target: 'entities',
    query: 'type=Car',
    caller: 'ada',
    requestId: `request ${id}`,
    worker: 'one:8080',
    dryRun: false,
    policy: {},
    maxPerSecond: null,
    concurrency: 4,
    matched: 0,
    deleted: 0,
    alreadyGone: 0,
    failed: 0,
    unknown: 0,
    arrived: 0,
    requests: 0,
    retries: 0,
    createdAt: new Date(NOW - 7_200_000).toISOString(),
    errors: [],
    warnings: [],
    ...(isOver ? { endedAt: new Date(NOW - 3_600_000).toISOString() } : {}),
    ...members,
  };
}

const FINDING: ScanFinding = {
  domain: 'D',
  model: 'M',
  pointer: '/speed/*',
  keyword: 'type',
  detail: 'must be a number',
  entities: 2,
  sample: ['urn:ngsi-ld:M:1'],
};

/** A record of a scan, made in the same way. */
export function scanRecord(id: string, state: JobState, members: Partial<ScanRecord> = {}): ScanRecord {
  const { query, caller, requestId, worker, createdAt, endedAt } = purgeRecord(id, state);
  return {
    id,
    state,
    target: 'scan',
    query,
    caller,
    requestId,
    worker,
    createdAt,
    policy: {},
    ...(endedAt === undefined ? {} : { endedAt }),
    maxPerSecond: null,
    matched: 0,
    checked: 0,
    valid: 0,
    invalid: 0,
    notJudged: 0,
    requests: 0,
    retries: 0,
    models: [],
    unmodelled: [],
    findings: [],
    warnings: [],
    ...members,
  };
}

/** What every store must guarantee for the records of purges. */
export function purgeContract(test: StoreTest): void {
  test('a record is read byte for byte as it was stored, and replaced by a later one with its id', async ({
    jobs: purges,
  }) => {
    assert.equal(await purges.get('a'), undefined);
    const first = purgeRecord('a', 'running', {
      query: 'q=name=="Zähler ⚡ \\u0000 \ud800"',
      policy: { 'max-affected': 5 },
      errors: [{ __proto__: null, title: '\0' }],
    });
    await purges.put(first);
    assert.equal(JSON.stringify(await purges.get('a')), JSON.stringify(first));
    const last = { ...first, state: 'succeeded', deleted: 2 ** 40, endedAt: first.createdAt } as const;
    await purges.put(last);
    assert.equal(JSON.stringify(await purges.get('a')), JSON.stringify(last));
    assert.equal((await purges.list({ limit: 10, offset: 0 })).total, 1);
  });

  test('records are listed newest first, in pages, by state, tenant, caller, policy and dry run', async ({
    jobs: purges,
  }) => {
    await purges.put(purgeRecord('a', 'succeeded', { tenant: 'Madrid' }));
    await purges.put(purgeRecord('b', 'running', { caller: 'bob' }));
    await purges.put(purgeRecord('c', 'succeeded', { retentionPolicy: 'old' }));
    await purges.put(purgeRecord('d', 'running', { tenant: 'madrid' }));
    await purges.put(purgeRecord('a', 'failed', { tenant: 'Madrid' }));
    const ids = async (filter: object, page = { limit: 10, offset: 0 }) => {
      const { items, total } = await purges.list({ ...filter, ...page });
      return [items.map(({ id }) => id).join(''), total];
    };
    assert.deepEqual(await ids({}), ['dcba', 4]);
    assert.deepEqual(await ids({}, { limit: 2, offset: 1 }), ['cb', 4]);
    assert.deepEqual(await ids({}, { limit: 2, offset: 9 }), ['', 4]);
    assert.deepEqual(await ids({ state: 'running' }), ['db', 2]);
    assert.deepEqual(await ids({ tenant: 'Madrid' }), ['a', 1]);
    assert.deepEqual(await ids({ tenant: '' }), ['cb', 2]);
    assert.deepEqual(await ids({ caller: 'ada', state: 'running' }), ['d', 1]);
    assert.deepEqual(await ids({ retentionPolicy: 'old' }), ['c', 1]);
    await purges.put(purgeRecord('e', 'succeeded', { dryRun: true }));
    assert.deepEqual(await ids({ dryRun: true }), ['e', 1]);
    assert.deepEqual(await ids({ dryRun: false }, { limit: 3, offset: 0 }), ['dcb', 4]);
    assert.deepEqual(await ids({ dryRun: true, state: 'running' }), ['', 0]);
    assert.deepEqual(await ids({ caller: "x' OR '1'='1" }), ['', 0]);
    for (const [tenants, ...found] of [
      [['Madrid'], 'a', 1],
      [[''], 'ecb', 3],
      [['Madrid', '', 'x'], 'ecba', 4],
      [['madrid', 'Madrid'], 'da', 2],
      [['Mad', 'rid', 'Madrid '], '', 0],
      [['Mad%', 'M_drid', "x' OR '1'='1"], '', 0],
      [[], '', 0],
    ] as const)
      assert.deepEqual(await ids({ tenants: new Set(tenants) }), found, String(tenants));
    assert.deepEqual(await ids({ tenants: new Set(['Madrid']), tenant: 'madrid' }), ['', 0]);
  });

  test('a list of very long records ends early, and continues where it ended', async ({ jobs: purges }) => {
    const ids = Array.from({ length: 25 }, (_, at) => `long-${String(at).padStart(2, '0')}`);
    for (const [at, id] of ids.entries()) {
      const createdAt = new Date(Date.UTC(2026, 0, 1) + at).toISOString();
      await purges.put(purgeRecord(id, 'succeeded', { createdAt, sample: ['x'.repeat(500_000)] }));
    }
    const pages: string[][] = [];
    while (pages.flat().length < 25) {
      const { items, total } = await purges.list({ limit: 1000, offset: pages.flat().length });
      assert.equal(total, 25);
      assert.ok(items.length > 0);
      pages.push(items.map(({ id }) => id));
    }
    assert.deepEqual(pages.flat(), ids.toReversed());
    assert.deepEqual(
      pages.map(({ length }) => length),
      [15, 10],
    );
  });

  test('a record that is stored late is listed in the order of creation', async ({ jobs: purges }) => {
    const at = (second: number) => ({ createdAt: `2026-01-01T00:00:0${second}.000Z` });
    for (const [id, second] of [
      ['b', 2],
      ['d', 4],
      ['c', 3],
      ['a', 1],
    ] as const)
      await purges.put(purgeRecord(id, 'refused', at(second)));
    for (const filter of [{}, { state: 'refused' }, { caller: 'ada' }] as const) {
      const { items } = await purges.list({ ...filter, limit: 10, offset: 0 });
      assert.equal(items.map(({ id }) => id).join(''), 'dcba');
      const [second] = (await purges.list({ ...filter, limit: 1, offset: 1 })).items;
      assert.equal(second?.id, 'c');
    }
  });

  test('records are found by creation time, by a part of their decoded query, and by a type named in it', async ({
    jobs: purges,
  }) => {
    const put = async (id: string, createdAt: string, query: string) =>
      purges.put({ ...purgeRecord(id, 'succeeded'), createdAt, query });
    await put('a', '2026-01-01T00:00:00.000Z', 'type=Car,Bus&q=speed%3E100');
    await put('b', '2026-01-02T00:00:00.000Z', 'type=(Carriage|Bus);Thing&q=a_b');
    await put('c', '2026-01-03T00:00:00.000Z', 'q=speed%00%25');
    const ids = async (filter: object) =>
      (await purges.list({ ...filter, limit: 10, offset: 0 })).items.map(({ id }) => id).join('');
    assert.equal(await ids({ since: Date.parse('2026-01-02T00:00:00Z') }), 'cb');
    assert.equal(await ids({ until: Date.parse('2026-01-02T00:00:00Z') }), 'a');
    assert.equal(await ids({ text: 'SPEED>1' }), 'a');
    assert.deepEqual(
      [await ids({ text: 'a_b' }), await ids({ text: 'd_1' }), await ids({ text: '%' })],
      ['b', '', 'c'],
    );
    for (const [type, found] of [
      ['Car', 'a'],
      ['Bus', 'ba'],
      ['Thing', 'b'],
      ['Carri', ''],
      ['C%r', ''],
      ['car', ''],
    ])
      assert.equal(await ids({ type }), found, type);
    assert.equal(await ids({ text: 'a\0' }), '');
  });

  test('text that not every database can store finds no purge, and is refused as a tenant', async ({
    jobs: purges,
  }) => {
    await purges.put(purgeRecord('\ufffd', 'running', { tenant: '\ufffd' }));
    for (const bad of ['\ud800', 'a\0b']) {
      assert.equal(await purges.get(bad), undefined);
      assert.equal((await purges.list({ tenant: bad, limit: 1, offset: 0 })).total, 0);
      const refused = purges.put(purgeRecord('x', 'running', { tenant: bad }));
      await assert.rejects(refused, { kind: 'bodyInvalid' });
    }
  });

  test('a record is stored whole, however long the name of its tenant is', async ({ jobs: purges }) => {
    // No compression helps with random letters.
    const tenant = randomBytes(6000).toString('base64url');
    const record = purgeRecord('a', 'succeeded', { tenant });
    await purges.put(record);
    assert.deepEqual(await purges.get('a'), record);
  });

  test('a job is stored with its purge until the purge ends, and unfinished purges are listed oldest first', async ({
    jobs: purges,
  }) => {
    const job = { headers: { 'ngsild-tenant': 'madrid' }, sealedHeaders: 'sealed' };
    await purges.put(purgeRecord('job', 'queued'), job);
    await purges.put(purgeRecord('sync', 'running'));
    await purges.put(purgeRecord('over', 'succeeded'));
    await purges.put(purgeRecord('job', 'running', { deleted: 7 }));
    assert.deepEqual(await purges.unfinished(), [
      { record: purgeRecord('job', 'running', { deleted: 7 }), job },
      { record: purgeRecord('sync', 'running'), job: undefined },
    ]);
    const spent = { ...job, spent: 8 };
    await purges.put(purgeRecord('job', 'running', { deleted: 7 }), spent);
    assert.deepEqual((await purges.unfinished())[0]?.job, spent);
    await purges.put(purgeRecord('job', 'succeeded'), spent);
    assert.equal((await purges.unfinished()).length, 1);
  });

  test('pruning removes purges that ended before a time, and the oldest refused ones beyond a number', async ({
    jobs: purges,
  }) => {
    const ended = (hours: number) => ({ endedAt: new Date(NOW - hours * 3_600_000).toISOString() });
    await purges.put(purgeRecord('old', 'succeeded', ended(3)));
    await purges.put(purgeRecord('new', 'succeeded', ended(1)));
    await purges.put(purgeRecord('running', 'running'));
    for (const id of ['r1', 'r2', 'r3']) await purges.put(purgeRecord(id, 'refused', ended(1)));
    const ids = async () => (await purges.list({ limit: 10, offset: 0 })).items.map(({ id }) => id);
    assert.equal(await purges.prune(NOW - 3 * 3_600_000, 3), 0, 'what ended just then is kept');
    assert.equal(await purges.prune(NOW - 2 * 3_600_000, 3), 1);
    assert.deepEqual(await ids(), ['r3', 'r2', 'r1', 'running', 'new']);
    assert.equal(await purges.prune(0, 2), 1);
    assert.deepEqual(await ids(), ['r3', 'r2', 'running', 'new']);
    assert.equal(await purges.prune(0, 0), 2);
    assert.deepEqual(await ids(), ['running', 'new']);
  });

  test('scans are stored apart from purges: lists, pruning and places of one kind do not affect the other', async ({
    jobs,
  }) => {
    await jobs.put(purgeRecord('p', 'succeeded'));
    await jobs.put(purgeRecord('refused', 'refused'));
    const done = scanRecord('s', 'succeeded', { findings: [FINDING] });
    await jobs.put(done);
    await jobs.put(scanRecord('bad', 'refused'));
    const listed = async (kind?: 'purge' | 'scan') =>
      (await jobs.list({ kind, limit: 10, offset: 0 })).items.map(({ id }) => id);
    assert.deepEqual(await listed('purge'), ['refused', 'p']);
    assert.deepEqual(await listed('scan'), ['bad', 's']);
    assert.deepEqual(await listed(), ['bad', 's', 'refused', 'p']);
    assert.deepEqual(await jobs.get('s'), done, 'read alone, a scan has its findings');
    const [, inList] = (await jobs.list({ kind: 'scan', limit: 10, offset: 0 })).items;
    assert.deepEqual(inList, { ...done, findings: [] }, 'lists leave findings out');
    assert.equal(await jobs.prune(0, 1), 0, 'one refused job of each kind is kept');
    await jobs.put(purgeRecord('newer', 'refused'));
    assert.equal(await jobs.prune(0, 1), 1);
    assert.deepEqual(await listed(), ['newer', 'bad', 's', 'p']);
    await jobs.add(scanRecord('waits', 'queued'), { headers: {} }, 10);
    const none = { takesJobs: true, takesDryRuns: true, takesScans: false, takesLapsed: false };
    const by = { holder: 'h', leaseMs: 1000 };
    assert.equal(await jobs.take({ ...by, ...none }), undefined, 'a scan takes no place of a purge');
    const taken = await jobs.take({
      ...by,
      ...none,
      takesJobs: false,
      takesDryRuns: false,
      takesScans: true,
    });
    assert.equal(taken?.record.id, 'waits');
  });

  test('of concurrent writes of many purges, the last one of each purge is kept', async ({
    jobs: purges,
  }) => {
    const each = Array.from({ length: 40 }, (_, index) => `p${String(index)}`);
    await Promise.all(each.map((id) => purges.put(purgeRecord(id, 'queued'), { headers: { id } })));
    await Promise.all(each.map((id) => purges.put(purgeRecord(id, 'running', { deleted: 3 }))));
    const left = await purges.unfinished();
    assert.deepEqual(left.map(({ record }) => record.id).sort(), each.sort());
    assert.ok(
      left.every(({ record, job }) => purgeOf(record).deleted === 3 && job?.headers['id'] === record.id),
    );
  });

  test('the completed runs of a retention policy are its newest successful ones, with those that were held back at the end', async ({
    jobs: purges,
  }) => {
    const put = (id: string, state: JobState, members: Partial<PurgeRecord> = {}) =>
      purges.put(purgeRecord(id, state, { retentionPolicy: 'old', ...members }));
    for (const [id, state] of [
      ['a', 'succeeded'],
      ['b', 'partial'],
      ['failed', 'failed'],
      ['c', 'succeeded'],
    ] as const)
      await put(id, state);
    for (const id of ['held 1', 'held 2']) await put(id, 'succeeded', { dryRun: true, heldBack: true });
    await put('other', 'succeeded', { retentionPolicy: 'other' });
    await put('now', 'running');
    const idsOf = async (limit: number) => (await purges.completedRuns('old', limit)).map(({ id }) => id);
    assert.deepEqual(await idsOf(9), ['c', 'b', 'a', 'held 2', 'held 1']);
    assert.deepEqual(await idsOf(2), ['c', 'b']);
    assert.deepEqual(await purges.completedRuns('none', 9), []);
    const last = await purges.lastRuns(['none', 'old']);
    assert.deepEqual([[...last.keys()], last.get('old')?.id], [['old'], 'now']);
  });

  test('one of several concurrent runs of a retention policy starts, and another one only after its end', async ({
    jobs: purges,
  }) => {
    const run = (id: string, state: JobState) => purgeRecord(id, state, { retentionPolicy: 'old' });
    const begun = await Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => purges.put(run(id, 'queued'))));
    const [winner, ...others] = (await purges.unfinished()).map(({ record }) => record.id);
    assert.ok(winner !== undefined);
    assert.deepEqual(others, []);
    const refusals = begun.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    assert.equal(refusals.length, 3);
    for (const reason of refusals) assert.ok(reason instanceof RunUnderWayError && reason.purge === winner);
    await purges.put(run(winner, 'running'));
    await purges.put(run(winner, 'succeeded'));
    await purges.put(run('next', 'queued'));
    await purges.put(purgeRecord('other', 'queued', { retentionPolicy: 'other' }));
    assert.equal((await purges.unfinished()).length, 2);
  });
}
