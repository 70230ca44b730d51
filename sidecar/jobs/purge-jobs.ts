import { TooManyMatchesError } from '../purge/index.js';
import type { JobResumeData, JobRecord, OrphanedJob, PurgeRecord, UnfinishedJob } from '../store/index.js';
import type { ArchiveService } from './archive-service.js';
import { DeleteBudget, type DeleteBound } from './delete-budget.js';
import type { Lease } from './live-job.js';
import { LivePurge, type PurgeRunner, type Work } from './live-purge.js';
import { checkRate, preparePurge } from './purge-kinds.js';
import { CLOCK_SLACK_MS, type PurgeServiceOptions } from './service-options.js';
import type { JobRunner, JobService, JobWork } from './job-service.js';
import {
  abandoned,
  mayHaveDeleted,
  type OrphanedPurge,
  requeued,
  resumed,
  settledBefore,
  spentBefore,
  targetOf,
} from './purge-record.js';

interface Job extends Work {
  /** If there are more matches than this, they are only reported. */
  readonly reportAbove: number | undefined;
  /** The name of another process that worked on the job before. */
  readonly before: string | undefined;
}

/** Runs purges that were taken from the store: those that waited, and those that other processes left. */
export class PurgeJobs implements JobRunner {
  readonly runs = 'purge';
  readonly #options: PurgeServiceOptions;
  readonly #jobs: JobService;
  readonly #purges: PurgeRunner;
  readonly #archives: ArchiveService;

  constructor(options: PurgeServiceOptions, jobs: JobService, purges: PurgeRunner, archives: ArchiveService) {
    this.#options = options;
    this.#jobs = jobs;
    this.#purges = purges;
    this.#archives = archives;
  }

  /**
   * Begins or resumes a job.
   *
   * @throws JobSecretError, QueryRefusedError, PolicyRefusedError if the job cannot be resumed
   */
  begin(kept: JobRecord, needs: JobResumeData, lease: Lease): JobWork {
    const record = kept as PurgeRecord;
    const job = this.#jobOf(record, needs, lease);
    const { live, budget } = job;
    return {
      live,
      place: record.dryRun ? 'dry run' : 'job',
      run: () => this.#run(job),
      // If this cannot be stored, the reserved items stay spent.
      onStopped: async () => budget?.settle(live.affectedSince).catch(() => {}),
    };
  }

  /** Enters a purge that an earlier process left and that ends in its current state. */
  async abandon({ record: left, job }: UnfinishedJob, lease: Lease): Promise<LivePurge> {
    const record = left as PurgeRecord;
    const live = this.#jobs.enter(LivePurge, abandoned(record, job, this.#options.worker), lease);
    if (job !== undefined && mayHaveDeleted(record, job, false)) live.begun();
    await this.#archives.settle(live);
    return live;
  }

  requeued(left: OrphanedJob): UnfinishedJob {
    return requeued(left as OrphanedPurge, this.#options.worker, this.#jobs.records.now());
  }

  #jobOf(record: PurgeRecord, job: JobResumeData, lease: Lease): Job {
    const { worker, kinds, sealer, clock } = this.#options;
    const { reportAbove, makesPlan } = job;
    const prepared = preparePurge(kinds, { ...record, target: targetOf(record), headers: sealer.open(job) });
    checkRate(prepared.limits, record);
    const { concurrency, maxAffected } = prepared.limits;
    const live = this.#jobs.enter(LivePurge, resumed(record, job, worker, concurrency), lease);
    const bound = boundOf(maxAffected, reportAbove);
    if (mayHaveDeleted(record, job, bound !== undefined)) live.begun();
    const budget =
      bound === undefined
        ? undefined
        : new DeleteBudget(
            bound,
            { spent: spentBefore(record, job), settled: settledBefore(record) },
            { write: (spent) => this.#jobs.records.writeAhead(live, { ...job, spent }), clock },
          );
    const isElsewhere = record.startedAt !== undefined && record.worker !== worker;
    return {
      live,
      prepared,
      budget,
      reportAbove,
      makesPlan,
      beforeDelete: this.#clockCheckOf(live),
      before: isElsewhere ? record.worker : undefined,
    };
  }

  /** Warns if another process recorded ids in a folder of its own: the list here then lacks them. */
  async #noteIdsElsewhere({ live, prepared, before }: Job): Promise<void> {
    const { id, warnings, dryRun } = live.record;
    if (before === undefined || prepared.query.record !== 'ids' || dryRun) return;
    if (await this.#options.idFiles.has(id)) return;
    const note = `The ids that the gateway ${before} recorded are not in the list of ids here.`;
    live.set({ warnings: [...warnings, note] });
  }

  /**
   * Runs a purge. If a retention run has unusually many matches, or the gateway's clock was ahead, the run deletes
   * nothing and only reports its matches.
   */
  async #run(job: Job): Promise<void> {
    const { live, budget, reportAbove } = job;
    await this.#noteIdsElsewhere(job);
    try {
      await this.#purges.run(job);
    } catch (error) {
      if (error instanceof ClockAheadError) {
        await this.#report(job, error.message);
        return;
      }
      if (!(error instanceof TooManyMatchesError)) throw error;
      if (error.maxAffected !== reportAbove || live.hasBegun)
        throw budget?.explain(error, live.hasBegun) ?? error;
      const note =
        `It matches ${error.exact ? '' : 'at least '}${String(error.matched)}, more than the ` +
        `${String(reportAbove)} that its retention policy allows (maxGrowth), so nothing was deleted. ` +
        'Check the matches; then raise maxGrowth (0 switches the guard off), or run the purge by hand.';
      await this.#report(job, note);
    }
  }

  /** Continues as a dry run. */
  async #report({ live, prepared }: Job, note: string): Promise<void> {
    live.set({ dryRun: true, heldBack: true, warnings: [...live.record.warnings, note] });
    await this.#purges.run({ live, prepared });
  }

  /**
   * Returns a check for a run of a retention policy, called before each delete: throws if the age of the matches was
   * measured by a clock that was ahead. Undefined if there is nothing to check.
   */
  #clockCheckOf({ record, hasBegun }: LivePurge): (() => void) | undefined {
    if (record.retentionPolicy === undefined || record.dryRun || hasBegun) return undefined;
    const { clock, brokerAheadMs = () => undefined } = this.#options;
    let isChecked = false;
    return () => {
      if (isChecked) return;
      const brokersMs = clock.now() - (brokerAheadMs() ?? 0);
      const aheadMs = Date.parse(record.createdAt) - brokersMs;
      if (aheadMs > CLOCK_SLACK_MS) throw new ClockAheadError(aheadMs);
      isChecked = true;
    };
  }
}

const MINUTE_MS = 60_000;

/** The clock used to measure ages was ahead of the broker's. */
class ClockAheadError extends Error {
  constructor(aheadMs: number) {
    super(
      `The clock of the gateway was ${String(Math.round(aheadMs / MINUTE_MS))} minutes ahead of the broker's (the Date of its ` +
        'answers), so that too much seemed old enough, and nothing was deleted. Correct the clock that is wrong.',
    );
  }
}

/** Returns the lower of two bounds. */
function boundOf(maxAffected: number | undefined, reportAbove: number | undefined): DeleteBound | undefined {
  if (reportAbove !== undefined && reportAbove <= (maxAffected ?? Infinity))
    return { most: reportAbove, by: 'maxGrowth' };
  return maxAffected === undefined ? undefined : { most: maxAffected, by: 'maxAffected' };
}
