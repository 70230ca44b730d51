import type { FastifyBaseLogger } from 'fastify';
import type { Metrics } from './metrics/metrics.js';
import type { BrokerClient } from './purge/broker/index.js';
import { INTERNAL_BASE } from './schemas/models/index.js';
import type { OpenSchemas } from './schemas/open-schemas.js';
import type { Clock } from './shared/clock.js';
import type { Config } from './shared/config/load.js';
import { configuredNames, ownNameCheck } from './shared/own-names.js';
import type { Store } from './store/index.js';
import {
  EntityTypeCache,
  failureReason,
  Judge,
  ModelLoader,
  PolicyCache,
  WriteChecks,
  type WriteObserver,
  WritePolicyService,
} from './write-checks/index.js';

export interface OpenWriteChecksOptions {
  readonly store: Store;
  readonly schemas: Pick<OpenSchemas, 'service' | 'tasks'>;
  readonly client: Pick<BrokerClient, 'send'>;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'writes'>;
  readonly logger: FastifyBaseLogger;
}

export interface OpenWriteChecks {
  readonly checks: WriteChecks;
  readonly policies: WritePolicyService;
  /**
   * Called after this process has written to the store. The next write of an entity waits until the policies have been read
   * again.
   */
  readonly onStoreWritten: () => void;
}

/** Opens the checks of writes with the current policies. If these cannot be read, this is logged. */
export async function openWriteChecks(
  config: Config,
  options: OpenWriteChecksOptions,
): Promise<OpenWriteChecks> {
  const { store, schemas, client, clock, metrics, logger } = options;
  const { service, tasks } = schemas;
  const setting = config.WRITE_CHECK;
  const cache = new PolicyCache({
    store,
    policies: store.writePolicies,
    clock,
    onAway: (err) =>
      logger.warn({ err, setting }, 'the write policies cannot be read: those read last still apply'),
    onBack: () => logger.info('the write policies can be read again'),
  });
  await cache.refresh();
  const loader = new ModelLoader(service, {
    baseUrl: config.PUBLIC_URL?.href.replace(/\/+$/, '') ?? INTERNAL_BASE,
    isOwnName: ownNameCheck(configuredNames(config)),
  });
  const checks = new WriteChecks({
    setting,
    policies: cache,
    clock,
    judge: new Judge(tasks, loader, clock),
    typeCache: new EntityTypeCache(client, clock),
    observer: observerOf(metrics.writes, logger, clock),
  });
  const policies = new WritePolicyService({
    store: store.writePolicies,
    modelStore: store.models,
    models: loader,
    cache,
    checks,
    knowsCallers: config.GATEWAY_TOKEN !== undefined,
  });
  return { checks, policies, onStoreWritten: cache.invalidate };
}

/**
 * Minimum time between two log lines about invalid writes, and between two about writes that could not be judged, in
 * milliseconds.
 */
const LOG_EVERY_MS = 1000;

function observerOf(
  metrics: Metrics['writes'],
  logger: FastifyBaseLogger,
  clock: Pick<Clock, 'monotonicMs'>,
): WriteObserver {
  const invalid = new LogThrottle(clock);
  const failures = new LogThrottle(clock);
  return {
    judged: ({ verdict, action, refused }, entities, ms) => {
      metrics.judged(entities, ms);
      const byPolicy = new Map<string, number>();
      for (const { policy } of refused) byPolicy.set(policy, (byPolicy.get(policy) ?? 0) + 1);
      for (const [policy, count] of byPolicy) metrics.refused(policy, count);
      if (verdict !== 'invalid' && refused.length === 0) return;
      const [first] = refused;
      const [policy] = entities.flatMap((one) => (one.verdict === verdict ? one.policy : []));
      invalid.log((unsaid) =>
        logger.info(
          {
            verdict,
            action,
            policy: first?.policy ?? policy ?? '',
            entity: first?.id?.slice(0, 500),
            fault: first?.faults[0]?.detail.slice(0, 500),
            unsaid,
          },
          'a write is not valid',
        ),
      );
    },
    failed: (policy, isRefused, cause) => {
      const reason = failureReason(cause);
      metrics.failed(policy, reason);
      failures.log((unsaid) =>
        logger.warn({ err: cause, policy, reason, isRefused, unsaid }, 'a write could not be judged'),
      );
    },
  };
}

/** Limits how often something is logged, and counts how often it was not. */
class LogThrottle {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #loggedMs = -Infinity;
  #suppressed = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  log(write: (unsaid: number) => void): void {
    const now = this.#clock.monotonicMs();
    if (now - this.#loggedMs < LOG_EVERY_MS) {
      this.#suppressed += 1;
      return;
    }
    this.#loggedMs = now;
    write(this.#suppressed);
    this.#suppressed = 0;
  }
}
