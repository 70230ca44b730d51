import { PurgeError, type RestorePosition } from '../purge/index.js';
import { type JobResumeData, type JobRecord, kindOf } from '../store/index.js';

/** A job ends after this many crashes without progress in between. */
const MAX_CRASHES = 3;

/** The gateways that ran a job crashed again and again, perhaps because of the job. */
export class JobCrashesError extends PurgeError {
  readonly kind = 'jobCrashes';

  constructor(record: JobRecord, crashes: number) {
    const noun = kindOf(record);
    super(
      `${String(crashes)} times in a row, the gateway that ran this ${noun} was killed, crashed or lost its database, and the ` +
        `${noun} made no progress. Look for the reason in the logs of the gateways (lack of memory?), and start the ${noun} again.`,
    );
  }
}

/**
 * Counts a crash of the process that ran a job, if there was one: a job that was put back properly is queued.
 *
 * @returns what is needed to continue the job, with the new count; the same object if there was no crash
 */
export function withCrash(record: JobRecord, job: JobResumeData): JobResumeData {
  if (record.state === 'queued') return job;
  const settled = settledBy(record, job);
  const { crashes = { count: 0, settled: 0 } } = job;
  const count = settled > crashes.settled ? 1 : crashes.count + 1;
  return { ...job, crashes: { count, settled } };
}

/** @throws JobCrashesError if a job must not be resumed again */
export function checkCrashes(record: JobRecord, { crashes }: JobResumeData): void {
  if (crashes !== undefined && crashes.count >= MAX_CRASHES) throw new JobCrashesError(record, crashes.count);
}

/**
 * Returns how much of a job the next process need not do again. A scan begins anew, and so does a restore with the page
 * that it was about to create. What a job may have deleted is no progress: it grows with each try.
 */
function settledBy(record: JobRecord, { restore }: JobResumeData): number {
  if (record.target === 'scan') return 0;
  if (record.target === 'restore') return (restore?.position as RestorePosition | undefined)?.line ?? 0;
  return record.deleted + record.alreadyGone;
}
