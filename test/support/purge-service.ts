import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { problemOf, unexpectedProblem } from '../../sidecar/http/problem.js';
import { IdFiles } from '../../sidecar/jobs/id-files.js';
import type { PurgeServiceOptions } from '../../sidecar/jobs/service-options.js';
import { JobService } from '../../sidecar/jobs/job-service.js';
import { PlanService } from '../../sidecar/jobs/plan-service.js';
import { PurgeService } from '../../sidecar/jobs/purge-service.js';
import { HeaderSealer } from '../../sidecar/jobs/job-headers.js';
import {
  type PurgeLimits,
  type PurgeEvent,
  type PurgeReport,
  type PurgeDependencies,
  type PurgeOrder,
  PurgeStoppedError,
  purgeTemporal,
} from '../../sidecar/purge/index.js';
import { Lease, type LeaseOptions } from '../../sidecar/jobs/live-job.js';
import type { NewPurge } from '../../sidecar/jobs/purge-kinds.js';
import type { PurgeRecord } from '../../sidecar/store/job-records.js';
import { KeptPurges } from './kept-purges.js';
import { createTestClock } from './purge-harness.js';

/** The events of a purge of entities, and its final result. */
export type Run = (order: PurgeOrder, signal: AbortSignal) => AsyncIterable<PurgeEvent | Finished>;

interface Finished {
  readonly type: 'finished';
  readonly report: PurgeReport;
}

export const LIMITS: PurgeLimits = {
  pageSize: 100,
  pageSizeMax: 1000,
  batchSize: 50,
  concurrency: 4,
  strategy: 'auto',
  maxAffected: undefined,
};

/** The initial time of a test's clock, unless the test has its own clock. */
export const STARTED = Date.UTC(2026, 0, 1);

export const NEVER = new AbortController().signal;

/** A purge of entities as a caller requests it. */
export const newPurge = (query = 'type=T', headers: Readonly<Record<string, string>> = {}): NewPurge => ({
  target: 'entities',
  query,
  headers,
  policy: {},
  caller: 'c',
  requestId: 'r',
});

/** The record of a purge that is running and has done nothing yet. */
export const recordOf = (members: Partial<PurgeRecord> = {}): PurgeRecord => ({
  id: randomUUID(),
  state: 'running',
  target: 'entities',
  query: 'type=T',
  caller: 'c',
  requestId: 'r',
  worker: 'old',
  dryRun: false,
  policy: {},
  maxPerSecond: null,
  concurrency: 1,
  matched: 0,
  deleted: 0,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  arrived: 0,
  requests: 0,
  retries: 0,
  createdAt: '2026-01-01T00:00:00.000Z',
  errors: [],
  warnings: [],
  ...members,
});

/** A lease that never ends, unless the test says otherwise. */
export const leaseOf = (number = 0, more: Partial<LeaseOptions> = {}) =>
  new Lease({
    claim: { lease: number },
    untilMs: Infinity,
    clock: { monotonicMs: () => 0 },
    ask: async () => {},
    ...more,
  });

/** The report of a purge that deleted three entities. */
export const REPORT: PurgeReport = {
  matched: 3,
  deleted: 3,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  arrived: 0,
  requests: 2,
  retries: 0,
  dryRun: false,
  success: [],
  errors: [],
  sample: [],
  warnings: [],
};
export const finished = (more: Partial<PurgeReport> = {}): Finished => ({
  type: 'finished',
  report: { ...REPORT, ...more },
});
export const BEGUN: PurgeEvent = { type: 'progress', hasBegun: true, ...REPORT };

/** A purge that ends at once. */
export const finishing: Run = async function* run() {
  yield finished();
};

export async function hasStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** A purge that runs until it is stopped. */
export const untilStopped: Run = async function* run(_order, signal) {
  yield BEGUN;
  await hasStopped(signal);
  throw new PurgeStoppedError('stopped');
};

async function toldBy(run: Run, order: PurgeOrder, signal: AbortSignal): Promise<PurgeReport> {
  for await (const event of run(order, signal)) {
    if (event.type === 'finished') return event.report;
    order.onEvent?.(event);
  }
  throw new PurgeStoppedError('It ended without a report.');
}

/** Runs everything that only waits for its turn of the event loop. */
export async function turns(): Promise<void> {
  for (let index = 0; index < 30; index += 1) await turn();
}

export interface PurgeServiceSetup extends Partial<PurgeServiceOptions> {
  /** A store that can outlive a process. */
  readonly kept?: KeptPurges;
  readonly limits?: PurgeLimits;
}

/** What a kind of purge needs if no purge of it is run. */
export const KIND_SETUP = {
  dependencies: {} as PurgeDependencies,
  limits: LIMITS,
  wholeTenant: 'bounded',
  archiving: { least: 'none', isPossible: false },
} as const;

/**
 * The purge service of a process, with functions as purges, on a store in memory and without real
 * pauses.
 */
export function purgeServiceOf(run: Run, setup: PurgeServiceSetup = {}) {
  const { limits = LIMITS, clock = createTestClock(STARTED), ...options } = setup;
  const { kept = new KeptPurges(clock), ...others } = options;
  const kindSetup = { ...KIND_SETUP, limits };
  /** The events passed to the observer, and the errors with which purges ended. */
  const told: string[] = [];
  const errors: unknown[] = [];
  const { kinds: givenKinds, recordRequired = false, ...forAll } = others;
  const kinds = givenKinds ?? {
    entities: { ...kindSetup, run: (order, _dependencies, signal) => toldBy(run, order, signal) },
    temporal: { ...kindSetup, run: purgeTemporal, allowsWhole: true },
  };
  const jobs = new JobService({
    store: kept.store,
    maxRunning: 4,
    clock,
    worker: 'w',
    holder: randomUUID(),
    leaseMs: 30_000,
    maxQueued: 10,
    historyDays: 2,
    isStoreShared: false,
    // Nothing is recorded here.
    idFiles: new IdFiles('/nowhere'),
    sealer: new HeaderSealer([]),
    problemOf: (error) => problemOf(error)?.problem ?? unexpectedProblem(),
    observer: {
      started: ({ state }) => told.push(`started ${state}`),
      event: (_record, { type }) => told.push(type),
      deleted: () => {},
      ended: ({ state }, error) => {
        told.push(`ended ${state}`);
        errors.push(error);
      },
      storeAway: () => told.push('away'),
      storeBack: () => {},
      recordLost: () => {},
      takenOver: () => told.push('taken'),
      waitingForOtherBroker: (jobs) => told.push(`elsewhere ${jobs.map(({ broker }) => broker).join()}`),
    },
    ...forAll,
  });
  const service = new PurgeService(jobs, {
    kinds,
    recordRequired,
    plans: new PlanService(kept.plans, jobs.options.clock),
  });
  /** Stops the process in an orderly way: its jobs return to the queue. */
  const shutDown = async () => {
    service.jobs.stop();
    await service.jobs.registry.idle();
    await service.jobs.close();
  };
  return { service, kept, told, errors, clock, shutDown };
}

/** A process with a job that has started, if there is a place for it. */
export async function jobOf(run: Run, query?: string, setup: PurgeServiceSetup = {}) {
  const made = purgeServiceOf(run, setup);
  const { id } = await made.service.submit(newPurge(query));
  await turns();
  return { ...made, id };
}
