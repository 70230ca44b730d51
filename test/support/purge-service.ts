import { randomUUID } from 'node:crypto';
import { problemOf, unforeseen } from '../../sidecar/http/problem.js';
import { IdFiles } from '../../sidecar/jobs/id-files.js';
import { entityPurges, temporalPurges } from '../../sidecar/jobs/purge-kinds.js';
import type { PurgeServiceOptions } from '../../sidecar/jobs/purge-options.js';
import { PurgeService } from '../../sidecar/jobs/purge-service.js';
import { createHeaderSealer } from '../../sidecar/jobs/sealed-headers.js';
import {
  type PurgeLimits,
  type PurgeEvent,
  type PurgeDependencies,
  type PurgeOrder,
  createRunningPurges,
} from '../../sidecar/purge/index.js';
import { KeptPurges } from './kept-purges.js';
import { createTestClock } from './purge-harness.js';

/** What a purge of entities does. */
export type Run = (order: PurgeOrder, signal: AbortSignal) => AsyncIterable<PurgeEvent>;

export const LIMITS: PurgeLimits = {
  ...{ pageSize: 100, pageSizeMax: 1000, batchSize: 50, concurrency: 4, strategy: 'auto' },
  maxAffected: undefined,
};

/** When the clock of a test begins, unless it has its own. */
export const STARTED = Date.UTC(2026, 0, 1);

export interface PurgeServiceSetup extends Partial<PurgeServiceOptions> {
  /** The store, for one that outlives a process. */
  readonly kept?: KeptPurges;
  readonly maxRunning?: number;
  readonly limits?: PurgeLimits;
}

/** The purge service of a process whose purges are functions, on a store in memory; nothing of it waits. */
export function purgeServiceOf(run: Run, setup: PurgeServiceSetup = {}) {
  const { maxRunning = 4, limits = LIMITS, clock = createTestClock(STARTED), ...options } = setup;
  const { kept = new KeptPurges(clock), ...others } = options;
  const kindSetup = { dependencies: {} as PurgeDependencies, limits, wholeTenant: 'bounded' as const };
  const running = createRunningPurges(maxRunning);
  /** What the observer was told, and the errors with which purges ended. */
  const told: string[] = [];
  const errors: unknown[] = [];
  const service = new PurgeService({
    kinds: {
      entities: { ...entityPurges(kindSetup), run: (order, _dependencies, signal) => run(order, signal) },
      temporal: temporalPurges({ ...kindSetup, allowsWhole: true }),
    },
    ...{ store: kept.store, running, clock, worker: 'w', holder: randomUUID(), leaseMs: 30_000 },
    ...{ maxQueued: 10, historyDays: 2, recordRequired: false },
    // Nothing is recorded here.
    idFiles: new IdFiles('/nowhere'),
    sealer: createHeaderSealer([]),
    problemOf: (error) => problemOf(error)?.problem ?? unforeseen(),
    observer: {
      started: ({ state }) => told.push(`started ${state}`),
      event: (_record, { type }) => told.push(type),
      ended: ({ state }, error) => {
        told.push(`ended ${state}`);
        errors.push(error);
      },
      ...{ storeAway: () => told.push('away'), storeBack: () => {}, recordLost: () => {} },
      taken: () => told.push('taken'),
      elsewhere: (jobs) => told.push(`elsewhere ${jobs.map(({ broker }) => broker).join()}`),
    },
    ...others,
  });
  return { service, running, kept, told, errors, clock };
}
