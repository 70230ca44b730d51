import type { Readable } from 'node:stream';
import { outcomeOf, type PurgeReport } from '../purge/index.js';
import type { ControlRequest, PurgeRecord } from '../store/index.js';
import { ArchiveService } from './archive-service.js';
import {
  IdsNotFoundError,
  JobNotFoundError,
  PlanUnavailableError,
  PurgeCancelledError,
  PurgeFailedError,
} from './errors.js';
import { headersAt } from './job-headers.js';
import { checkMakesPlan, withoutDryRun } from './plan-service.js';
import { JobKind } from './job-kind.js';
import type { JobService } from './job-service.js';
import { checkRate, narrower, preparePurge, type NewPurge } from './purge-kinds.js';
import { newRecord, refusedRecord, targetOf } from './purge-record.js';
import { RestoreJobs, restoreConcurrency } from './restore-jobs.js';
import { LivePurge } from './live-purge.js';
import { PurgeRunner } from './purge-runner.js';
import type { PurgeServiceOptions } from './service-options.js';
import { defined } from '../shared/defined.js';

/** Runs purges, as jobs or while their callers wait, and restores what they have archived. */
export class PurgeService extends JobKind<PurgeRecord> {
  readonly name = 'purge';
  readonly #options: PurgeServiceOptions;
  readonly #runner: PurgeRunner;
  readonly archives: ArchiveService;
  readonly restores: RestoreJobs;

  constructor(jobs: JobService, options: Pick<PurgeServiceOptions, 'kinds' | 'recordRequired' | 'plans'>) {
    super(jobs);
    this.#options = { ...jobs.options, ...options };
    this.archives = new ArchiveService(jobs.options, (id) => this.get(id));
    this.#runner = new PurgeRunner(this.#options, jobs, this.archives);
    this.restores = new RestoreJobs(this.#options, jobs, this.archives);
    jobs.serve(this.#runner);
    jobs.serve(this.restores);
  }

  /**
   * Runs a purge whose caller waits for the result.
   *
   * @param gone aborts when the caller disconnects
   * @throws PurgeFailedError with the cause and the record; PurgeStoppedError, TooManyPurgesError if the purge has not
   * begun
   */
  async run(
    asked: NewPurge,
    gone: AbortSignal,
  ): Promise<{ readonly report: PurgeReport; readonly record: PurgeRecord }> {
    const { registry, records } = this.jobs;
    const { kinds, recordRequired, store, observer } = this.#options;
    const prepared = await this.#unlessRefused(asked, () => preparePurge(kinds, asked));
    const record = newRecord(asked, prepared, { state: 'running', ...this.#start() });
    const live = this.jobs.enter(LivePurge, record, this.jobs.leases.lease());
    let isStored = false;
    try {
      registry.takePlace(live, record.dryRun ? 'dry run' : 'purge');
      live.start(records.now());
      // The record is written before the first request. If records are required, it must reach the store.
      if (recordRequired) await store.put(live.record, undefined, live.lease.claim);
      isStored = recordRequired || (await records.writeNow(live));
      observer.started(live.record);
      const report = await this.#runner.run({ live, prepared }, AbortSignal.any([live.stopped, gone]));
      return { report, record: live.record };
    } catch (error) {
      // A purge that could not begin is only reported to its caller.
      if (live.record.startedAt === undefined) throw error;
      records.endEarly(live, error, gone.aborted ? 'cancelled' : 'interrupted');
      const isCancelled = live.isCancelled && outcomeOf(error) === 'stopped';
      const cause = isCancelled ? new PurgeCancelledError({ cause: error }) : error;
      throw new PurgeFailedError(cause, live.record, live.hasBegun);
    } finally {
      registry.leave(live);
      // The caller may ask another gateway for the record. If the store was away at the start, the caller has waited enough.
      if (isStored) await records.endsStored(record.id);
    }
  }

  /**
   * Accepts an asynchronous purge. It runs when a place is free.
   *
   * @throws PurgeFailedError if the purge is refused; QueueFullError, PurgeStoppedError, StoreUnavailableError
   */
  async submit(asked: NewPurge): Promise<PurgeRecord> {
    this.jobs.registry.requireOpen();
    const { makesPlan, planOf } = asked;
    const { kinds, plans, sealer, broker } = this.#options;
    const { prepared, sealed } = await this.#unlessRefused(asked, async () => {
      const purge = preparePurge(kinds, asked);
      if (makesPlan === true) checkMakesPlan(purge.query.dryRun);
      const headers = sealer.seal(asked.headers);
      if (planOf !== undefined) await plans.check(planOf, purge.limits.maxAffected, broker);
      return { prepared: purge, sealed: headers };
    });
    const record = newRecord(asked, prepared, { state: 'queued', ...this.#start() });
    await this.jobs.enqueue(record, { ...sealed, reportAbove: asked.reportAbove, makesPlan });
    if (planOf !== undefined) await plans.reserve(planOf, record.id);
    return record;
  }

  /**
   * Returns the purge that applies the plan of a dry run: with the same query, in the same place, and within the
   * policies of both.
   *
   * @throws PlanUnavailableError if there is no such dry run; QueryRefusedError if the request names another tenant
   */
  async planned(id: string, asked: Omit<NewPurge, 'target' | 'query'>): Promise<NewPurge> {
    const record = await this.get(id).catch((error: unknown) => {
      throw error instanceof JobNotFoundError
        ? new PlanUnavailableError(`There is no dry run ${id}.`)
        : error;
    });
    const { query, policy, dryRun } = record;
    if (!dryRun || record.plan === undefined || record.target === 'restore')
      throw new PlanUnavailableError(
        `The purge ${id} kept no plan: preview the purge with plan set to true.`,
      );
    return {
      ...asked,
      target: record.target,
      query: withoutDryRun(query),
      planOf: id,
      headers: headersAt(asked.headers, record),
      policy: narrower(policy, asked.policy),
    };
  }

  /** Records a purge that was refused, perhaps before its query was parsed. @returns the error for its caller */
  refusal(asked: NewPurge, error: unknown): PurgeFailedError {
    const record = refusedRecord(asked, this.#options.problemOf(error), this.#start());
    this.jobs.records.refuse(record, error);
    return new PurgeFailedError(error, record);
  }

  /**
   * Returns the outcomes of the items of a purge that recorded them, one JSON object per line.
   *
   * @throws JobNotFoundError, IdsNotFoundError
   */
  async ids(id: string): Promise<Readable> {
    const { worker } = await this.get(id);
    const lines = await this.#options.idFiles.read(id);
    if (lines === undefined) throw new IdsNotFoundError(id, worker);
    return lines;
  }

  /**
   * Removes the recorded ids of a purge.
   *
   * @throws JobNotFoundError; IdsNotFoundError if no ids are here and another process ran the purge
   */
  async removeIds(id: string): Promise<void> {
    const { worker } = await this.get(id);
    const { idFiles, worker: own } = this.#options;
    if (!(await idFiles.remove(id)) && worker !== own) throw new IdsNotFoundError(id, worker);
  }

  protected override requestFor(record: PurgeRecord, change: Omit<ControlRequest, 'cancel'>): ControlRequest {
    const { concurrency } = change;
    // Never more than configuration and policy allow.
    const most = this.#mostConcurrency(record, change);
    return defined({ ...change, concurrency: concurrency && Math.min(concurrency, most) });
  }

  /** @throws QueryRefusedError for a rate that the purge does not support */
  #mostConcurrency(record: PurgeRecord, change: Omit<ControlRequest, 'cancel'>): number {
    const { kinds } = this.#options;
    // The query of a restore is that of its purge, which may be of another kind.
    if (record.target === 'restore') return restoreConcurrency(kinds, record.policy);
    const { limits } = preparePurge(kinds, { ...record, headers: {}, target: targetOf(record) });
    checkRate(limits, change);
    return limits.concurrency;
  }

  /** Does the checks of a purge. A refusal is recorded. @throws PurgeFailedError if the purge is refused */
  async #unlessRefused<T>(asked: NewPurge, checks: () => T | Promise<T>): Promise<T> {
    try {
      return await checks();
    } catch (error) {
      if (outcomeOf(error) !== 'refused') throw error;
      const refusal = this.refusal(asked, error);
      await this.jobs.records.endsStored(refusal.record.id);
      throw refusal;
    }
  }

  #start(): Pick<PurgeRecord, 'worker' | 'createdAt'> {
    return { worker: this.#options.worker, createdAt: this.jobs.records.now() };
  }
}
