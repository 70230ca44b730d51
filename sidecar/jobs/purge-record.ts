import { type AskedRate, queryText } from '../purge/index.js';
import type { ArchiveSummary, JobNeeds, PurgeRecord, OrphanedJob, UnfinishedJob } from '../store/index.js';
import {
  cancelled,
  isToCancel,
  newJobMembers,
  placeOf,
  type RecordStart,
  shortened,
  waitingFor,
  withoutPace,
  withoutWait,
} from './job-record.js';
import type { NewPurge, PreparedPurge } from './purge-kinds.js';
import { defined } from '../shared/defined.js';

/** Warnings that are kept of a purge that is resumed again and again. */
const MAX_WARNINGS = 20;

/** A job of the store that is a purge. */
export type OrphanedPurge = OrphanedJob & { readonly record: PurgeRecord };

/** The collection that a purge is of, or the purge that a restore undoes. */
export function targetOf({ target }: Pick<PurgeRecord, 'target'>): 'entities' | 'temporal' {
  return target === 'temporal' ? 'temporal' : 'entities';
}

/** The counts of a purge that has done nothing yet. */
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

/** The record of a purge that was prepared and has done nothing yet. */
export function newRecord(asked: NewPurge, prepared: PreparedPurge, start: RecordStart): PurgeRecord {
  const { query, unit, limits } = prepared;
  const { dryRun } = query;
  return { ...recordOf(asked, query, start), dryRun, unit, concurrency: limits.concurrency };
}

/** The record of a purge that was refused, perhaps before it was understood. */
export function refusedRecord(
  asked: NewPurge,
  problem: PurgeRecord['problem'] & object,
  about: Omit<RecordStart, 'state'>,
): PurgeRecord {
  const record = recordOf(asked, {}, { state: 'refused', ...about });
  const dryRun = new URLSearchParams(record.query).getAll('dryRun').includes('true');
  return shortened({ ...record, dryRun, problem, endedAt: about.createdAt });
}

function recordOf(asked: NewPurge, rate: AskedRate, start: RecordStart): PurgeRecord {
  const { target, query, headers, retentionPolicy, planOf } = asked;
  return {
    ...newJobMembers(asked, queryText(query), rate, start),
    target,
    ...placeOf(headers),
    ...defined({ retentionPolicy, planOf }),
    dryRun: false,
    concurrency: 1,
    ...NOTHING_DONE,
  };
}

/** Deleted or found gone by earlier processes. */
export function settledBefore({ deleted, alreadyGone }: PurgeRecord): number {
  return deleted + alreadyGone;
}

/** What a job has deleted until now, or may have: what counts towards its maximum. */
export function spentBefore(record: PurgeRecord, { spent = 0 }: Pick<JobNeeds, 'spent'>): number {
  return Math.max(record.deleted, spent);
}

/**
 * Whether an earlier process may have sent deletes of a job.
 *
 * @param isBounded the job has a maximum: what it deletes is written down before it is sent
 */
export function mayHaveDeleted(record: PurgeRecord, job: JobNeeds, isBounded: boolean): boolean {
  if (record.dryRun) return false;
  if (settledBefore(record) + spentBefore(record, job) > 0) return true;
  const wasLost = record.state !== 'queued' && record.startedAt !== undefined;
  return !isBounded && (wasLost || job.mayHaveBegun === true);
}

/**
 * The record of a job that a process begins, or resumes where another one left it: what was settled stays counted.
 *
 * @param worker the name of the process
 * @param concurrency the most that configuration and policy allow now
 */
export function resumed(
  record: PurgeRecord,
  job: JobNeeds,
  worker: string,
  concurrency: number,
): PurgeRecord {
  return withoutWait({
    ...withoutPace(record),
    state: 'running',
    worker,
    failed: 0,
    // After a crash, it is not known which of them were settled since.
    unknown: record.state === 'queued' ? record.unknown : 0,
    concurrency: Math.min(record.concurrency, concurrency),
    warnings: warningsAfter(record, job, worker, 'resumed it'),
    ...defined({ archive: record.archive && unlisted(record.archive) }),
  });
}

/** The summary of an archive without the hash of its list of segments: the purge goes on, and adds segments. */
function unlisted(archive: ArchiveSummary): ArchiveSummary {
  const rest: { listDigest?: string } & ArchiveSummary = { ...archive };
  delete rest.listDigest;
  return rest;
}

/** The record of a purge that an earlier process left and that cannot be resumed. @param worker the name of this process */
export function abandoned(record: PurgeRecord, job: JobNeeds | undefined, worker: string): PurgeRecord {
  return withoutWait({ ...record, warnings: warningsAfter(record, job, worker, 'ended it') });
}

/**
 * Decides what to do with a job that no process owns and that this one must not run, since it is for another broker: it waits,
 * and says for which broker. One that was to be cancelled has ended.
 *
 * @param worker the name of this process
 * @param now as in records
 */
export function requeued(left: OrphanedPurge, worker: string, now: string): UnfinishedJob {
  const { job, broker } = left;
  const warnings = warningsAfter(left.record, job, worker, 'put it back into the queue');
  const record = withoutWait({ ...left.record, warnings });
  if (isToCancel(left)) return { record: cancelled(record, now), job };
  const waiting = waitingFor(record, broker);
  // It was waiting already: its counts hold.
  if (record.state === 'queued') return { record: waiting, job };
  const mayHaveBegun = record.startedAt !== undefined && !record.dryRun;
  return {
    record: { ...waiting, failed: 0, unknown: 0 },
    job: mayHaveBegun ? { ...job, mayHaveBegun } : job,
  };
}

/**
 * The warnings of a purge that another process, or an earlier one, left: what may be missing from its counts. One that was given
 * back in an orderly way waits, and misses nothing: what it does not know is in its counts.
 *
 * @param worker the name of the process that took it, and what that does with it
 */
function warningsAfter(
  record: PurgeRecord,
  job: JobNeeds | undefined,
  worker: string,
  does: 'resumed it' | 'ended it' | 'put it back into the queue',
): readonly string[] {
  const { state, warnings } = record;
  return state === 'queued'
    ? warnings
    : [...warnings, noteOf(record, job, worker, does)].slice(-MAX_WARNINGS);
}

function noteOf(record: PurgeRecord, job: JobNeeds | undefined, worker: string, does: string): string {
  const { matched, failed, unknown } = record;
  const settled = settledBefore(record);
  const why =
    record.worker === worker
      ? 'The gateway was restarted.'
      : `The gateway ${record.worker} stopped responding, and ${worker} ${does}.`;
  const inFlight = Math.max(0, matched - settled - failed - unknown);
  const uncertain = spentBefore(record, job ?? {}) - record.deleted;
  const towards =
    uncertain > 0 ? ` ${String(uncertain)} matches that may be gone count towards its maximum.` : '';
  const gap =
    inFlight > 0
      ? `${String(inFlight)} of its matches were still to be deleted when its counts ` +
        'were last written; those that were deleted since are not in the counts.'
      : 'What was deleted since its counts were last written is not in the counts.';
  return `${why} ${gap}${towards}`;
}
