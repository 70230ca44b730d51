import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NewPurge, PurgePolicy } from '../../../../sidecar/jobs/purge-kinds.js';
import { RetentionService } from '../../../../sidecar/jobs/retention/retention-service.js';
import {
  PolicyRefusedError,
  purgeEntities,
  purgeTemporal,
  QueryRefusedError,
  queryText,
  type PurgeReport,
} from '../../../../sidecar/purge/index.js';
import { PreconditionFailedError } from '../../../../sidecar/store/errors.js';
import type {
  NewRetentionPolicy,
  RetentionPolicies,
  RetentionPolicy,
  RetentionSettings,
} from '../../../../sidecar/store/index.js';
import { KeptPurges } from '../../../support/kept-purges.js';
import { KIND_SETUP, NEVER, recordOf } from '../../../support/purge-service.js';
import { settingsOf } from '../../../support/retention-settings.js';

const OWN = '<https://own.example/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"';
const SETTINGS = settingsOf({ tenant: 'north', link: OWN });
const POLICY: RetentionPolicy = {
  name: 'p',
  settings: SETTINGS,
  doneUntil: 0,
  createdAt: 0,
  modifiedAt: 0,
  etag: '"1"',
  author: { caller: 'author', policy: { maxAffected: 5 } },
};
const BY = { caller: 'ada', requestId: 'r1', policy: {}, headers: {} };

/** A service of one policy, the purges that it started, and the matches of a dry run. */
function serviceOf(
  settings: Partial<RetentionSettings> = {},
  matched = 0,
  allowed: PurgePolicy = { maxAffected: 5 },
) {
  const purges: NewPurge[] = [];
  const stored: { policy: NewRetentionPolicy; expected: unknown }[] = [];
  const author = { caller: 'author', policy: { ...allowed } };
  const policy = { ...POLICY, author, settings: { ...SETTINGS, ...settings } };
  const kept = new KeptPurges();
  const service = new RetentionService({
    store: {
      get: async () => policy,
      put: async (given: NewRetentionPolicy, expected: unknown) => {
        stored.push({ policy: given, expected });
        return { policy, isNew: true };
      },
    } as unknown as RetentionPolicies,
    purges: {
      submit: async (purge) => {
        purges.push(purge);
        return recordOf();
      },
      run: async (purge) => {
        purges.push(purge);
        return { report: { matched } as PurgeReport, record: recordOf({ id: 'p1' }) };
      },
      list: async () => assert.fail('not asked for here'),
    },
    history: kept.store,
    kinds: {
      entities: { ...KIND_SETUP, run: purgeEntities },
      temporal: { ...KIND_SETUP, run: purgeTemporal, allowsWhole: true },
    },
    clock: { now: () => Date.UTC(2026, 0, 1) },
  });
  /** Successful runs of the policy, oldest first. */
  const ran = async (...runs: readonly number[]) => {
    for (const matched of runs)
      await kept.store.put(recordOf({ state: 'succeeded', retentionPolicy: 'p', matched }));
  };
  const heldBack = async (count: number) => {
    for (let n = 0; n < count; n += 1)
      await kept.store.put(
        recordOf({ state: 'succeeded', retentionPolicy: 'p', matched: 900, dryRun: true, heldBack: true }),
      );
  };
  return { service, purges, stored, policy, kept, ran, heldBack };
}

it('a retention run purges the tenant of its policy, whatever its request says', async () => {
  const { service, purges } = serviceOf();
  await service.run('p', {
    caller: 'operator',
    requestId: 'r1',
    policy: { maxAffected: 9, concurrency: 2 },
    headers: { 'ngsild-tenant': 'south', link: '<other>', 'x-request-id': 'r0', authorization: 'Bearer a' },
  });
  const [purge] = purges;
  assert.deepEqual(purge?.headers, {
    'ngsild-tenant': 'north',
    link: OWN,
    'x-request-id': 'r1',
    authorization: 'Bearer a',
  });
  assert.deepEqual([purge.caller, purge.retentionPolicy], ['operator', 'p']);
});

it('a retention run has the narrowest limits of its author and its caller, in every respect', async () => {
  const wide = { maxAffected: 9, pageSize: 9, batchSize: 9, concurrency: 9, temporalConcurrency: 9 };
  const narrow = { maxAffected: 1, pageSize: 2, batchSize: 3, concurrency: 4, temporalConcurrency: 5 };
  const [dryRuns, current] = [{ dryRunOnly: true }, { allowTemporal: false }];
  for (const [author, caller, both] of [
    [{}, {}, {}],
    [wide, narrow, narrow],
    [narrow, wide, narrow],
    [wide, {}, wide],
    [{}, narrow, narrow],
    [
      { ...wide, maxAffected: 1 },
      { maxAffected: 5, pageSize: 2 },
      { ...wide, maxAffected: 1, pageSize: 2 },
    ],
    [dryRuns, { dryRunOnly: false }, dryRuns],
    [{ dryRunOnly: false }, dryRuns, dryRuns],
    [current, { allowTemporal: true }, current],
    [{ allowTemporal: true }, current, current],
    [{ archive: 'required' }, {}, { archive: 'required' }],
    [{ archive: 'best-effort' }, { archive: 'required' }, { archive: 'required' }],
  ] as const) {
    const { service, purges } = serviceOf({ maxGrowth: 0 }, 0, author);
    await service.run('p', { ...BY, policy: caller });
    assert.deepEqual(purges[0]?.policy, both);
  }
});

it('a retention run with ETags starts only if the policy still has one of them', async () => {
  const { service, purges } = serviceOf();
  await assert.rejects(service.run('p', BY, ['other']), PreconditionFailedError);
  await assert.rejects(service.run('p', BY, []), PreconditionFailedError);
  assert.deepEqual(purges, []);
  await service.run('p', BY, ['other', POLICY.etag]);
  assert.equal(purges.length, 1);
});

it('a scheduled retention run is that of its author, without credentials, and without a tenant if its policy has none', async () => {
  const { service, purges } = serviceOf();
  await service.runScheduled(POLICY);
  const [purge] = purges;
  const { requestId = '' } = purge ?? {};
  assert.deepEqual(purge?.headers, { 'ngsild-tenant': 'north', link: OWN, 'x-request-id': requestId });
  assert.deepEqual([purge.caller, purge.policy], ['author', { maxAffected: 5 }]);
  await service.runScheduled({ ...POLICY, settings: { ...SETTINGS, tenant: undefined, link: undefined } });
  assert.deepEqual(Object.keys(purges[1]?.headers ?? {}), ['x-request-id']);
});

it('a preview is a dry run of the whole policy, and states the number of matches above which a run would only report', async () => {
  for (const [matched, reportAbove] of [
    [29, undefined],
    [30, undefined],
    [31, 30],
  ] as const) {
    const { service, purges, ran } = serviceOf({ maxAffected: 5 }, matched);
    await ran(10);
    const preview = await service.preview('p', BY, NEVER);
    const { id, report, cutoff } = preview;
    assert.deepEqual([id, report.matched, preview.reportAbove], ['p1', matched, reportAbove]);
    assert.equal(cutoff, '2025-10-03T00:00:00Z');
    assert.equal(queryText(purges[0]?.query ?? ''), `${preview.query}&dryRun=true`);
    assert.deepEqual([purges[0]?.retentionPolicy, purges[0]?.caller], [undefined, 'ada']);
  }
  const first = await serviceOf({}, 1000).service.preview('p', BY, NEVER);
  assert.equal(first.reportAbove, undefined, 'there is nothing to compare with');
});

it('a run that deletes is guarded by the last five completed runs, however many were held back since', async () => {
  const { service, purges, kept, ran, heldBack } = serviceOf();
  await heldBack(1);
  await service.run('p', BY);
  assert.equal(purges[0]?.reportAbove, 0, 'what was usual is no longer in the history');
  await ran(500, 500, 20, 20, 20);
  await kept.store.put(recordOf({ state: 'partial', retentionPolicy: 'p', matched: 10 }));
  await ran(10);
  await heldBack(60);
  for (const state of ['failed', 'cancelled', 'refused', 'interrupted'] as const)
    await kept.store.put(recordOf({ state, retentionPolicy: 'p', matched: 7000 }));
  await kept.store.put(recordOf({ state: 'succeeded', retentionPolicy: 'other', matched: 8000 }));
  await service.run('p', BY);
  assert.equal(purges[1]?.reportAbove, 60);
  assert.equal(kept.calls.filter(({ name }) => name === 'completedRuns').length, 2);
});

it('a run that only reports, or has no guard, does not read other runs', async () => {
  for (const settings of [{ mode: 'report', maxAffected: 5 }, { maxGrowth: 0 }] as const) {
    const { service, purges, kept, ran } = serviceOf(settings);
    await ran(1);
    await service.run('p', BY);
    assert.equal(purges[0]?.reportAbove, undefined);
    assert.equal(
      kept.calls.some(({ name }) => name === 'completedRuns'),
      false,
    );
    assert.equal(queryText(purges[0]?.query ?? '').endsWith('&dryRun=true'), 'mode' in settings);
  }
});

it('a policy is stored with its author, and with the limits that the gateway in front sets for the author', async () => {
  const { service, stored, policy } = serviceOf();
  const author = { caller: 'ada', policy: { maxAffected: 7 } };
  await service.put('p', policy.settings, author, 'present');
  assert.deepEqual(stored, [
    { policy: { name: 'p', settings: policy.settings, author }, expected: 'present' },
  ]);
});

it('a policy is refused if a run by its author would be refused', async () => {
  const { service, stored, policy } = serviceOf();
  const author = { caller: 'ada', policy: { dryRunOnly: true } };
  const put = (more: Partial<RetentionSettings>, by: Parameters<RetentionService['put']>[2] = BY) =>
    service.put('p', { ...policy.settings, ...more }, by);
  await assert.rejects(put({ mode: 'enforce' }, author), PolicyRefusedError);
  await put({ mode: 'report' }, author);
  const temporal = { target: 'temporal', by: 'modifiedAt', mode: 'report' } as const;
  await assert.rejects(put(temporal, { caller: 'a', policy: { allowTemporal: false } }), PolicyRefusedError);
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
