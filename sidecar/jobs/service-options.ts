import type { Archives } from '../archive/index.js';
import type { Problem } from '../shared/problem.js';
import type { PurgeEvent } from '../purge/index.js';
import type { JobRecord, Jobs, PurgeRecord, OrphanedJob } from '../store/index.js';
import type { Clock } from '../shared/clock.js';
import type { IdLists } from './id-files.js';
import type { PlanService } from './plan-service.js';
import type { PurgeKinds } from './purge-kinds.js';
import type { HeaderSealer } from './job-headers.js';

/** Observes jobs, e.g. for a log and metrics. */
export interface JobObserver {
  started(record: JobRecord): void;
  event(record: JobRecord, event: PurgeEvent): void;
  /** Called when a running purge has deleted this many more items. */
  deleted(record: PurgeRecord, items: number): void;
  /** @param error what ended the job early, or that its caller disconnected */
  ended(record: JobRecord, error?: unknown): void;
  /** Called when the store of the records fails. */
  storeAway(error: unknown): void;
  storeBack(): void;
  /** Called when a record was dropped because too many wait for the store. */
  recordLost(record: JobRecord): void;
  /** Called when jobs are marked as waiting for a broker other than that of this process. */
  waitingForOtherBroker(jobs: readonly Pick<OrphanedJob, 'record' | 'broker'>[]): void;
  /** Called when another process has taken over a job, which stops here. */
  takenOver(record: JobRecord): void;
}

export interface JobServiceOptions {
  readonly store: Jobs;
  /** Maximum number of running purges; dry runs have as many places of their own. */
  readonly maxRunning: number;
  readonly clock: Clock;
  /** Where ids are recorded for purges that request it. */
  readonly idFiles: IdLists;
  readonly sealer: HeaderSealer;
  /** Where purges archive what they delete; undefined if they cannot. */
  readonly archives?: Archives | undefined;
  /** The name of this process in records. */
  readonly worker: string;
  /** Unique name of this process, new at each start. */
  readonly holder: string;
  /**
   * Whether other processes run the purges of the same store. If not, jobs left by an earlier process are free at the
   * start.
   */
  readonly isStoreShared: boolean;
  /** The name of the broker among processes that share the store. Jobs for other brokers are not run. */
  readonly broker?: string | undefined;
  /**
   * Without a renewal of their leases for this long, other processes take over the jobs of this one, in milliseconds.
   */
  readonly leaseMs: number;
  readonly maxQueued: number;
  /** How long records are kept after their job has ended, in days. */
  readonly historyDays: number;
  /** Returns the problem that clients get for an error. */
  readonly problemOf: (error: unknown) => Problem;
  readonly observer: JobObserver;
  /** Returns how far the clock of this machine is ahead of the broker's, in milliseconds; undefined if unknown. */
  readonly brokerAheadMs?: (() => number | undefined) | undefined;
  /** Asks the broker, unless it was asked some seconds ago; its answer shows the time of its clock. Does not reject. */
  readonly isBrokerUp?: (() => Promise<boolean>) | undefined;
}

/** If the clock is ahead of the broker's by more than this, nothing is deleted because of its age, in milliseconds. */
export const CLOCK_SLACK_MS = 600_000;

export interface PurgeServiceOptions extends JobServiceOptions {
  readonly kinds: PurgeKinds;
  /** Whether purges may only run with a record. */
  readonly recordRequired: boolean;
  readonly plans: PlanService;
}
