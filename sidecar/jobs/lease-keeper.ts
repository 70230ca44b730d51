import {
  type ControlRequest,
  isFinal,
  type Jobs,
  type OrphanedJob,
  type TakenJob,
  type UnfinishedJob,
} from '../store/index.js';
import type { Clock } from '../shared/clock.js';
import { Lease } from './live-job.js';
import type { JobRegistry } from './registry.js';
import type { JobServiceOptions } from './service-options.js';

/** The store is asked for jobs and requests at least this often, in milliseconds. */
const POLL_INTERVAL_MS = 1000;

/** How long a purge whose lease is in doubt waits for the store, in milliseconds. */
const ASK_WAIT_MS = 1000;

export interface LeaseKeeperOptions extends Pick<
  JobServiceOptions,
  'holder' | 'leaseMs' | 'broker' | 'isStoreShared'
> {
  readonly registry: JobRegistry;
  readonly store: Pick<Jobs, 'get' | 'take' | 'requeue' | 'renew' | 'release' | 'releaseOthers'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Begins to work on a job that was taken. Enters it into the registry and takes its place synchronously. */
  readonly begin: (taken: TakenJob, lease: Lease) => void;
  /** Returns the new state of a job that is for another broker and that no process runs. Has no side effects. */
  readonly requeued: (left: OrphanedJob) => UnfinishedJob;
  /** Called with the new state of such jobs, and with their brokers. */
  readonly onRequeued: (jobs: readonly Pick<OrphanedJob, 'record' | 'broker'>[]) => void;
  /** Does what another process requests for a job of this process; called again until the store forgets the request. */
  readonly grant: (id: string, request: ControlRequest) => void;
  /** Whether a record of this job has yet to be written. */
  readonly isPending: (id: string) => boolean;
}

/** Renews the leases of the jobs in this process, and takes more jobs when places are free. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #polling: Promise<void> | undefined;
  #again: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Whether the jobs left by an earlier process have been released. */
  #haveOthersBeenReleased: boolean;
  /** Whether no job waits, as far as is known. */
  #hasTakenAll = false;
  /** The first and the last time the store answered, without a failure or a long pause in between. */
  #reachable: { readonly sinceMs: number; readonly lastMs: number } | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#haveOthersBeenReleased = options.isStoreShared;
  }

  /** Begins to poll regularly. */
  start(): void {
    const { isStoreShared, leaseMs } = this.#options;
    void this.poll();
    if (isStoreShared) this.#timer = setInterval(() => this.#tick(), renewIntervalMs(leaseMs)).unref();
  }

  /** Stops renewing leases. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
  }

  /** The lease of a purge whose caller waits. Its first record makes the lease known to the store. */
  lease(): Lease {
    return this.#newLease(0, this.#options.clock.monotonicMs());
  }

  /** Polls for jobs if one may wait for the place that is now free. */
  pollForMore(): void {
    if (!this.#hasTakenAll) void this.poll();
  }

  /**
   * Renews leases, grants what other processes request for the jobs here, and takes jobs for free places. Does not
   * reject.
   */
  poll(): Promise<void> {
    if (this.#polling !== undefined) return (this.#again ??= this.#polling.then(() => this.#pollAgain()));
    this.#polling = this.#pass().finally(() => (this.#polling = undefined));
    return this.#polling;
  }

  /** Does the same for a purge that waits for the result, but only for a limited time. */
  async #pollBriefly(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, ASK_WAIT_MS)));
    await Promise.race([this.poll(), enough]);
    clearTimeout(timer);
  }

  #pollAgain(): Promise<void> {
    this.#again = undefined;
    return this.poll();
  }

  #tick(): void {
    // Whether or not the store responds, a job whose lease may be lost stops.
    for (const { lease } of this.#options.registry.all())
      if (lease.number > 0 && !lease.isValid) lease.expire();
    void this.poll();
  }

  async #pass(): Promise<void> {
    if (this.#isClosed) return;
    const { isStoreShared, registry, store, holder } = this.#options;
    try {
      if (!this.#haveOthersBeenReleased) {
        await store.releaseOthers(holder);
        // No other process could take the waiting jobs.
        await this.#requeue({ takesLapsed: false, takesWaiting: true });
      }
      this.#haveOthersBeenReleased = true;
      if (isStoreShared && registry.all().length > 0) await this.#renew();
      // A waiting job may be for another process. A job that lost its holder is shown as waiting, whichever process
      // takes it then.
      if (this.#isStoreStable(this.#options.clock.monotonicMs()))
        await this.#requeue({ takesLapsed: true, takesWaiting: false });
      await this.#takeAll();
    } catch {
      // The store reports its own failures, and the next pass tries again.
      this.#reachable = undefined;
      this.#hasTakenAll = false;
      clearTimeout(this.#retry);
      if (!isStoreShared && !this.#isOver())
        this.#retry = setTimeout(() => void this.poll(), POLL_INTERVAL_MS).unref();
    }
  }

  async #requeue(which: { readonly takesLapsed: boolean; readonly takesWaiting: boolean }): Promise<void> {
    const { store, broker, requeued, onRequeued } = this.#options;
    if (broker === undefined) return;
    const jobs = await store.requeue({ broker, ...which }, requeued);
    if (jobs.length > 0) onRequeued(jobs);
  }

  async #renew(): Promise<void> {
    const { registry, store, holder, leaseMs, clock, grant, isPending } = this.#options;
    const sentMs = clock.monotonicMs();
    const before = registry.all();
    const renewed = new Map((await store.renew({ holder, leaseMs })).map((held) => [held.id, held]));
    this.#noteReachable(sentMs);
    for (const { record, lease } of before) {
      const row = renewed.get(record.id);
      if (row?.lease === lease.number) lease.renew(sentMs + leaseMs);
      // The record of a purge whose caller waits may not have been written yet.
      else if (lease.number > 0 || (await this.#hasEnded(record.id))) lease.markTaken();
    }
    for (const { id, lease, request } of renewed.values()) {
      const live = registry.get(id);
      if (live?.lease.number === lease && request !== undefined) grant(id, request);
      // The job was taken, but the answer was lost.
      if (live === undefined && !isPending(id)) await store.release({ id, lease });
    }
  }

  async #hasEnded(id: string): Promise<boolean> {
    const record = await this.#options.store.get(id);
    return record !== undefined && isFinal(record.state);
  }

  async #takeAll(): Promise<void> {
    const { registry, store, holder, leaseMs, broker, clock, begin } = this.#options;
    const untilMs = clock.monotonicMs() + renewIntervalMs(leaseMs);
    for (;;) {
      const takesJobs = registry.isFree('job');
      const takesDryRuns = registry.isFree('dry run');
      const takesScans = registry.isFree('scan');
      this.#hasTakenAll = takesJobs && takesDryRuns && takesScans;
      if (registry.stopping.aborted || this.#isOver()) return;
      const sentMs = clock.monotonicMs();
      const taken = await store.take({
        holder,
        leaseMs,
        broker,
        takesJobs,
        takesDryRuns,
        takesScans,
        takesLapsed: this.#isStoreStable(sentMs),
      });
      this.#noteReachable(sentMs);
      if (taken === undefined) return;
      begin(taken, this.#newLease(taken.lease, sentMs));
      if (clock.monotonicMs() >= untilMs) {
        // Leases are renewed between: with a slow store or many short jobs, taking them all may last longer than a lease.
        void this.poll();
        return;
      }
    }
  }

  #newLease(number: number, fromMs: number): Lease {
    const { isStoreShared, holder, leaseMs, clock } = this.#options;
    return new Lease({
      claim: number > 0 ? { lease: number } : { lease: 0, by: { holder, leaseMs } },
      untilMs: isStoreShared ? fromMs + leaseMs : Infinity,
      clock,
      ask: () => this.#pollBriefly(),
    });
  }

  /**
   * Whether the store has been reachable for the length of a lease. After an outage, this gives all processes time to
   * renew before their jobs are taken.
   */
  #isStoreStable(nowMs: number): boolean {
    const { isStoreShared, leaseMs } = this.#options;
    if (!isStoreShared || this.#reachable === undefined) return false;
    const { sinceMs, lastMs } = this.#reachable;
    return nowMs - lastMs < leaseMs && nowMs - sinceMs >= leaseMs;
  }

  #noteReachable(nowMs: number): void {
    const before = this.#reachable;
    const isAnew = before === undefined || nowMs - before.lastMs >= this.#options.leaseMs;
    this.#reachable = { sinceMs: isAnew ? nowMs : before.sinceMs, lastMs: nowMs };
  }

  /** A method, because the compiler does not see that the flag changes during an await. */
  #isOver(): boolean {
    return this.#isClosed;
  }
}

function renewIntervalMs(leaseMs: number): number {
  return Math.min(POLL_INTERVAL_MS, leaseMs / 3);
}
