import {
  PurgeStoppedError,
  TooManyMatchesError,
  TooManyPurgesError,
  type PlaceKind,
} from '../purge/index.js';
import { LeaseLostError, StoreUnavailableError } from '../store/errors.js';
import type { PurgeJob, PurgeRecord, TakenPurge } from '../store/purge-records.js';
import { withoutWaitNote } from './elsewhere.js';
import { DeleteBudget, type DeleteBound } from './delete-budget.js';
import type { Lease } from './lease.js';
import type { LivePurge } from './live-purge.js';
import type { PurgeOrder } from './new-record.js';
import { preparePurge, type PreparedPurge } from './purge-kinds.js';
import type { PurgeServiceOptions } from './purge-options.js';
import type { PurgesAtWork, Work } from './purges-at-work.js';
import { resumed, settledBefore, spentBefore, warningsAfter } from './resumption.js';

interface Job extends Work {
  /** The name of another process that has worked on it before. */
  readonly before: string | undefined;
}

/** The pause before a store that is away is asked again, in milliseconds. */
const ASK_AGAIN_MS = 1000;

/** Works on jobs that were taken from the store: those that waited, and those that another process left. */
export class JobRunner {
  readonly #options: PurgeServiceOptions;
  readonly #atWork: PurgesAtWork;
  readonly #stopped: AbortSignal;

  /** @param stopped aborts when this process stops: its jobs are then laid aside */
  constructor(options: PurgeServiceOptions, atWork: PurgesAtWork, stopped: AbortSignal) {
    this.#options = options;
    this.#atWork = atWork;
    this.#stopped = stopped;
  }

  /** Goes on with a purge that was taken: one that waited, or that another process left. */
  takeUp({ record, job, wish }: TakenPurge, lease: Lease): void {
    const isCancelled = record.state === 'cancelling' || wish?.cancel === true;
    if (job === undefined || isCancelled) {
      const live = this.#atWork.track(this.#leftBy(record, job), lease);
      this.#atWork.end(live, { state: job === undefined ? 'interrupted' : 'cancelled' });
      this.#atWork.leave(live);
      return;
    }
    try {
      void this.#runJob(this.#jobOf(record, job, lease));
    } catch (error) {
      const live = this.#atWork.track(this.#leftBy(record, job), lease);
      if (mayHaveDeleted(record, job, false)) live.begun();
      this.#atWork.endEarly(live, error, 'interrupted');
      this.#atWork.leave(live);
    }
  }

  /** @throws JobSecretError, QueryRefusedError, PolicyRefusedError for a job that cannot go on */
  #jobOf(record: PurgeRecord, job: PurgeJob, lease: Lease): Job {
    const { worker, kinds, sealer, clock } = this.#options;
    const { reportAbove } = job;
    const order: PurgeOrder = { ...record, headers: sealer.open(job), reportAbove };
    const asked = preparePurge(kinds, order);
    const prepared = record.dryRun && !asked.dryRun ? this.#asReport(order) : asked;
    const { concurrency, maxAffected } = prepared.limits;
    const waited = { ...record, warnings: withoutWaitNote(record.warnings) };
    const live = this.#atWork.track(resumed(waited, job, worker, concurrency), lease);
    const bound = boundOf(maxAffected, reportAbove);
    if (mayHaveDeleted(record, job, bound !== undefined)) live.begun();
    const budget =
      bound === undefined
        ? undefined
        : new DeleteBudget(
            bound,
            { spent: spentBefore(record, job), settled: settledBefore(record) },
            { write: (spent) => this.#writeAhead(live, { ...job, spent }), clock },
          );
    const isElsewhere = record.startedAt !== undefined && record.worker !== worker;
    return { live, order, prepared, budget, before: isElsewhere ? record.worker : undefined };
  }

  /**
   * Writes what must be known of a job before its next delete. While the store is away, the job waits for it as long as its
   * lease lasts.
   *
   * @throws PurgeStoppedError when another process has the purge or may have it, or when the purge is to stop
   */
  async #writeAhead(live: LivePurge, job?: PurgeJob): Promise<void> {
    const { store, clock } = this.#options;
    const { lease, cancelled } = live;
    const signal = AbortSignal.any([cancelled.signal, lease.lost, this.#stopped]);
    for (;;) {
      lease.require();
      try {
        await store.put(live.record, job, { lease: lease.number });
        return;
      } catch (error) {
        if (error instanceof LeaseLostError) lease.take();
        else if (!(error instanceof StoreUnavailableError)) throw error;
        await clock.sleep(ASK_AGAIN_MS, signal).catch((reason: unknown) => {
          throw new PurgeStoppedError('The purge stopped before its next delete.', { cause: reason });
        });
      }
    }
  }

  async #runJob(job: Job): Promise<void> {
    const { live, budget } = job;
    try {
      await this.#options.running.run(placeOf(job.prepared), live.cancelled.signal, async (signal) => {
        live.set({ state: 'running', startedAt: live.record.startedAt ?? this.#now() });
        await this.#noteIdsElsewhere(job);
        // Without it, a process that takes over would not know that deletes may have been sent.
        await this.#writeAhead(live);
        this.#options.observer.started(live.record);
        await this.#workOrReport(job, signal);
      });
    } catch (error) {
      // Nothing is in flight any more. When it cannot be written, what was reserved stays spent.
      if (budget !== undefined && !live.lease.isTaken && this.#isToGoOn(live, error))
        await budget.settle(live.affectedSince).catch(() => {});
      // Meanwhile it may have been taken by another process, or cancelled; else the next one with a free place continues it.
      if (live.lease.isTaken) this.#options.observer.taken(live.record);
      else if (this.#isToGoOn(live, error)) live.set({ state: 'queued' });
      else this.#atWork.endEarly(live, error, 'interrupted');
    } finally {
      this.#atWork.leave(live);
    }
  }

  /** The record of a purge that does not go on. */
  #leftBy(record: PurgeRecord, job: PurgeJob | undefined): PurgeRecord {
    const warnings = warningsAfter(record, job, this.#options.worker, 'ended it');
    return { ...record, warnings: withoutWaitNote(warnings) };
  }

  /** The list of ids goes on where another process began it only if they have the same folder. */
  async #noteIdsElsewhere({ live, prepared, before }: Job): Promise<void> {
    const { id, warnings } = live.record;
    if (before === undefined || !prepared.recordsIds || (await this.#options.idFiles.has(id))) return;
    const note = `The ids that the gateway ${before} recorded are not in the list of ids here.`;
    live.set({ warnings: [...warnings, note] });
  }

  /** Whether a job only stops in this process, and is to be continued. */
  #isToGoOn({ cancelled, lease }: LivePurge, error: unknown): boolean {
    if (cancelled.signal.aborted) return false;
    // A purge whose caller waits may have taken the last place meanwhile.
    if (error instanceof TooManyPurgesError) return true;
    return (this.#stopped.aborted || lease.lost.aborted) && error instanceof PurgeStoppedError;
  }

  /** A purge with unusually many matches deletes nothing, and only reports them. */
  async #workOrReport(job: Job, signal: AbortSignal): Promise<void> {
    const { live, order, budget } = job;
    try {
      await this.#atWork.work(job, signal);
    } catch (error) {
      if (!(error instanceof TooManyMatchesError)) throw error;
      const { reportAbove } = order;
      if (error.maxAffected !== reportAbove || live.hasBegun)
        throw budget?.explain(error, live.hasBegun) ?? error;
      const note = `It matches ${error.exact ? '' : 'at least '}${String(error.matched)}, more than the ${String(reportAbove)} that its retention policy allows (maxGrowth), so nothing was deleted. Check the matches; then raise maxGrowth (0 switches the guard off), or run the purge by hand.`;
      live.set({ dryRun: true, warnings: [...live.record.warnings, note] });
      await this.#atWork.work({ ...job, budget: undefined, prepared: this.#asReport(order) }, signal);
    }
  }

  #asReport(order: PurgeOrder): PreparedPurge {
    return preparePurge(this.#options.kinds, { ...order, query: `${order.query}&dryRun=true` });
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

/** Whether an earlier process may have sent deletes of a job. With a maximum, what it sends is written down before. */
function mayHaveDeleted(record: PurgeRecord, job: PurgeJob, isBounded: boolean): boolean {
  if (record.dryRun) return false;
  if (settledBefore(record) + spentBefore(record, job) > 0) return true;
  const wasLost = record.state !== 'queued' && record.startedAt !== undefined;
  return !isBounded && (wasLost || job.mayHaveBegun === true);
}

function placeOf({ dryRun }: PreparedPurge): PlaceKind {
  return dryRun ? 'dry run' : 'job';
}

/** The lesser one of two bounds. */
function boundOf(maxAffected: number | undefined, reportAbove: number | undefined): DeleteBound | undefined {
  if (reportAbove !== undefined && reportAbove <= (maxAffected ?? Infinity))
    return { most: reportAbove, by: 'maxGrowth' };
  return maxAffected === undefined ? undefined : { most: maxAffected, by: 'maxAffected' };
}
