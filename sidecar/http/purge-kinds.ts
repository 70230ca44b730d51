import type { PurgeLimits } from '../purge/context.js';
import { purgeEntities } from '../purge/engine.js';
import { PolicyRefusedError } from '../purge/errors.js';
import type { PurgeEvent } from '../purge/events.js';
import type { PurgeDependencies, PurgeOrder } from '../purge/purge-run.js';
import { parseEntityPurgeQuery, type EntityPurgeQuery } from '../purge/query/query.js';
import type { PurgeQuery } from '../purge/query/selection.js';
import { purgeTemporal } from '../purge/temporal/engine.js';
import { parseTemporalPurgeQuery, type TemporalPurgeQuery } from '../purge/temporal/query.js';
import type { WholeTenant } from '../purge/query/whole-tenant.js';
import type { PurgePolicy } from './purge-policy.js';

/** What purges of one collection work with. */
export interface PurgeSetup {
  readonly dependencies: PurgeDependencies;
  /** What the configuration allows; callers and policy can only narrow it. */
  readonly limits: PurgeLimits;
  /** What is done with a purge that may empty its tenant. */
  readonly wholeTenant: WholeTenant;
}

export interface TemporalPurgeSetup extends PurgeSetup {
  /** Whether whole temporal entities may go: some brokers delete the current entity with them. */
  readonly allowsWhole: boolean;
}

/** One kind of purge, from its query string to its events. */
export interface PurgeKind<Query extends PurgeQuery> extends PurgeSetup {
  /** @throws QueryRefusedError, PolicyRefusedError */
  readonly parse: (query: string) => Query;
  /** @throws PolicyRefusedError for a purge that is understood and not allowed */
  readonly vet: (query: Query, policy: PurgePolicy) => void;
  readonly concurrencyOf: (policy: PurgePolicy) => number | undefined;
  readonly run: (
    order: PurgeOrder<Query>,
    dependencies: PurgeDependencies,
    signal: AbortSignal,
  ) => AsyncIterable<PurgeEvent>;
}

/** Purges of entities, or of their attributes. */
export function entityPurges(setup: PurgeSetup): PurgeKind<EntityPurgeQuery> {
  return {
    ...setup,
    parse: (query) => parseEntityPurgeQuery(query, setup.wholeTenant),
    vet: () => {},
    concurrencyOf: (policy) => policy.concurrency,
    run: purgeEntities,
  };
}

/** Purges of temporal entities, or of parts of them. */
export function temporalPurges(setup: TemporalPurgeSetup): PurgeKind<TemporalPurgeQuery> {
  return {
    ...setup,
    parse: (query) => parseTemporalPurgeQuery(query, setup.wholeTenant),
    vet: ({ target, dryRun }, policy) => {
      if (policy.allowTemporal === false)
        throw new PolicyRefusedError('The policy of this gateway allows no temporal purges.');
      if (target.kind === 'entities' && !dryRun && !setup.allowsWhole) {
        throw new PolicyRefusedError(
          'This gateway deletes no whole temporal entities (TEMPORAL_WHOLE_DELETE=refuse), since the broker may delete the current entities with them: name attributes by attrs, or add a time filter.',
        );
      }
    },
    concurrencyOf: (policy) => policy.temporalConcurrency,
    run: purgeTemporal,
  };
}

/** The smaller of every bound: configuration, gateway policy, caller. */
export function narrowLimits<Query extends PurgeQuery>(
  { limits, concurrencyOf }: PurgeKind<Query>,
  policy: PurgePolicy,
  query: Query,
): PurgeLimits {
  const bounds = [limits.maxAffected, policy.maxAffected, query.maxAffected].filter(
    (bound) => bound !== undefined,
  );
  return {
    ...limits,
    pageSize: Math.min(limits.pageSize, policy.pageSize ?? Infinity),
    pageSizeMax: Math.min(limits.pageSizeMax, policy.pageSize ?? Infinity),
    batchSize: Math.min(limits.batchSize, policy.batchSize ?? Infinity),
    concurrency: Math.min(limits.concurrency, concurrencyOf(policy) ?? Infinity),
    maxAffected: bounds.length === 0 ? undefined : Math.min(...bounds),
  };
}
