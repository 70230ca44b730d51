import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRecord, preparedMembers } from '../../../sidecar/jobs/new-record.js';

const ABOUT = { state: 'queued', worker: 'w', createdAt: '2026-01-01T00:00:00.000Z' } as const;
const recordOf = (headers: Readonly<Record<string, string>>, policy = {}) =>
  newRecord({ target: 'temporal', query: 'type=T', headers, policy, caller: 'c', requestId: 'r' }, ABOUT);

describe('the record of a new purge', () => {
  it('the record of a new purge says who asked for what, and has no counts yet', () => {
    const { id, ...record } = recordOf({}, { maxAffected: 7 });
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(record, {
      ...{ ...ABOUT, target: 'temporal', query: 'type=T', caller: 'c', requestId: 'r' },
      ...{ policy: { maxAffected: 7 }, dryRun: false, maxPerSecond: null, concurrency: 1 },
      ...{ matched: 0, deleted: 0, alreadyGone: 0, failed: 0, unknown: 0, arrived: 0 },
      ...{ requests: 0, retries: 0, errors: [], warnings: [] },
    });
    assert.notEqual(recordOf({}).id, recordOf({}).id);
  });

  it('the record of a new purge has the tenant and the @context, and no other header', () => {
    const headers = { 'ngsild-tenant': 't1', 'fiware-service': 't2', link: '<x>', authorization: 'Bearer b' };
    const { tenant, link, ...rest } = recordOf(headers);
    assert.deepEqual([tenant, link], ['t1', '<x>']);
    assert.ok(!JSON.stringify(rest).includes('Bearer'));
    assert.equal(recordOf({ 'fiware-service': 't2' }).tenant, 't2');
  });

  it('the record of a purge says that it is a dry run before its query is understood', () => {
    const dryRunOf = (query: string) =>
      newRecord({ target: 'entities', query, headers: {}, policy: {}, caller: 'c', requestId: 'r' }, ABOUT)
        .dryRun;
    assert.ok(dryRunOf('type=T&q=a%3E&dryRun=true'));
    for (const query of [
      'type=T&q=a%3E',
      'type=T&dryRun=false',
      'type=T&q=dryRun=true',
      'type=T&dryRun=TRUE',
    ])
      assert.ok(!dryRunOf(query), query);
  });

  it('the record of a purge gets its limits once its query is understood', () => {
    const limits = {
      ...{ pageSize: 1, pageSizeMax: 1, batchSize: 1, concurrency: 5, maxAffected: undefined },
      strategy: 'auto' as const,
    };
    const prepared = { dryRun: true, unit: 'datasets', limits, isPaced: true, recordsIds: false } as const;
    const run = () => assert.fail('it is not run');
    assert.deepEqual(preparedMembers({ ...prepared, run, maxPerSecond: 9 }), {
      ...{ dryRun: true, unit: 'datasets', maxPerSecond: 9, concurrency: 5 },
    });
    assert.equal(preparedMembers({ ...prepared, run, maxPerSecond: undefined }).maxPerSecond, null);
  });
});
