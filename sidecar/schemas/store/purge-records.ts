import type { Problem } from '../../ngsi-ld/problem.js';

/** The states of a purge; all but the first three are final. */
export const PURGE_STATES = [
  ...['queued', 'running', 'cancelling'],
  ...['succeeded', 'partial', 'failed', 'cancelled', 'refused', 'interrupted'],
] as const;
export type PurgeState =
  | 'queued'
  | 'running'
  | 'cancelling'
  | 'succeeded'
  | 'partial'
  | 'failed'
  | 'cancelled'
  | 'refused'
  | 'interrupted';

/** Whether a purge in this state has come to its end. */
export function isFinal(state: PurgeState): boolean {
  return state !== 'queued' && state !== 'running' && state !== 'cancelling';
}

/** What is kept of a purge: who asked for what, when, and what came of it. Times are ISO 8601, in UTC. */
export interface PurgeRecord {
  readonly id: string;
  readonly state: PurgeState;
  readonly target: 'entities' | 'temporal';
  /** What the counts are in. */
  readonly unit?: 'entities' | 'attributes' | 'datasets' | 'instances';
  /** The query string, as it was sent. */
  readonly query: string;
  readonly tenant?: string;
  /** The Link header, which names the @context. */
  readonly link?: string;
  readonly caller: string;
  readonly requestId: string;
  /** The gateway process that works on it, or did last. */
  readonly worker: string;
  readonly dryRun: boolean;
  /** The policy of the gateway in front under which it was started, by the names of X-Purge-Policy. */
  readonly policy: Readonly<Record<string, number | boolean>>;
  /** The retention policy that it is a run of. */
  readonly retentionPolicy?: string;
  /** Deletes per second; null for no limit. */
  readonly maxPerSecond: number | null;
  readonly concurrency: number;
  readonly matched: number;
  readonly deleted: number;
  readonly alreadyGone: number;
  readonly failed: number;
  readonly unknown: number;
  /** Matches that turned up while it ran, and were left. */
  readonly arrived: number;
  /** Requests to the broker, and how many of them were sent again. */
  readonly requests: number;
  readonly retries: number;
  /** Items settled in a second, as of lately; while it runs. */
  readonly ratePerSecond?: number;
  /** When it will be done at that rate, where the broker has counted the matches; while it runs. */
  readonly estimatedEndAt?: string;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Why it did not end well. */
  readonly problem?: Problem;
  /** Items that could not be deleted, at most 100. */
  readonly errors: readonly unknown[];
  readonly warnings: readonly string[];
  /** Of a dry run: ids of some matches. */
  readonly sample?: readonly string[];
}

/** What an asynchronous purge needs to go on after a restart. */
export interface PurgeJob {
  /** Sent to the broker with each request, except for secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are secrets, encrypted. */
  readonly sealedHeaders?: string;
  /** More matches than these make a report of the purge, before its first delete. */
  readonly reportAbove?: number | undefined;
  /** What the job may have deleted, where it has a maximum: written before each request that deletes. */
  readonly spent?: number;
}

/** A purge that has not come to its end. Without a job, its caller waits for the answer. */
export interface UnfinishedPurge {
  readonly record: PurgeRecord;
  readonly job: PurgeJob | undefined;
}

export interface PurgeFilter {
  readonly state?: PurgeState | undefined;
  readonly tenant?: string | undefined;
  readonly caller?: string | undefined;
  readonly retentionPolicy?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The record of all purges. */
export interface Purges {
  /**
   * Adds a record, or replaces the one with its id.
   *
   * @param job left as it is when not given
   * @throws RunUnderWayError for a run of a retention policy of which another one has not ended
   */
  put(record: PurgeRecord, job?: PurgeJob): Promise<void>;
  get(id: string): Promise<PurgeRecord | undefined>;
  /** Newest first. */
  list(filter: PurgeFilter): Promise<{ readonly items: readonly PurgeRecord[]; readonly total: number }>;
  /** Oldest first. */
  unfinished(): Promise<readonly UnfinishedPurge[]>;
  /**
   * Removes records that ended before a time, in milliseconds, and the oldest refused ones above a number.
   *
   * @returns how many were removed
   */
  prune(endedBeforeMs: number, maxRefused: number): Promise<number>;
}
