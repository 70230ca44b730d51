import { outcomeOf, PurgeStoppedError } from '../purge/index.js';
import {
  isFinal,
  type JobResumeData,
  type JobRecord,
  type JobState,
  LeaseLostError,
  type JobClaim,
  type Jobs,
  StoreUnavailableError,
  UnstorableError,
} from '../store/index.js';
import { isDoneWithin } from '../shared/clock.js';
import { ClientDisconnectedError } from './errors.js';
import type { HistoryPruner } from './history.js';
import { shortened } from './job-record.js';
import type { LiveJob } from './live-job.js';
import type { JobRegistry } from './registry.js';
import type { JobObserver, JobServiceOptions } from './service-options.js';

/** The pause before an unavailable store is tried again, in milliseconds. */
const ASK_AGAIN_MS = 1000;

/** Progress is written at most this often, in milliseconds. */
const WRITE_EVERY_MS = 250;

/** How long a job waits for the write of a record that should survive a crash, in milliseconds. */
const WAIT_MS = 1000;

/** How long closing waits for the store to take the remaining records, in milliseconds. */
const CLOSE_MS = 3000;

/** Maximum number of records that wait for an unavailable store. */
const MAX_WAITING = 1000;

interface RecordKeeperOptions extends Pick<JobServiceOptions, 'clock' | 'problemOf'> {
  readonly store: Pick<Jobs, 'put'>;
  readonly observer: Pick<JobObserver, 'ended' | 'storeAway' | 'storeBack' | 'recordLost'>;
}

interface Entry {
  readonly record: JobRecord;
  readonly claim: JobClaim;
  /** Resolves when the record is written, or when the store turns out to be unavailable. */
  readonly settled: PromiseWithResolvers<void>;
}

/**
 * Writes the records of the jobs that run here, during the jobs and at their end. Writes happen in the background: an
 * unavailable or slow store never stops a purge.
 */
export class RecordKeeper {
  readonly #options: RecordKeeperOptions;
  readonly #registry: JobRegistry;
  readonly #history: Pick<HistoryPruner, 'noteRefused'>;
  readonly #onQueued: () => void;
  /** The latest unwritten record of each job. */
  readonly #waiting = new Map<string, Entry>();
  #writing: Promise<void> | undefined;
  #isAway = false;
  #isClosing = false;
  #sleeping = new AbortController();

  /** @param onQueued called when a job that ran here was put back into the queue and can be taken again */
  constructor(
    options: RecordKeeperOptions,
    registry: JobRegistry,
    history: Pick<HistoryPruner, 'noteRefused'>,
    onQueued: () => void,
  ) {
    this.#options = options;
    this.#registry = registry;
    this.#history = history;
    this.#onQueued = onQueued;
  }

  /** Number of records that have yet to be written. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Returns the unwritten record of a job; undefined if everything is written. */
  unwritten(id: string): JobRecord | undefined {
    return this.#waiting.get(id)?.record;
  }

  /** Returns the record of a job if this process knows a newer one than the store. */
  latest(id: string): JobRecord | undefined {
    return this.#registry.get(id)?.record ?? this.unwritten(id);
  }

  /** Writes a record soon, or at once if it is final. Replaces an unwritten record of the same job. */
  save(record: JobRecord, claim: JobClaim): void {
    this.#waiting.set(record.id, { record, claim, settled: Promise.withResolvers() });
    if (this.#waiting.size > MAX_WAITING) {
      // Drops a refused purge if possible, so that a flood of them displaces no purge that ran.
      const all = [...this.#waiting.values()].map((each) => each.record);
      const lost = all.find(({ state }) => state === 'refused') ?? all[0] ?? record;
      this.#waiting.delete(lost.id);
      this.#options.observer.recordLost(lost);
    }
    if (isFinal(record.state)) this.#sleeping.abort();
    this.#writing ??= this.#writeAll();
  }

  /**
   * Waits, but only for a limited time, until the records of jobs that have ended are stored: lists and other processes read
   * them from the store.
   *
   * @param id of one job; by default, all of them
   */
  async endsStored(id?: string): Promise<void> {
    const ends = [...this.#waiting.values()].filter(
      ({ record }) => isFinal(record.state) && (id === undefined || record.id === id),
    );
    if (ends.length === 0 || this.#isAway) return;
    await this.#isDoneWithin(WAIT_MS, Promise.all(ends.map(({ settled }) => settled.promise)));
  }

  /**
   * Writes the current record of a job, so that it survives a crash. Waits for the store, but only for a limited time.
   *
   * @returns whether the record is stored
   */
  async writeNow(live: LiveJob): Promise<boolean> {
    const { lease } = live;
    const written = this.#options.store.put(live.record, undefined, lease.claim);
    const isWritten = await this.#isDoneWithin(WAIT_MS, written);
    // Uses the record as it is by now: if the job has ended in the meantime, its end must be written.
    if (!isWritten) this.save(live.record, lease.claim);
    return isWritten;
  }

  /** Writes what must be known about a job before it changes anything at the broker. @throws as whenStored() */
  writeAhead(live: LiveJob, job?: JobResumeData): Promise<void> {
    const { store } = this.#options;
    return this.whenStored(live, () => store.put(live.record, job, live.lease.claim));
  }

  /**
   * Reads or writes data without which a job cannot continue. While the store is unavailable, the job waits as long as
   * its lease lasts.
   *
   * @throws PurgeStoppedError if another process has the job or may have it, or if the job is to stop
   */
  async whenStored<T>(live: LiveJob, work: () => Promise<T>): Promise<T> {
    const { clock, observer } = this.#options;
    const { lease } = live;
    for (let tries = 1; ; tries += 1) {
      void lease.check();
      try {
        return await work();
      } catch (error) {
        if (error instanceof LeaseLostError) lease.markTaken();
        else if (!(error instanceof StoreUnavailableError)) throw error;
        else if (tries === 1) observer.storeAway(error);
        await clock.sleep(ASK_AGAIN_MS, live.stopped).catch((reason: unknown) => {
          throw new PurgeStoppedError('The job stopped while the store was unavailable.', { cause: reason });
        });
      }
    }
  }

  /** Writes what was requested of a job. @returns the record as written */
  async keep<Live extends LiveJob>(live: Live): Promise<Live['record']> {
    const { record } = live;
    if (!isFinal(record.state)) await this.writeNow(live);
    return record;
  }

  /** Ends a job that ran to completion. */
  end(live: LiveJob, state: JobState): void {
    live.set({ ...live.record, state, endedAt: this.now() });
    this.#options.observer.ended(live.record);
  }

  /**
   * Ends a job because of an error or because it was stopped.
   *
   * @param stopped the state of a job that was stopped but not cancelled by request
   */
  endEarly(live: LiveJob, error: unknown, stopped: JobState): void {
    const state = stateAfter(live, error, stopped);
    const isGone = state === 'cancelled' && !live.isCancelled;
    const cause = isGone
      ? new ClientDisconnectedError('The caller disconnected before its answer.', { cause: error })
      : error;
    const record = state === 'refused' ? shortened(live.record) : live.record;
    const problem = state === 'cancelled' ? {} : { problem: this.#options.problemOf(error) };
    live.set({ ...record, ...problem, state, endedAt: this.now() });
    this.#options.observer.ended(live.record, cause);
    if (state === 'refused') this.#history.noteRefused();
  }

  /** Writes the record of a job that was refused, and notifies the observer. */
  refuse(record: JobRecord, error: unknown): void {
    this.save(record, { lease: 0 });
    this.#options.observer.ended(record, error);
    this.#history.noteRefused();
  }

  /** Returns the current time, as in records. */
  now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }

  /** Writes the remaining records and stops. Records that the store does not take soon are lost. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#sleeping.abort();
    await this.#isDoneWithin(CLOSE_MS, this.#writeRest());
    for (const { record, settled } of this.#waiting.values()) {
      this.#options.observer.recordLost(record);
      settled.resolve();
    }
    this.#waiting.clear();
  }

  /** Waits for work. @returns whether it was done before `ms` milliseconds had passed; false also if it failed */
  #isDoneWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
    return isDoneWithin(this.#options.clock, ms, work).catch(() => false);
  }

  async #writeRest(): Promise<void> {
    await this.#writing;
    await Promise.all([...this.#waiting.values()].map((entry) => this.#write(entry)));
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isClosing) {
      const batch = [...this.#waiting.values()];
      this.#sleeping = new AbortController();
      for (const entry of batch) if (!(await this.#write(entry))) break;
      // Changes to the same jobs during the pause are written together. close() ends the pause.
      await this.#options.clock.sleep(WRITE_EVERY_MS, this.#sleeping.signal).catch(() => {});
    }
    this.#writing = undefined;
  }

  async #write(entry: Entry): Promise<boolean> {
    const { record, claim } = entry;
    const { store, observer } = this.#options;
    try {
      await store.put(record, undefined, claim);
    } catch (error) {
      if (error instanceof LeaseLostError) {
        const live = this.#registry.get(record.id);
        if (live?.lease.number === claim.lease) live.lease.markTaken();
      } else if (error instanceof UnstorableError) {
        // Other records must not wait for one that the store never takes.
        if (isFinal(record.state)) observer.recordLost(record);
      } else {
        if (!this.#isAway) observer.storeAway(error);
        this.#isAway = true;
        for (const { settled } of this.#waiting.values()) settled.resolve();
        return false;
      }
    }
    if (this.#isAway) observer.storeBack();
    this.#isAway = false;
    entry.settled.resolve();
    if (this.#waiting.get(record.id) === entry) this.#waiting.delete(record.id);
    if (record.state === 'queued' && !this.#isClosing) this.#onQueued();
    return true;
  }
}

function stateAfter(live: LiveJob, error: unknown, stopped: JobState): JobState {
  const outcome = live.isCancelled ? 'cancelled' : outcomeOf(error);
  if (outcome === 'stopped') return stopped;
  return outcome === 'refused' && live.hasBegun ? 'failed' : outcome;
}
