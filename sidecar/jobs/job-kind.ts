import {
  type ControlRequest,
  isFinal,
  type JobFilter,
  type JobKindName,
  type JobRecord,
  type Jobs,
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
    await this.jobs.records.endsStored();
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
    const { registry, records } = this.jobs;
    const record = await this.get(id);
    if (registry.get(id) === undefined && isFinal(record.state)) return record;
    const requested = await this.#request(id, { cancel: true }, (kept, isHeld) =>
      isHeld ? { ...kept, state: 'cancelling' } : cancelled(kept, records.now()),
    );
    return requested ?? this.get(id);
  }

  /**
   * Changes the rate or the concurrency of a job, within its policy.
   *
   * @throws JobNotFoundError, JobEndedError if it has ended, QueryRefusedError for a change that cannot be carried out
   */
  async change(id: string, change: Omit<ControlRequest, 'cancel'>): Promise<Record> {
    const record = await this.get(id);
    if (isFinal(record.state) || record.state === 'cancelling')
      throw new JobEndedError(this.name, id, record.state);
    const request = this.requestFor(record, change);
    const requested = await this.#request(id, request, (kept) => ({ ...kept, ...request }));
    if (requested !== undefined) return requested;
    throw new JobEndedError(this.name, id, (await this.get(id)).state);
  }

  /**
   * Requests something of a job: at once if it runs here, otherwise by way of the store.
   *
   * @param change returns the record that shows the request, if the job does not run here
   * @returns the new record; undefined if the job has ended, or is gone
   */
  async #request(
    id: string,
    request: ControlRequest,
    change: Parameters<Jobs['request']>[2],
  ): Promise<Record | undefined> {
    const { registry, records, options } = this.jobs;
    const { store, observer } = options;
    const grantHere = async (live: LiveJob) => {
      live.grant(request);
      return (await records.keep(live)) as Record;
    };
    const live = registry.get(id);
    if (live !== undefined) return grantHere(live);
    const result = await store.request(id, request, change);
    // The job may have begun here during the request to the store.
    const begun = registry.get(id);
    if (begun !== undefined) {
      const granted = await grantHere(begun);
      // Otherwise a stored change would be carried out later and override newer ones.
      if (request.cancel !== true)
        await store.clearRequest({ id, lease: begun.lease.number, request }).catch(() => {});
      return granted;
    }
    if (result === undefined || result.outcome === 'over') return undefined;
    if (isFinal(result.record.state)) observer.ended(result.record);
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
