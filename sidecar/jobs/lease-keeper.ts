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

/** The store is asked for jobs and requests at least this often, in milliseconds. */
const LOOK_EVERY_MS = 1000;

/** How long a purge whose lease is in doubt waits for the store, in milliseconds. */
const ASK_WAIT_MS = 1000;

export interface LeaseKeeperOptions {
  readonly registry: JobRegistry;
  readonly store: Pick<Jobs, 'get' | 'take' | 'requeue' | 'renew' | 'release' | 'releaseOthers'>;
  /** Names this start of this process, and nothing else ever. */
  readonly holder: string;
  /** After so long without a renewal, another process takes what this one holds. */
  readonly leaseMs: number;
  /** The broker of this process; see TakeOptions. */
  readonly broker?: string | undefined;
  /** Whether other processes use the same store. */
  readonly isShared: boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Begins to work on a job that was taken: enters it into the registry, and takes its place, at once. */
  readonly begin: (taken: TakenJob, lease: Lease) => void;
  /** What a job of another broker becomes on which no process works; has no effects. */
  readonly requeued: (left: OrphanedJob) => UnfinishedJob;
  /** Called with what such jobs have become, and with their brokers. */
  readonly onRequeued: (jobs: readonly Pick<OrphanedJob, 'record' | 'broker'>[]) => void;
  /** Does what another process requests of a purge that this one runs; called again until the store forgets the request. */
  readonly grant: (id: string, request: ControlRequest) => void;
  /** Whether something is still to be written of a purge. */
  readonly isPending: (id: string) => boolean;
}

/** Renews the leases of what runs in this process, and takes more jobs when there is a place for them. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #looking: Promise<void> | undefined;
  #again: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** What an earlier process left is free to be taken. */
  #isFreed: boolean;
  /** No job waits, as far as is known. */
  #hasTakenAll = false;
  /** Since when, and when last, the store has answered, without a failure or a long pause in between. */
  #inTouch: { readonly sinceMs: number; readonly lastMs: number } | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#isFreed = options.isShared;
  }

  /** Begins to look regularly. */
  start(): void {
    const { isShared, leaseMs } = this.#options;
    void this.look();
    if (isShared) this.#timer = setInterval(() => this.#tick(), Math.min(LOOK_EVERY_MS, leaseMs / 3)).unref();
  }

  /** Renews nothing more. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
  }

  /** The lease of a purge whose caller waits; its first record tells the store of it. */
  lease(): Lease {
    return this.#newLease(0, this.#options.clock.monotonicMs());
  }

  /** Looks if a job may wait for the place that is free now. */
  lookForMore(): void {
    if (!this.#hasTakenAll) void this.look();
  }

  /** Renews leases, grants what others request of these purges, and takes jobs for free places. Does not reject. */
  look(): Promise<void> {
    if (this.#looking !== undefined) return (this.#again ??= this.#looking.then(() => this.#lookAgain()));
    this.#looking = this.#pass().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** The same for a purge that waits for it, but not for long. */
  async #ask(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, ASK_WAIT_MS)));
    await Promise.race([this.look(), enough]);
    clearTimeout(timer);
  }

  #lookAgain(): Promise<void> {
    this.#again = undefined;
    return this.look();
  }

  #tick(): void {
    // Whatever the store does: a job whose lease may be lost stops.
    for (const { lease } of this.#options.registry.all()) if (lease.number > 0 && !lease.holds) lease.lapse();
    void this.look();
  }

  async #pass(): Promise<void> {
    if (this.#isClosed) return;
    const { isShared, registry, store, holder } = this.#options;
    try {
      if (!this.#isFreed) {
        await store.releaseOthers(holder);
        // There is no other process that could take them.
        await this.#requeue({ takesLapsed: false, takesWaiting: true });
      }
      this.#isFreed = true;
      if (isShared && registry.all().length > 0) await this.#renew();
      // A job that waits may be for another process. One that has lost its holder is shown as waiting, whoever takes it then.
      if (this.#isInTouch(this.#options.clock.monotonicMs()))
        await this.#requeue({ takesLapsed: true, takesWaiting: false });
      await this.#takeAll();
    } catch {
      // The store reports its failures elsewhere, and this is tried again.
      this.#inTouch = undefined;
      this.#hasTakenAll = false;
      clearTimeout(this.#retry);
      if (!isShared && !this.#isOver())
        this.#retry = setTimeout(() => void this.look(), LOOK_EVERY_MS).unref();
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
    this.#touch(sentMs);
    for (const { record, lease } of before) {
      const row = renewed.get(record.id);
      if (row?.lease === lease.number) lease.renew(sentMs + leaseMs);
      // The record of a purge whose caller waits may not have been written yet.
      else if (lease.number > 0 || (await this.#hasEnded(record.id))) lease.take();
    }
    for (const { id, lease, request } of renewed.values()) {
      const live = registry.get(id);
      if (live?.lease.number === lease && request !== undefined) grant(id, request);
      // It was taken, and the answer got lost.
      if (live === undefined && !isPending(id)) await store.release({ id, lease });
    }
  }

  async #hasEnded(id: string): Promise<boolean> {
    const record = await this.#options.store.get(id);
    return record !== undefined && isFinal(record.state);
  }

  async #takeAll(): Promise<void> {
    const { registry, store, holder, leaseMs, broker, clock, begin } = this.#options;
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
        takesLapsed: this.#isInTouch(sentMs),
      });
      this.#touch(sentMs);
      if (taken === undefined) return;
      begin(taken, this.#newLease(taken.lease, sentMs));
    }
  }

  #newLease(number: number, fromMs: number): Lease {
    const { isShared, holder, leaseMs, clock } = this.#options;
    return new Lease({
      claim: number > 0 ? { lease: number } : { lease: 0, by: { holder, leaseMs } },
      untilMs: isShared ? fromMs + leaseMs : Infinity,
      clock,
      ask: () => this.#ask(),
    });
  }

  /** After an outage of the store, all others get the time to renew before anything of theirs is taken. */
  #isInTouch(nowMs: number): boolean {
    const { isShared, leaseMs } = this.#options;
    if (!isShared || this.#inTouch === undefined) return false;
    const { sinceMs, lastMs } = this.#inTouch;
    return nowMs - lastMs < leaseMs && nowMs - sinceMs >= leaseMs;
  }

  #touch(nowMs: number): void {
    const before = this.#inTouch;
    const isAnew = before === undefined || nowMs - before.lastMs >= this.#options.leaseMs;
    this.#inTouch = { sinceMs: isAnew ? nowMs : before.sinceMs, lastMs: nowMs };
  }

  /** A method, because the compiler does not see that this changes during an await. */
  #isOver(): boolean {
    return this.#isClosed;
  }
}
