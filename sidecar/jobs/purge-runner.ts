import { type PurgeEvent, type PurgeReport, TooManyMatchesError, unlessStopped } from '../purge/index.js';
import type { JobResumeData, JobRecord, OrphanedJob, PurgeRecord, UnfinishedJob } from '../store/index.js';
import type { ArchiveService } from './archive-service.js';
import { DeleteBudget, type DeleteBound } from './delete-budget.js';
import type { Lease } from './live-job.js';
import { LivePurge } from './live-purge.js';
import { PlanKeys } from './plan-keys.js';
import { checkRate, isLeftToBroker, preparePurge, type PreparedPurge } from './purge-kinds.js';
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

/** A purge to run. The optional members are those of jobs. */
interface Work {
  readonly live: LivePurge;
  readonly prepared: PreparedPurge;
  /** Set if the number of deletes is bounded. */
  readonly budget?: DeleteBudget | undefined;
  /** Set for a dry run that keeps its matches as a plan. */
  readonly makesPlan?: true | undefined;
  /** If there are more matches than this, they are only reported. */
  readonly reportAbove?: number | undefined;
  /** The name of another process that worked on the job before. */
  readonly before?: string | undefined;
}

/** Runs purges: those whose callers wait, those that waited in the queue, and those that other processes left. */
export class PurgeRunner implements JobRunner {
  readonly runs = 'purge';
  readonly #options: PurgeServiceOptions;
  readonly #jobs: JobService;
  readonly #archives: ArchiveService;

  constructor(options: PurgeServiceOptions, jobs: JobService, archives: ArchiveService) {
    this.#options = options;
    this.#jobs = jobs;
    this.#archives = archives;
  }

  /**
   * Begins or resumes a job.
   *
   * @throws JobSecretError, QueryRefusedError, PolicyRefusedError if the job cannot be resumed
   */
  begin(kept: JobRecord, needs: JobResumeData, lease: Lease): JobWork {
    const record = kept as PurgeRecord;
    const work = this.#workOf(record, needs, lease);
    const { live, budget } = work;
    return {
      live,
      place: record.dryRun ? 'dry run' : 'job',
      run: () => this.#runJob(work),
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

  #workOf(record: PurgeRecord, job: JobResumeData, lease: Lease): Work {
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
      before: isElsewhere ? record.worker : undefined,
    };
  }

  /** Warns if another process recorded ids in a folder of its own: the list here then lacks them. */
  async #noteIdsElsewhere({ live, prepared, before }: Work): Promise<void> {
    if (before === undefined || prepared.query.record !== 'ids' || live.record.dryRun) return;
    if (await this.#options.idFiles.has(live.record.id)) return;
    live.warn(`The ids that the gateway ${before} recorded are not in the list of ids here.`);
  }

  /**
   * Runs a job. If a retention run has unusually many matches, or the gateway's clock was ahead, the run deletes nothing and
   * only reports its matches.
   */
  async #runJob(work: Work): Promise<void> {
    const { live, prepared, budget, reportAbove } = work;
    await this.#noteIdsElsewhere(work);
    const report = async (note: string) => {
      live.set({ dryRun: true, heldBack: true });
      live.warn(note);
      await this.run({ live, prepared });
    };
    try {
      await this.run(work);
    } catch (error) {
      if (error instanceof ClockAheadError) return report(error.message);
      if (!(error instanceof TooManyMatchesError)) throw error;
      if (error.maxAffected !== reportAbove || live.hasBegun)
        throw budget?.explain(error, live.hasBegun) ?? error;
      return report(
        `It matches ${error.exact ? '' : 'at least '}${String(error.matched)}, more than the ` +
          `${String(reportAbove)} that its retention policy allows (maxGrowth), so nothing was deleted. ` +
          'Check the matches; then raise maxGrowth (0 switches the guard off), or run the purge by hand.',
      );
    }
  }

  /** Runs a purge to its end. @param stopped aborts when the purge has to stop @throws what the engine throws */
  async run(work: Work, stopped: AbortSignal = work.live.stopped): Promise<PurgeReport> {
    const { live, prepared, budget } = work;
    const { id, planOf, dryRun } = live.record;
    const { idFiles, plans, observer } = this.#options;
    const { records } = this.#jobs;
    const archive =
      prepared.archive === 'none' || dryRun
        ? undefined
        : await unlessStopped(this.#archives.begin(live, prepared), stopped);
    const plan =
      planOf === undefined ? undefined : await records.whenStored(live, () => plans.load(planOf, id));
    const found = work.makesPlan === true ? new PlanKeys() : undefined;
    const ids = prepared.query.record === 'ids' && !dryRun ? idFiles.recorder(id) : undefined;
    const checkClock = this.#clockCheckOf(live);
    let told = live.record.deleted;
    const tell = () => {
      const more = live.record.deleted - told;
      told += more;
      if (more > 0) observer.deleted(live.record, more);
      if (archive !== undefined) this.#archives.note(live, archive.writer.counts);
    };
    let report: PurgeReport;
    try {
      report = await prepared.run(
        {
          limits: {
            ...prepared.limits,
            maxAffected: budget?.remaining ?? prepared.limits.maxAffected,
            // It may be changed while the purge runs.
            get concurrency() {
              return live.record.concurrency;
            },
          },
          rateLimiter: live.rateLimiter,
          budget,
          onEvent: (event: PurgeEvent) => {
            live.note(event);
            tell();
            observer.event(live.record, event);
          },
          onOutcome: ids && ((item, outcome) => ids.note(item, outcome)),
          archive,
          plan,
          onPlanned: found && ((item) => found.add(item)),
          beforeDelete: () => {
            checkClock?.();
            return live.lease.check();
          },
          reportsOnly: dryRun,
        },
        stopped,
      );
      live.noteReport(report);
      tell();
    } finally {
      if (archive !== undefined) await this.#archives.finish(live, archive, stopped);
      const missing = await ids?.close();
      if (missing !== undefined) live.warn(missing);
    }
    if (found !== undefined) await this.#savePlan(work, found);
    // The counts of the record, because they include what an earlier process left unknown.
    const { failed, unknown } = live.record;
    const isWhole = failed + unknown + report.warnings.length === 0;
    records.end(live, isWhole ? 'succeeded' : 'partial');
    return report;
  }

  async #savePlan({ live, prepared }: Work, found: PlanKeys): Promise<void> {
    if (isLeftToBroker(prepared)) {
      live.warn(
        'No plan was kept: PURGE_STRATEGY=native leaves the deletes to the broker, which cannot keep to one.',
      );
      return;
    }
    const { plans } = this.#options;
    const kept = await this.#jobs.records.whenStored(live, () => plans.save(live.record.id, found));
    if ('plan' in kept) live.set(kept);
    else live.warn(kept.why);
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
