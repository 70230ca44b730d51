import { RateLimiter, PurgeStoppedError } from '../purge/index.js';
import { ended, withoutEstimates } from './job-record.js';
import { type ControlRequest, isFinal, type JobRecord, type JobClaim } from '../store/index.js';
import type { Clock } from '../shared/clock.js';
import { RateMeter } from '../shared/rate-meter.js';
import { defined } from '../shared/defined.js';

/** Minimum time between two changes that watchers see, in milliseconds. */
const PUBLISH_EVERY_MS = 250;

/** A job that this process runs: its current record, and the settings that can be changed while it runs. */
export abstract class LiveJob<Record extends JobRecord = JobRecord> {
  readonly lease: Lease;
  /** Limits how fast the job works. */
  readonly rateLimiter: RateLimiter;
  /** Aborts when the job has to stop here: no new work is begun, and requests in flight finish. */
  readonly stopped: AbortSignal;
  readonly #stop = new AbortController();
  readonly #clock: Clock;
  readonly #rate = new RateMeter();
  readonly #onChange: (record: JobRecord) => void;
  #record: Record;
  #isCancelled = false;
  #publishedMs = -Infinity;
  #isPublishing = false;

  /** @param onChange called with the record on every change that watchers see */
  constructor(record: Record, lease: Lease, clock: Clock, onChange: (record: JobRecord) => void) {
    this.#record = record;
    this.lease = lease;
    this.stopped = AbortSignal.any([this.#stop.signal, lease.lost]);
    this.#clock = clock;
    this.#onChange = onChange;
    this.rateLimiter = new RateLimiter(clock, record.maxPerSecond);
  }

  /** Whether the job has done something. If so, an error that would refuse it ends it as failed. */
  abstract get hasBegun(): boolean;

  get record(): Record {
    return this.#record;
  }

  /** Whether the job was cancelled by request. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /**
   * Notes that the work starts. The caller writes the record at once, so it is published with its next change.
   *
   * @param now as in records; of a job that was started before, the first start counts
   */
  start(now: string): void {
    this.#record = { ...this.#record, state: 'running', startedAt: this.#record.startedAt ?? now };
    this.#publishedMs = this.#clock.monotonicMs();
  }

  /** Changes members of the record, which watchers see at once for a new state and otherwise soon. */
  set(members: Partial<Record> | Partial<Pick<JobRecord, 'state' | 'warnings'>>): void {
    const isNewState = members.state !== undefined && members.state !== this.#record.state;
    const record = { ...this.#record, ...members };
    this.#record = record.state === 'running' ? record : withoutEstimates(record);
    if (isNewState) this.#publish();
    else void this.#publishSoon();
  }

  warn(warning: string): void {
    this.set({ warnings: [...this.#record.warnings, warning] });
  }

  /** Stops the job here, to be resumed later if possible. */
  stop(): void {
    this.#stop.abort();
  }

  /** Stops the job permanently. */
  cancel(): void {
    if (this.#record.state !== 'running') return;
    this.#isCancelled = true;
    this.set({ state: 'cancelling' });
    this.#stop.abort();
  }

  /** Does what is requested of the job: ends it, or changes its rate or, if it has one, its concurrency. */
  grant({ cancel, ...change }: ControlRequest): void {
    if (cancel === true) {
      this.cancel();
      return;
    }
    if (change.maxPerSecond !== undefined) this.rateLimiter.setRate(change.maxPerSecond);
    this.set({ ...this.#record, ...change });
  }

  /** Returns the current rate and the estimated end. @param expected number of items in total, as far as known */
  protected estimateAt(
    settled: number,
    expected: number | undefined,
  ): Pick<JobRecord, 'ratePerSecond' | 'estimatedEndAt'> {
    this.#rate.record(this.#clock.monotonicMs(), settled);
    const rate = this.#rate.perSecond;
    const leftMs = expected === undefined ? undefined : this.#rate.remainingMs(expected);
    return defined({
      ratePerSecond: rate === undefined ? undefined : Math.round(rate * 10) / 10,
      estimatedEndAt: leftMs === undefined ? undefined : new Date(this.#clock.now() + leftMs).toISOString(),
    });
  }

  async #publishSoon(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    const waitMs = this.#publishedMs + PUBLISH_EVERY_MS - this.#clock.monotonicMs();
    if (waitMs > 0) await this.#clock.sleep(waitMs);
    this.#isPublishing = false;
    // The job may have ended in the meantime, and its end was published.
    if (!isFinal(this.#record.state)) this.#publish();
  }

  #publish(): void {
    this.#publishedMs = this.#clock.monotonicMs();
    if (isFinal(this.#record.state)) this.#record = ended(this.#record);
    this.#onChange(this.#record);
  }
}

/** How often the store is asked about a lease in doubt, in milliseconds. */
const ASK_EVERY_MS = 1000;

export interface LeaseOptions {
  /** The claim under which records are written; see JobClaim. */
  readonly claim: JobClaim;
  /** When the lease ends, on the monotonic clock. */
  readonly untilMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Asks the store whether the lease is still valid. Does not reject. */
  readonly ask: () => Promise<void>;
}

/** The right of this process to work on a job, and how long that right is certain. */
export class Lease {
  readonly claim: JobClaim;
  /** See HeldJob. 0 for a purge whose caller waits. */
  readonly number: number;
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  /** Aborts when the job has to stop here. */
  readonly lost = this.#lost.signal;
  #untilMs: number;
  #askedMs = -Infinity;
  #isTaken = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.claim = options.claim;
    this.number = options.claim.lease;
    this.#untilMs = options.untilMs;
  }

  /** Whether another process has taken or ended the job. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Whether it is certain that no other process has taken the job. */
  get isValid(): boolean {
    return !this.lost.aborted && this.#options.clock.monotonicMs() < this.#untilMs;
  }

  renew(untilMs: number): void {
    this.#untilMs = untilMs;
  }

  /** Stops the job here, since another process may take it. */
  expire(): void {
    this.#lost.abort();
  }

  /** Called when another process has taken the job. */
  markTaken(): void {
    this.#isTaken = true;
    this.#lost.abort();
  }

  /**
   * Called before each delete. A job stops as soon as its lease may have ended. A purge whose caller waits cannot be
   * resumed by another process: it only stops if the store says that it was ended, and continues while the store is
   * unavailable.
   *
   * @returns a promise that the delete has to wait for, if any
   * @throws PurgeStoppedError
   */
  check(): Promise<void> | undefined {
    if (this.lost.aborted) throw stopped();
    if (this.isValid) return undefined;
    if (this.number > 0) {
      this.expire();
      throw stopped();
    }
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#askedMs < ASK_EVERY_MS) return undefined;
    this.#askedMs = nowMs;
    return this.#options.ask();
  }
}

function stopped(): PurgeStoppedError {
  return new PurgeStoppedError(
    'The purge stopped here: its lease has ended, and another gateway may have taken it.',
  );
}
