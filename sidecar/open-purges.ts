import { hostname } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import { problemOf, unforeseen } from './http/problem.js';
import { configuredKinds } from './jobs/configured-kinds.js';
import { logPurges } from './jobs/purge-log.js';
import { PurgeService } from './jobs/purge-service.js';
import { createHeaderSealer } from './jobs/sealed-headers.js';
import type { PurgeMetrics, PurgeOutcome } from './metrics/purge-metrics.js';
import type { BrokerClient } from './purge/broker/client.js';
import { createRunningPurges, type RunningPurges } from './purge/running.js';
import type { Purges, PurgeState } from './schemas/store/purge-records.js';
import type { Config } from './shared/config/load.js';
import { systemClock, type Clock } from './shared/clock.js';

export interface OpenPurgesOptions {
  readonly client: BrokerClient;
  readonly store: Purges;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: FastifyBaseLogger;
  readonly metrics: PurgeMetrics;
}

/** The purges of this process, and what runs them. */
export interface OpenPurges {
  readonly service: PurgeService;
  readonly running: RunningPurges;
  /** Stops all purges, and refuses new ones; jobs go on at the next start. */
  stop(): void;
  /** Writes the records that are not yet written. */
  close(): Promise<void>;
}

/** Wires purges from the configuration. */
export function openPurges(config: Config, options: OpenPurgesOptions): OpenPurges {
  const { client, store, clock, random, logger, metrics } = options;
  const kinds = configuredKinds(config, { client, clock, random, onRetry: () => metrics.retried() });
  const log = logPurges(logger, (error) => problemOf(error) !== undefined);
  const running = createRunningPurges(config.PURGE_MAX_RUNNING);
  const service = new PurgeService({
    ...{ kinds, store, running },
    // Records show the time of day, whatever clock the retries go by.
    clock: systemClock,
    sealer: createHeaderSealer(config.JOB_SECRET ?? []),
    worker: config.INSTANCE_NAME ?? `${hostname()}:${String(config.PORT)}`,
    maxQueued: config.PURGE_MAX_QUEUED,
    historyDays: config.PURGE_HISTORY_DAYS,
    recordRequired: config.PURGE_RECORD === 'required',
    problemOf: (error) => problemOf(error)?.problem ?? unforeseen(),
    observer: {
      started(record) {
        log.started(record);
        metrics.started(record.target);
      },
      event: (record, event) => log.event(record, event),
      ended(record, error) {
        log.ended(record, error);
        metrics.ended(record.target, outcomeOf(record.state), record);
      },
      storeAway: (err) => logger.warn({ err }, 'records of purges cannot be written'),
      storeBack: () => logger.info('records of purges are written again'),
      recordLost(record) {
        logger.error({ record }, 'record of a purge lost');
        metrics.recordLost();
      },
    },
  });
  return {
    ...{ service, running },
    stop() {
      service.stop();
      running.stop();
    },
    close: () => service.close(),
  };
}

/** The outcome of a purge that has ended. */
function outcomeOf(state: PurgeState): PurgeOutcome {
  return state === 'queued' || state === 'running' || state === 'cancelling' ? 'interrupted' : state;
}
