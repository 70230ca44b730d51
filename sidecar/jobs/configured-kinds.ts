import { BrokerCapabilities } from '../purge/broker/index.js';
import { type PurgeLimits, type PurgeDependencies, purgeEntities, purgeTemporal } from '../purge/index.js';
import type { Clock } from '../shared/clock.js';
import type { Config } from '../shared/config/load.js';
import type { PurgeKinds } from './purge-kinds.js';

/**
 * What has been learnt about a broker, for each collection: brokers may accept for current entities what they reject
 * for history.
 */
export type CapabilitiesByCollection = Readonly<Record<keyof PurgeKinds, BrokerCapabilities>>;

/** Creates the capabilities of a broker of which nothing is known yet. */
export function createCapabilities(clock: Pick<Clock, 'now' | 'monotonicMs'>): CapabilitiesByCollection {
  return { entities: new BrokerCapabilities(clock), temporal: new BrokerCapabilities(clock) };
}

/** Returns the kinds of purge that a configuration allows, with its limits, for a gateway or the command line. */
export function configuredKinds(
  config: Config,
  base: Omit<PurgeDependencies, 'capabilities' | 'retry'>,
  capabilities = createCapabilities(base.clock),
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
    entities: {
      run: purgeEntities,
      limits,
      wholeTenant,
      archiving,
      dependencies: { ...dependencies, capabilities: capabilities.entities },
    },
    temporal: {
      run: purgeTemporal,
      wholeTenant,
      archiving,
      limits: { ...limits, concurrency: config.TEMPORAL_PURGE_CONCURRENCY, strategy: 'single' },
      dependencies: { ...dependencies, capabilities: capabilities.temporal },
      allowsWhole: config.TEMPORAL_WHOLE_DELETE === 'allow',
    },
  };
}
