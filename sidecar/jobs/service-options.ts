import type { Archives } from '../archive/index.js';
import type { Problem } from '../ngsi-ld/problem.js';
import type { PurgeEvent } from '../purge/index.js';
import type { JobRecord, Jobs, PurgeRecord, OrphanedJob } from '../store/index.js';
import type { Clock } from '../shared/clock.js';
import type { IdFiles } from './id-files.js';
import type { PlanService } from './plan-service.js';
import type { PurgeKinds } from './purge-kinds.js';
import type { HeaderSealer } from './job-headers.js';

/** Observes jobs as they go, e.g. for a log and metrics. */
export interface JobObserver {
  started(record: JobRecord): void;
  event(record: JobRecord, event: PurgeEvent): void;
  /** A purge that runs has deleted so many items more. */
  deleted(record: PurgeRecord, items: number): void;
  /** @param error what ended it early, or that its caller is gone */
  ended(record: JobRecord, error?: unknown): void;
  /** The store of the records fails. */
  storeAway(error: unknown): void;
  storeBack(): void;
  /** A record was given up, since too many wait for the store. */
  recordLost(record: JobRecord): void;
  /** Jobs wait for other brokers than that of this process, and begin to say so. */
  elsewhere(jobs: readonly Pick<OrphanedJob, 'record' | 'broker'>[]): void;
  /** Another process has taken over a job, which stops here. */
  taken(record: JobRecord): void;
}

/** What jobs of all kinds work with. */
export interface JobServiceOptions {
  readonly store: Jobs;
  /** Purges at work at a time; dry runs have as many places of their own. */
  readonly maxRunning: number;
  readonly clock: Clock;
  /** Where ids are recorded for purges that ask for it. */
  readonly idFiles: IdFiles;
  readonly sealer: HeaderSealer;
  /** Where purges archive what they delete; undefined where they cannot. */
  readonly archives?: Archives | undefined;
  /** Names this process in records. */
  readonly worker: string;
  /** Names this start of this process, and nothing else ever. */
  readonly holder: string;
  /** Whether other processes work on the purges of the same store; else what they left is free at the start. */
  readonly isStoreShared?: boolean;
  /** Names the broker among processes that share the store: jobs for other brokers are left alone. */
  readonly broker?: string | undefined;
  /** After so long without a renewal of their leases, another process takes over the jobs of this one, in milliseconds. */
  readonly leaseMs: number;
  /** Jobs that may wait. */
  readonly maxQueued: number;
  /** How long records are kept after their purge has ended, in days. */
  readonly historyDays: number;
  /** The problem that clients get for an error. */
  readonly problemOf: (error: unknown) => Problem;
  readonly observer: JobObserver;
  /** How far the clock of this machine is ahead of the broker's, in milliseconds; undefined where that is not known. */
  readonly brokerAheadMs?: (() => number | undefined) | undefined;
  /** Asks the broker, unless it was asked some seconds ago: its answer shows how far its clock is. Does not reject. */
  readonly isBrokerUp?: (() => Promise<boolean>) | undefined;
}

/** Nothing is deleted because of its age by a clock that is ahead of the broker's by more than this, in milliseconds. */
export const CLOCK_SLACK_MS = 600_000;

export interface PurgeServiceOptions extends JobServiceOptions {
  readonly kinds: PurgeKinds;
  /** Whether no purge runs without a record. */
  readonly recordRequired: boolean;
  readonly plans: PlanService;
}
