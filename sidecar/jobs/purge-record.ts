import { type RequestedRate, queryText } from '../purge/index.js';
import type {
  ArchiveSummary,
  JobResumeData,
  PurgeRecord,
  OrphanedJob,
  UnfinishedJob,
} from '../store/index.js';
import {
  cancelled,
  isToCancel,
  newJobMembers,
  type RecordStart,
  shortened,
  waitingFor,
  withoutEstimates,
  withoutWait,
} from './job-record.js';
import type { NewPurge, PreparedPurge } from './purge-kinds.js';
import { defined } from '../shared/defined.js';

/** Maximum number of warnings, for a purge that is resumed again and again. */
const MAX_WARNINGS = 20;

export type OrphanedPurge = OrphanedJob & { readonly record: PurgeRecord };

/** The collection of a purge, or of the purge that a restore undoes. */
export function targetOf({ target }: Pick<PurgeRecord, 'target'>): 'entities' | 'temporal' {
  return target === 'temporal' ? 'temporal' : 'entities';
}

/** The counts of a purge that has not done anything yet. */
export const NOTHING_DONE = {
  matched: 0,
  deleted: 0,
  alreadyGone: 0,
  failed: 0,
  unknown: 0,
  arrived: 0,
  requests: 0,
  retries: 0,
  errors: [],
  warnings: [],
};

/** The record of a purge that was prepared and has not done anything yet. */
export function newRecord(asked: NewPurge, prepared: PreparedPurge, start: RecordStart): PurgeRecord {
  const { query, unit, limits } = prepared;
  const { dryRun } = query;
  return { ...recordOf(asked, query, start), dryRun, unit, concurrency: limits.concurrency };
}

/** The record of a purge that was refused, perhaps before its query was parsed. */
export function refusedRecord(
  asked: NewPurge,
  problem: PurgeRecord['problem'] & object,
  about: Omit<RecordStart, 'state'>,
): PurgeRecord {
  const record = recordOf(asked, {}, { state: 'refused', ...about });
  const dryRun = new URLSearchParams(record.query).getAll('dryRun').includes('true');
  return shortened({ ...record, dryRun, problem, endedAt: about.createdAt });
}

function recordOf(asked: NewPurge, rate: RequestedRate, start: RecordStart): PurgeRecord {
  const { target, query, retentionPolicy, planOf } = asked;
  return {
    ...newJobMembers(asked, queryText(query), rate, start),
    target,
    ...defined({ retentionPolicy, planOf }),
    dryRun: false,
    concurrency: 1,
    ...NOTHING_DONE,
  };
}

/** Returns the number of items deleted or found already gone by earlier processes. */
export function settledBefore({ deleted, alreadyGone }: PurgeRecord): number {
  return deleted + alreadyGone;
}

/** Returns the number of items that a job has deleted, or may have deleted, which counts towards its maximum. */
export function spentBefore(record: PurgeRecord, { spent = 0 }: Pick<JobResumeData, 'spent'>): number {
  return Math.max(record.deleted, spent);
}

/**
 * Whether an earlier process may have sent deletes for a job.
 *
 * @param isBounded whether the job has a maximum; if so, the amount is stored before each delete
 */
export function mayHaveDeleted(record: PurgeRecord, job: JobResumeData, isBounded: boolean): boolean {
  if (record.dryRun) return false;
  if (settledBefore(record) + spentBefore(record, job) > 0) return true;
  const wasLost = record.state !== 'queued' && record.startedAt !== undefined;
  return !isBounded && (wasLost || job.mayHaveBegun === true);
}

/**
 * The record of a job that a process begins, or resumes where another one left it. Settled items stay counted.
 *
 * @param concurrency the maximum that configuration and policy allow now
 */
export function resumed(
  record: PurgeRecord,
  job: JobResumeData,
  worker: string,
  concurrency: number,
): PurgeRecord {
  return withoutWait({
    ...withoutEstimates(record),
    state: 'running',
    worker,
    failed: 0,
    // After a crash, it is unknown which of these items have been settled since.
    unknown: record.state === 'queued' ? record.unknown : 0,
    concurrency: Math.min(record.concurrency, concurrency),
    warnings: warningsAfter(record, job, worker, 'resumed it'),
    ...defined({ archive: record.archive && unlisted(record.archive) }),
  });
}

/** The summary of an archive without the hash of its segment list, because the purge continues and adds segments. */
function unlisted(archive: ArchiveSummary): ArchiveSummary {
  const rest: { listDigest?: string } & ArchiveSummary = { ...archive };
  delete rest.listDigest;
  return rest;
}

/** The record of a purge that an earlier process left and that cannot be resumed. */
export function abandoned(record: PurgeRecord, job: JobResumeData | undefined, worker: string): PurgeRecord {
  return withoutWait({ ...record, warnings: warningsAfter(record, job, worker, 'ended it') });
}

/**
 * Decides what to do with a job that no process owns and that this one must not run, since it is for another broker.
 * The job waits, and its record names the broker; a job with a requested cancellation is cancelled.
 */
export function requeued(left: OrphanedPurge, worker: string, now: string): UnfinishedJob {
  const { job, broker } = left;
  const warnings = warningsAfter(left.record, job, worker, 'put it back into the queue');
  const record = withoutWait({ ...left.record, warnings });
  if (isToCancel(left)) return { record: cancelled(record, now), job };
  const waiting = waitingFor(record, broker);
  // The job was already waiting, so its counts are valid.
  if (record.state === 'queued') return { record: waiting, job };
  // A restore has its own counts, page by page.
  if (record.target === 'restore') return { record: waiting, job };
  const mayHaveBegun = record.startedAt !== undefined && deletes(record);
  return {
    record: { ...waiting, failed: 0, unknown: 0 },
    job: mayHaveBegun ? { ...job, mayHaveBegun } : job,
  };
}

/**
 * Adds a warning about what may be missing from the counts of a purge left by an earlier process. A purge that was put
 * back into the queue properly gets none: its counts are complete, including what is unknown.
 *
 * @param does what that process does with the purge
 */
function warningsAfter(
  record: PurgeRecord,
  job: JobResumeData | undefined,
  worker: string,
  does: 'resumed it' | 'ended it' | 'put it back into the queue',
): readonly string[] {
  const { state, warnings } = record;
  return state === 'queued'
    ? warnings
    : [...warnings, noteOf(record, job, worker, does)].slice(-MAX_WARNINGS);
}

/** Whether a job deletes anything. */
function deletes({ dryRun, target }: PurgeRecord): boolean {
  return !dryRun && target !== 'restore';
}

function noteOf(record: PurgeRecord, job: JobResumeData | undefined, worker: string, does: string): string {
  const { matched, failed, unknown } = record;
  const settled = settledBefore(record);
  const why =
    record.worker === worker
      ? 'The gateway was restarted.'
      : `The gateway ${record.worker} stopped responding, and ${worker} ${does}.`;
  if (!deletes(record)) return why;
  const inFlight = Math.max(0, matched - settled - failed - unknown);
  const uncertain = spentBefore(record, job ?? {}) - record.deleted;
  const towards =
    uncertain > 0
      ? ` ${String(uncertain)} matches that may have been deleted count towards its maximum.`
      : '';
  const gap =
    inFlight > 0
      ? `${String(inFlight)} of its matches were still to be deleted when its counts ` +
        'were last written; what was deleted since is not in the counts.'
      : 'Its counts do not include what was deleted after they were last written.';
  return `${why} ${gap}${towards}`;
}
