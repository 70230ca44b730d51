import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import {
  checkRate,
  preparePurge,
  type PurgeKinds,
  type PurgePolicy,
} from '../../../sidecar/jobs/purge-kinds.js';
import {
  type PurgeLimits,
  RateLimiter,
  QueryRefusedError,
  type PurgeOrder,
  purgeEntities,
  purgeTemporal,
} from '../../../sidecar/purge/index.js';
import { systemClock } from '../../../sidecar/shared/clock.js';
import { KIND_SETUP, LIMITS, REPORT } from '../../support/purge-service.js';

const CORE =
  '<https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context.jsonld>; rel="http://www.w3.org/ns/json-ld#context"';

const kinds = (limits = LIMITS): PurgeKinds => ({
  entities: { ...KIND_SETUP, limits, run: purgeEntities },
  temporal: { ...KIND_SETUP, limits, run: purgeTemporal, allowsWhole: true },
});

const size = fc.integer({ min: 1, max: 2000 });
const bound = fc.option(size, { nil: undefined });
const policies = fc
  .record({
    maxAffected: bound,
    pageSize: bound,
    batchSize: bound,
    concurrency: bound,
    temporalConcurrency: bound,
  })
  .map((policy): PurgePolicy =>
    Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined)),
  );
const least = (...values: readonly (number | undefined)[]) => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

it('each limit of a purge is the smallest of those of configuration, policy and caller', () => {
  const limits = fc
    .record({ pageSize: size, pageSizeMax: size, batchSize: size, concurrency: size, maxAffected: bound })
    .map((some): PurgeLimits => ({ ...LIMITS, ...some }));
  fc.assert(
    fc.property(limits, policies, bound, (configured, policy, asked) => {
      const query = `type=Car${asked === undefined ? '' : `&maxAffected=${asked}`}`;
      const limitsOf = (target: 'entities' | 'temporal') =>
        preparePurge(kinds(configured), { target, query, policy, headers: {} }).limits;
      const expected = {
        ...configured,
        pageSize: least(configured.pageSize, policy.pageSize),
        pageSizeMax: least(configured.pageSizeMax, policy.pageSize),
        batchSize: least(configured.batchSize, policy.batchSize),
        maxAffected: least(configured.maxAffected, policy.maxAffected, asked),
      };
      assert.deepEqual(limitsOf('entities'), {
        ...expected,
        concurrency: least(configured.concurrency, policy.concurrency),
      });
      assert.deepEqual(limitsOf('temporal'), {
        ...expected,
        concurrency: least(configured.concurrency, policy.temporalConcurrency),
      });
    }),
  );
});

const prepare = (query: string, policy: PurgePolicy = {}, limits = LIMITS) =>
  preparePurge(kinds(limits), { target: 'entities', query, policy, headers: {} });

it('a prepared purge has the members of its query, the bound of its policy, and its unit', () => {
  const {
    query: asked,
    unit,
    limits,
  } = prepare('type=Car&dryRun=true&maxPerSecond=5&drop=speed', {
    maxAffected: 9,
  });
  assert.deepEqual([asked.dryRun, unit, asked.maxPerSecond], [true, 'attributes', 5]);
  assert.equal(limits.maxAffected, 9);
  assert.equal(prepare('type=Car').unit, 'entities');
  const temporal = { target: 'temporal', policy: {}, headers: {} } as const;
  for (const [query, of] of [
    ['type=Car', 'entities'],
    ['type=Car&attrs=a', 'attributes'],
    ['type=Car&datasetId=@none', 'datasets'],
    ['type=Car&timerel=before&timeAt=2026-01-01T00:00:00Z', 'instances'],
  ] as const) {
    assert.equal(preparePurge(kinds(), { ...temporal, query }).unit, of);
  }
});

it('a purge that the broker runs itself refuses a rate', () => {
  const native = { ...LIMITS, strategy: 'native' as const };
  assert.throws(() => prepare('type=Car&maxPerSecond=5', {}, native), QueryRefusedError);
  const { limits } = prepare('type=Car', {}, native);
  assert.throws(() => checkRate(limits, { maxPerSecond: 5 }), QueryRefusedError);
  for (const none of [{}, { maxPerSecond: null }]) checkRate(limits, none);
  checkRate(prepare('type=Car').limits, { maxPerSecond: 5 });
});

it('a purge runs with the given query, headers and order', () => {
  const seen: PurgeOrder[] = [];
  const own = kinds();
  const entities: PurgeKinds['entities'] = {
    ...own.entities,
    run: async (order) => {
      seen.push(order);
      return REPORT;
    },
  };
  const prepared = preparePurge(
    { ...own, entities },
    { target: 'entities', query: 'type=Car', policy: {}, headers: { link: CORE } },
  );
  const order = { limits: LIMITS, rateLimiter: new RateLimiter(systemClock, 5), onEvent: () => {} };
  void prepared.run(order, new AbortController().signal);
  void prepared.run({ ...order, reportsOnly: true }, new AbortController().signal);
  assert.deepEqual(
    seen.map(({ query, ...others }) => [query.dryRun, query.selection, others]),
    [false, true].map((dryRun) => [
      dryRun,
      [{ name: 'type', value: 'Car' }],
      { headers: { link: CORE }, ...order },
    ]),
  );
});
