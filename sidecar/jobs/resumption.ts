import type { PurgeJob, PurgeRecord } from '../store/purge-records.js';
import { withoutPace } from './live-purge.js';

/** Warnings of a record that is gone on with again and again, at most. */
const MAX_WARNINGS = 20;

/** Deleted or found gone by earlier processes. */
export function settledBefore({ deleted, alreadyGone }: PurgeRecord): number {
  return deleted + alreadyGone;
}

/** What a job has deleted until now, or may have: what counts towards its maximum. */
export function spentBefore(record: PurgeRecord, { spent = 0 }: Pick<PurgeJob, 'spent'>): number {
  return Math.max(record.deleted, spent);
}

/**
 * The record of a job with which a process begins, or goes on where another one left it: what was settled stays counted.
 *
 * @param worker the name of the process
 * @param concurrency the most that configuration and policy allow now
 */
export function resumed(
  record: PurgeRecord,
  job: PurgeJob,
  worker: string,
  concurrency: number,
): PurgeRecord {
  return {
    ...withoutPace(record),
    ...{ state: 'running', worker, failed: 0 },
    // After a crash, it is not known which of them were settled since.
    unknown: record.state === 'queued' ? record.unknown : 0,
    concurrency: Math.min(record.concurrency, concurrency),
    warnings: warningsAfter(record, job, worker, 'went on'),
  };
}

/**
 * The warnings of a purge that another process, or an earlier one, left: what may be missing from its counts. One that was laid
 * aside in order waits, and misses nothing: what it does not know is in its counts.
 *
 * @param worker the name of the process that took it, and what that does with it
 */
export function warningsAfter(
  record: PurgeRecord,
  job: PurgeJob | undefined,
  worker: string,
  does: 'went on' | 'ended it' | 'laid it aside',
): readonly string[] {
  const { state, warnings } = record;
  return state === 'queued'
    ? warnings
    : [...warnings, noteOf(record, job, worker, does)].slice(-MAX_WARNINGS);
}

function noteOf(record: PurgeRecord, job: PurgeJob | undefined, worker: string, does: string): string {
  const { matched, failed, unknown } = record;
  const settled = settledBefore(record);
  const why =
    record.worker === worker
      ? 'The gateway was restarted.'
      : `Nothing was heard of the gateway ${record.worker} any more, and ${worker} ${does}.`;
  const inFlight = Math.max(0, matched - settled - failed - unknown);
  const uncertain = spentBefore(record, job ?? {}) - record.deleted;
  const towards =
    uncertain > 0 ? ` ${String(uncertain)} matches that may be gone count towards its maximum.` : '';
  const gap =
    inFlight > 0
      ? `${String(inFlight)} of its matches were still to be deleted when its counts were last written; those that were deleted since are not in the counts.`
      : 'What was deleted since its counts were last written is not in the counts.';
  return `${why} ${gap}${towards}`;
}
