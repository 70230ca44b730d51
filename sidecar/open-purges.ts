import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { problemOf, unexpectedProblem } from './http/problem.js';
import { configuredKinds, createCapabilities } from './jobs/configured-kinds.js';
import { IdFiles } from './jobs/id-files.js';
import { NamelessIdFiles } from './jobs/nameless-id-files.js';
import { JobService } from './jobs/job-service.js';
import { observeJobs } from './jobs/job-log.js';
import { PlanService } from './jobs/plan-service.js';
import { PurgeService } from './jobs/purge-service.js';
import { RetentionScheduler } from './jobs/retention/scheduler.js';
import { RetentionService } from './jobs/retention/retention-service.js';
import { HeaderSealer } from './jobs/job-headers.js';
import type { Metrics } from './metrics/metrics.js';
import type { Tracing } from './tracing/tracing.js';
import type { Archives } from './archive/index.js';
import type { OpenBroker } from './open-broker.js';
import type { FactsByCollection } from './purge/broker/index.js';
import { RunUnderWayError, type Store } from './store/index.js';
import type { Config } from './shared/config/load.js';
import { systemClock, type Clock } from './shared/clock.js';
import { isLoopback } from './shared/loopback.js';

export interface OpenPurgesOptions {
  readonly store: Pick<Store, 'jobs' | 'retention' | 'plans'>;
  readonly broker: Pick<OpenBroker, 'url' | 'client' | 'aheadMs'>;
  readonly isBrokerUp: () => Promise<boolean>;
  /** Where purges archive what they delete; undefined if archives are off. */
  readonly archives?: Archives | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: FastifyBaseLogger;
  readonly metrics: Pick<Metrics, 'purges' | 'scans' | 'retention'>;
  /** Undefined if tracing is off. */
  readonly tracing?: Pick<Tracing, 'jobs'> | undefined;
}

/** The purges of this process, and the services that run them. */
export type OpenPurges = ReturnType<typeof openPurges>;

/** Builds the services for purges from the configuration. */
export function openPurges(config: Config, options: OpenPurgesOptions) {
  const { store, broker, isBrokerUp, archives, clock, random, logger, metrics, tracing } = options;
  const capabilities = createCapabilities(clock);
  const base = {
    client: broker.client,
    clock,
    random,
    brokerAheadMs: broker.aheadMs,
    onRetry: () => metrics.purges.retried(),
  };
  const kinds = configuredKinds(config, base, capabilities, archives !== undefined);
  const holder = randomUUID();
  const { DATABASE_PATH: path } = config;
  const idFiles = path === ':memory:' ? new NamelessIdFiles() : new IdFiles(join(dirname(path), 'purge-ids'));
  const jobs = new JobService({
    store: store.jobs,
    archives,
    maxRunning: config.PURGE_MAX_RUNNING,
    // Records show the time of day, whichever clock the retries use.
    clock: systemClock,
    idFiles,
    brokerAheadMs: broker.aheadMs,
    isBrokerUp,
    sealer: new HeaderSealer(config.JOB_SECRET ?? []),
    worker: config.INSTANCE_NAME ?? `${hostname()}:${String(config.PORT)}`,
    holder,
    isStoreShared: config.DATABASE_URL !== undefined,
    broker: jobBroker(config, broker.url),
    leaseMs: config.JOB_LEASE_MS,
    maxQueued: config.PURGE_MAX_QUEUED,
    historyDays: config.PURGE_HISTORY_DAYS,
    problemOf: (error) => problemOf(error)?.problem ?? unexpectedProblem(),
    observer: observeJobs(logger, metrics, (error) => problemOf(error) !== undefined, tracing?.jobs),
  });
  const recordRequired = config.PURGE_RECORD === 'required';
  const service = new PurgeService(jobs, {
    kinds,
    recordRequired,
    plans: new PlanService(store.plans, systemClock),
  });
  const retention = new RetentionService({
    store: store.retention,
    purges: service,
    history: store.jobs,
    kinds,
    clock: systemClock,
  });
  const scheduler = new RetentionScheduler({
    store: store.retention,
    service: retention,
    clock: systemClock,
    onEnabled: (policy) => metrics.retention.enabled(policy),
    onError(err, policy) {
      const isUnderWay = err instanceof RunUnderWayError;
      if (policy !== undefined) metrics.retention.ran(policy, isUnderWay ? 'skipped' : 'not_begun');
      if (isUnderWay)
        logger.info(
          { policy, purgeId: err.purge },
          'retention: run skipped, because the previous one has not ended',
        );
      else logger.warn({ err, policy }, 'retention: a run could not begin');
    },
  });
  let stopped: Promise<void> | undefined;
  return {
    /** All jobs of this process: purges, scans and restores. */
    jobs,
    kinds,
    service,
    retention,
    /** Resumes jobs that no process is running, and starts to watch the schedules. See JobService. */
    start() {
      jobs.start();
      scheduler.start();
    },
    /** What is known about the broker, as far as it is still valid. */
    capabilities: (): FactsByCollection => ({
      entities: capabilities.entities.facts(),
      temporal: capabilities.temporal.facts(),
    }),
    /** Stops all purges, and refuses new ones; jobs are resumed at the next start. */
    stop() {
      stopped ??= scheduler.stop();
      jobs.stop();
    },
    /** Writes the remaining records. */
    async close() {
      await (stopped ??= scheduler.stop());
      await jobs.close();
      if (idFiles instanceof NamelessIdFiles) await idFiles.close();
    },
  };
}

/**
 * Returns the name by which all processes know a broker: its URL without credentials. For an address that only this machine can
 * reach, the name includes the machine.
 */
function brokerName({ origin, pathname, hostname: host }: URL, machine = hostname()): string {
  const url = origin + pathname.replace(/\/+$/, '');
  return isLoopback(host) ? `${url} on ${machine}` : url;
}

/**
 * Returns the name of the broker that a job is bound to; a job is never resumed with another broker. The embedded broker has a
 * different port after each start, and a SQLite file belongs to one machine, whatever its name is now.
 */
function jobBroker({ BROKER_URL, DATABASE_URL }: Config, url: URL): string {
  if (BROKER_URL === 'embedded') return 'embedded';
  return DATABASE_URL === undefined ? brokerName(url, 'this machine') : brokerName(url);
}
