import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PurgeOrder } from '../../../../sidecar/jobs/new-record.js';
import { entityPurges, temporalPurges, type PurgeKinds } from '../../../../sidecar/jobs/purge-kinds.js';
import { RetentionService } from '../../../../sidecar/jobs/retention/retention-service.js';
import {
  PolicyRefusedError,
  QueryRefusedError,
  type PurgeReport,
  type PurgeDependencies,
} from '../../../../sidecar/purge/index.js';
import { PreconditionFailedError } from '../../../../sidecar/store/errors.js';
import type { PurgeFilter, PurgeRecord } from '../../../../sidecar/store/purge-records.js';
import type {
  NewRetentionPolicy,
  RetentionPolicies,
  RetentionPolicy,
  RetentionSettings,
} from '../../../../sidecar/store/retention-records.js';
import { LIMITS } from '../../../support/purge-service.js';

const OWN = '<https://own.example/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"';
const SETTINGS: RetentionSettings = {
  ...{ target: 'entities', query: 'type=Car', olderThan: 'P90D', by: 'modifiedAt', schedule: '0 3 * * *' },
  ...{ timeZone: 'UTC', maxGrowth: 3, mode: 'enforce', enabled: true, tenant: 'north', link: OWN },
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
      ...{ 'ngsild-tenant': 'north', link: OWN, 'x-request-id': 'r1', authorization: 'Bearer a' },
    });
    assert.deepEqual(order.policy, { maxAffected: 5, concurrency: 2 });
    assert.deepEqual([order.caller, order.retentionPolicy], ['operator', 'p']);
  });

  it('a retention run that names ETags begins only where the policy still has one of them', async () => {
    const { service, orders } = serviceOf();
    const by = { caller: 'operator', requestId: 'r1', policy: {}, headers: {} };
    await assert.rejects(service.run('p', by, ['other']), PreconditionFailedError);
    await assert.rejects(service.run('p', by, []), PreconditionFailedError);
    assert.deepEqual(orders, []);
    await service.run('p', by, ['other', POLICY.etag]);
    assert.equal(orders.length, 1);
  });

  it('a scheduled retention run is that of its author, without any credentials', async () => {
    const { service, orders } = serviceOf();
    await service.runScheduled(POLICY);
    const [order] = orders;
    const { requestId = '' } = order ?? {};
    assert.deepEqual(order?.headers, { 'ngsild-tenant': 'north', link: OWN, 'x-request-id': requestId });
    assert.deepEqual([order.caller, order.policy], ['author', { maxAffected: 5 }]);
  });

  it('a scheduled retention run of a policy without a tenant names none', async () => {
    const { service, orders } = serviceOf();
    const settings = { ...POLICY.settings };
    delete (settings as { tenant?: string }).tenant;
    delete (settings as { link?: string }).link;
    await service.runScheduled({ ...POLICY, settings });
    assert.deepEqual(Object.keys(orders[0]?.headers ?? {}), ['x-request-id']);
  });
});

const BY = { caller: 'ada', requestId: 'r1', policy: {}, headers: {} };

/** What has a service of one policy: its runs, the newest first, and what a dry run would match. */
function serviceWith(settings: Partial<RetentionSettings>, runs: readonly PurgeRecord[] = [], matched = 0) {
  const orders: PurgeOrder[] = [];
  const pages: PurgeFilter[] = [];
  const stored: { policy: NewRetentionPolicy; expected: unknown }[] = [];
  const policy = { ...POLICY, settings: { ...SETTINGS, ...settings } };
  const setup = { dependencies: {} as PurgeDependencies, limits: LIMITS, wholeTenant: 'bounded' as const };
  const service = new RetentionService({
    store: {
      get: async () => policy,
      put: async (given: NewRetentionPolicy, expected: unknown) => {
        stored.push({ policy: given, expected });
        return { policy, isNew: true };
      },
    } as unknown as RetentionPolicies,
    purges: {
      submit: async (order) => {
        orders.push(order);
        return {} as PurgeRecord;
      },
      run: async (order) => {
        orders.push(order);
        return { report: { matched } as PurgeReport, record: { id: 'p1' } as PurgeRecord };
      },
      list: async (filter) => {
        pages.push(filter);
        const { offset, limit } = filter;
        return { items: runs.slice(offset, offset + limit), total: runs.length };
      },
    },
    kinds: { entities: entityPurges(setup), temporal: temporalPurges({ ...setup, allowsWhole: true }) },
    clock: { now: () => Date.UTC(2026, 0, 1) },
  });
  return { service, orders, pages, stored, policy };
}

const run = (matched: number, isHeldBack = false) =>
  ({ state: 'succeeded', matched, dryRun: isHeldBack, query: 'type=Car' }) as PurgeRecord;
const times = (count: number, record: PurgeRecord) => Array.from({ length: count }, () => record);
const NEVER = new AbortController().signal;

describe('what a retention policy would match', () => {
  it('a preview is a dry run of the whole policy, and says from how many matches on a run would only report', async () => {
    for (const [matched, reportAbove] of [
      [29, undefined],
      [30, undefined],
      [31, 30],
    ] as const) {
      const { service, orders } = serviceWith({ maxAffected: 5 }, [run(10)], matched);
      const preview = await service.preview('p', BY, NEVER);
      assert.deepEqual(
        [preview.id, preview.report.matched, preview.reportAbove],
        ['p1', matched, reportAbove],
      );
      assert.equal(preview.cutoff, '2025-10-03T00:00:00Z');
      assert.equal(orders[0]?.query, `${preview.query}&dryRun=true`);
      assert.deepEqual([orders[0].retentionPolicy, orders[0].caller], [undefined, 'ada']);
    }
    const first = await serviceWith({}, [], 1000).service.preview('p', BY, NEVER);
    assert.equal(first.reportAbove, undefined, 'there is nothing to compare with');
  });
});

describe('the guard of a retention run', () => {
  it('a run that deletes is guarded by the last five runs that came to their end, however far back they are', async () => {
    const held = times(48, run(900, true));
    const { service, orders, pages } = serviceWith({}, [
      ...[run(10), run(10), ...held],
      ...[run(20), run(20), run(20), run(500), run(500)],
    ]);
    await service.run('p', BY);
    assert.equal(orders[0]?.reportAbove, 60);
    assert.deepEqual(
      pages.map(({ offset, limit, retentionPolicy }) => [offset, limit, retentionPolicy]),
      [
        [0, 50, 'p'],
        [50, 50, 'p'],
      ],
    );
  });

  it('no more runs are read than are needed, and a thousand at most', async () => {
    for (const [runs, reads] of [
      [times(49, run(1)), 1],
      [times(50, run(1)), 1],
      [times(50, run(1, true)), 2],
      [[...times(46, run(1, true)), ...times(4, run(1))], 2],
      [times(2000, run(1, true)), 20],
    ] as const) {
      const { service, pages } = serviceWith({}, runs);
      await service.run('p', BY);
      assert.equal(pages.length, reads);
    }
  });

  it('a run that only reports has no guard, and looks at no other runs', async () => {
    const { service, orders, pages } = serviceWith({ mode: 'report', maxAffected: 5 }, [run(1)]);
    await service.run('p', BY);
    assert.deepEqual([orders[0]?.reportAbove, pages.length], [undefined, 0]);
    assert.match(orders[0]?.query ?? '', /&dryRun=true$/);
  });
});

describe('a retention policy that is written', () => {
  it('a policy is kept with its author, and with what the gateway in front allows them', async () => {
    const { service, stored, policy } = serviceWith({});
    const author = { caller: 'ada', policy: { maxAffected: 7 } };
    await service.put('p', policy.settings, author, 'present');
    assert.deepEqual(stored, [
      { policy: { name: 'p', settings: policy.settings, author }, expected: 'present' },
    ]);
  });

  it('a policy is refused that its author could not run, in the way in which it would run', async () => {
    const { service, stored, policy } = serviceWith({});
    const author = { caller: 'ada', policy: { dryRunOnly: true } };
    const put = (more: Partial<RetentionSettings>, by: Parameters<RetentionService['put']>[2] = BY) =>
      service.put('p', { ...policy.settings, ...more }, by);
    await assert.rejects(put({ mode: 'enforce' }, author), PolicyRefusedError);
    await put({ mode: 'report' }, author);
    const temporal = { target: 'temporal', by: 'modifiedAt', mode: 'report' } as const;
    await assert.rejects(
      put(temporal, { caller: 'a', policy: { allowTemporal: false } }),
      PolicyRefusedError,
    );
    await put(temporal);
    for (const wrong of [
      { schedule: 'daily' },
      { timeZone: 'Mars/Olympus' },
      { query: 'type=Car&limit=5' },
      { olderThan: 'a while' },
      { query: 'local=true', by: 'modifiedAt' },
    ])
      await assert.rejects(put(wrong), QueryRefusedError, JSON.stringify(wrong));
    assert.equal(stored.length, 2);
  });

  it('a policy that is there already cannot be created, and other errors come as they are', async () => {
    const { service, policy } = serviceWith({});
    const taken = new PreconditionFailedError({ kind: 'retention policy', name: 'p' }, 'e');
    const refused = new QueryRefusedError('invalidRequest', 'no');
    for (const [error, expected] of [
      [taken, { kind: 'alreadyExists', message: /retention policy/ }],
      [refused, refused],
    ] as const) {
      service.put = (_name, _settings, _author, state) => {
        assert.equal(state, 'absent');
        return Promise.reject(error);
      };
      await assert.rejects(service.create('p', policy.settings, BY), expected);
    }
  });
});
