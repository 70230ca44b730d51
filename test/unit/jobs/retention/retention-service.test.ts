import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PurgeOrder } from '../../../../sidecar/jobs/new-record.js';
import type { PurgeKinds } from '../../../../sidecar/jobs/purge-kinds.js';
import { RetentionService } from '../../../../sidecar/jobs/retention/retention-service.js';
import type { PurgeRecord } from '../../../../sidecar/schemas/store/purge-records.js';
import type {
  RetentionPolicies,
  RetentionPolicy,
  RetentionSettings,
} from '../../../../sidecar/schemas/store/retention-records.js';

const SETTINGS: RetentionSettings = {
  ...{ target: 'entities', query: 'type=Car', olderThan: 'P90D', by: 'modifiedAt', schedule: '0 3 * * *' },
  ...{ timeZone: 'UTC', maxGrowth: 3, mode: 'enforce', enabled: true, tenant: 'north', link: '<own>' },
};
const POLICY: RetentionPolicy = {
  ...{ name: 'p', settings: SETTINGS, doneUntil: 0, createdAt: 0, modifiedAt: 0, etag: '"1"' },
  author: { caller: 'author', policy: { maxAffected: 5 } },
};

/** A service with one policy, and the orders that its purges got. */
function serviceOf() {
  const orders: PurgeOrder[] = [];
  const service = new RetentionService({
    store: { get: async () => POLICY } as unknown as RetentionPolicies,
    purges: {
      submit: async (order) => {
        orders.push(order);
        return {} as PurgeRecord;
      },
      run: () => Promise.reject(new Error('not asked for here')),
      list: async () => ({ items: [], total: 0 }),
    },
    kinds: {} as PurgeKinds,
    clock: { now: () => Date.UTC(2026, 0, 1) },
  });
  return { service, orders };
}

describe('a run of a retention policy', () => {
  it('a retention run purges the tenant of its policy, whatever the request that starts it says', async () => {
    const { service, orders } = serviceOf();
    await service.run('p', {
      ...{ caller: 'operator', requestId: 'r1', policy: { maxAffected: 9, concurrency: 2 } },
      headers: { 'ngsild-tenant': 'south', link: '<other>', 'x-request-id': 'r0', authorization: 'Bearer a' },
    });
    const [order] = orders;
    assert.deepEqual(order?.headers, {
      ...{ 'ngsild-tenant': 'north', link: '<own>', 'x-request-id': 'r1', authorization: 'Bearer a' },
    });
    assert.deepEqual(order.policy, { maxAffected: 5, concurrency: 2 });
    assert.deepEqual([order.caller, order.retentionPolicy], ['operator', 'p']);
  });

  it('a scheduled retention run is that of its author, without any credentials', async () => {
    const { service, orders } = serviceOf();
    await service.runScheduled(POLICY);
    const [order] = orders;
    const { requestId = '' } = order ?? {};
    assert.deepEqual(order?.headers, { 'ngsild-tenant': 'north', link: '<own>', 'x-request-id': requestId });
    assert.deepEqual([order.caller, order.policy], ['author', { maxAffected: 5 }]);
  });
});
