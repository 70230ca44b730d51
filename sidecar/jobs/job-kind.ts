import {
  type ControlRequest,
  isFinal,
  type JobFilter,
  type JobKindName,
  type JobRecord,
  kindOf,
} from '../store/index.js';
import { JobNotFoundError, JobEndedError } from './errors.js';
import { cancelled } from './job-record.js';
import type { LiveJob } from './live-job.js';
import type { JobService } from './job-service.js';

/** Base of one kind of job: how its jobs are looked up, watched, changed and cancelled. JobService runs them. */
export abstract class JobKind<Record extends JobRecord> {
  readonly jobs: JobService;
  abstract readonly name: JobKindName;

  constructor(jobs: JobService) {
    this.jobs = jobs;
  }

  /** Returns the part of a change that can be granted. @throws an error if the change is refused */
  protected requestFor(_record: Record, change: Omit<ControlRequest, 'cancel'>): ControlRequest {
    return change;
  }

  /** @throws JobNotFoundError */
  async get(id: string): Promise<Record> {
    const known = this.jobs.records.latest(id) ?? (await this.jobs.options.store.get(id));
    if (known === undefined || !this.#isOwn(known)) throw new JobNotFoundError(this.name, id);
    return known;
  }

  async list(
    filter: Omit<JobFilter, 'kind'>,
  ): Promise<{ readonly items: readonly Record[]; readonly total: number }> {
    const { items, total } = await this.jobs.options.store.list({ ...filter, kind: this.name });
    const latest = (one: JobRecord) => this.jobs.records.latest(one.id) ?? one;
    return { items: items.map(latest).filter((one) => this.#isOwn(one)), total };
  }

  /**
   * Cancels a job: no new work is begun, and requests in flight finish. A job that has ended stays unchanged.
   *
   * @throws JobNotFoundError
   */
  async cancel(id: string): Promise<Record> {
    const { registry, records, options } = this.jobs;
    const record = await this.get(id);
    const cancelHere = (live: LiveJob) => {
      live.cancel();
      return records.keep(live) as Promise<Record>;
    };
    const live = registry.get(id);
    if (live !== undefined) return cancelHere(live);
    if (isFinal(record.state)) return record;
    const result = await options.store.request(id, { cancel: true }, (kept, isHeld) =>
      isHeld ? { ...kept, state: 'cancelling' } : cancelled(kept, records.now()),
    );
    // The job may have begun here during the request to the store.
    const begun = registry.get(id);
    if (begun !== undefined) return cancelHere(begun);
    if (result === undefined || result.outcome === 'over') return this.get(id);
    if (result.outcome === 'done') options.observer.ended(result.record);
    this.jobs.onNotice({ what: 'request', id });
    return result.record as Record;
  }

  /**
   * Changes the rate or the concurrency of a job, within its policy.
   *
   * @throws JobNotFoundError, JobEndedError if it has ended, QueryRefusedError for a change that cannot be carried out
   */
  async change(id: string, change: Omit<ControlRequest, 'cancel'>): Promise<Record> {
    const { registry, records, options } = this.jobs;
    const record = await this.get(id);
    if (isFinal(record.state) || record.state === 'cancelling')
      throw new JobEndedError(this.name, id, record.state);
    const request = this.requestFor(record, change);
    const changeHere = (live: LiveJob) => {
      live.change(request);
      return records.keep(live) as Promise<Record>;
    };
    const live = registry.get(id);
    if (live !== undefined) return changeHere(live);
    const result = await options.store.request(id, request, (kept) => ({ ...kept, ...request }));
    // The job may have begun here during the request to the store.
    const begun = registry.get(id);
    if (begun !== undefined) {
      const changed = await changeHere(begun);
      // Otherwise the stored request would be carried out later and override newer changes.
      await options.store.clearRequest({ id, lease: begun.lease.number, request }).catch(() => {});
      return changed;
    }
    if (result === undefined) throw new JobNotFoundError(this.name, id);
    if (result.outcome === 'over') throw new JobEndedError(this.name, id, result.record.state);
    this.jobs.onNotice({ what: 'request', id });
    return result.record as Record;
  }

  /** Yields the record of a job: now, and after each change, until the job ends or the signal aborts. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<Record, void> {
    const { registry, notifier } = this.jobs;
    let seen: Record | undefined;
    while (!signal.aborted) {
      const live = registry.get(id) as LiveJob<Record> | undefined;
      const record = live?.record ?? (await this.#read(id, seen));
      if (!isSame(record, seen)) yield record;
      seen = record;
      const isStopping = registry.stopping.aborted;
      if (isFinal(record.state) || (isStopping && (live === undefined || record.state === 'queued'))) return;
      if (live === undefined)
        await notifier.changedElsewhere(id, AbortSignal.any([signal, registry.stopping]));
      else if (live.record === seen && registry.get(id) === live) await notifier.changed(id, signal);
    }
  }

  /**
   * Reads the record of a job that this process does not run; returns the last one seen if the store is unavailable.
   */
  async #read(id: string, seen: Record | undefined): Promise<Record> {
    try {
      return await this.get(id);
    } catch (error) {
      if (seen === undefined || error instanceof JobNotFoundError) throw error;
      return seen;
    }
  }

  #isOwn(record: JobRecord): record is Record {
    return kindOf(record) === this.name;
  }
}

function isSame(one: JobRecord, other: JobRecord | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
