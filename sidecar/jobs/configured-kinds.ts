import { BrokerMemory } from '../purge/broker/index.js';
import type { PurgeLimits, PurgeDependencies } from '../purge/index.js';
import type { Clock } from '../shared/clock.js';
import type { Config } from '../shared/config/load.js';
import { entityPurges, temporalPurges, type PurgeKinds } from './purge-kinds.js';

/**
 * What is learnt about a broker. Brokers may accept for current entities what they refuse for history, so each has its own.
 */
export type BrokerMemories = Readonly<Record<keyof PurgeKinds, BrokerMemory>>;

/** Memories in which nothing was learnt yet. */
export function createMemories(clock: Pick<Clock, 'now'>): BrokerMemories {
  return { entities: new BrokerMemory(clock), temporal: new BrokerMemory(clock) };
}

/**
 * The purges that a configuration allows, within its limits: of a gateway, or of the command line.
 *
 * @param keepsArchives whether what they delete can be archived
 */
export function configuredKinds(
  config: Config,
  base: Omit<PurgeDependencies, 'capabilities' | 'retry'>,
  memories = createMemories(base.clock),
  keepsArchives = false,
): PurgeKinds {
  const dependencies = {
    ...base,
    retry: {
      maxAttempts: config.RETRY_MAX_ATTEMPTS,
      minDelayMs: config.RETRY_MIN_DELAY_MS,
      maxDelayMs: config.RETRY_MAX_DELAY_MS,
      awayMs: config.BROKER_AWAY_MS,
    },
  };
  const limits: PurgeLimits = {
    pageSize: config.PURGE_PAGE_SIZE,
    pageSizeMax: config.PURGE_PAGE_SIZE_MAX,
    batchSize: config.PURGE_BATCH_SIZE,
    concurrency: config.PURGE_CONCURRENCY,
    strategy: config.PURGE_STRATEGY,
    maxAffected: config.PURGE_MAX_AFFECTED === 0 ? undefined : config.PURGE_MAX_AFFECTED,
  };
  const wholeTenant = config.PURGE_WHOLE_TENANT;
  const archiving = { least: config.PURGE_ARCHIVE, isPossible: keepsArchives };
  return {
    entities: entityPurges({
      limits,
      wholeTenant,
      archiving,
      dependencies: { ...dependencies, capabilities: memories.entities },
    }),
    temporal: temporalPurges({
      wholeTenant,
      archiving,
      limits: { ...limits, concurrency: config.TEMPORAL_PURGE_CONCURRENCY, strategy: 'single' },
      dependencies: { ...dependencies, capabilities: memories.temporal },
      allowsWhole: config.TEMPORAL_WHOLE_DELETE === 'allow',
    }),
  };
}
