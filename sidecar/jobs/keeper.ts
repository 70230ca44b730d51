import {
  type PurgeQueue,
  type Purges,
  type PurgeWish,
  type StrandedPurge,
  type TakenPurge,
  type UnfinishedPurge,
  isFinal,
} from '../store/purge-records.js';
import { Lease } from './lease.js';

/** The store is asked for jobs and wishes this often at least, in milliseconds. */
const LOOK_EVERY_MS = 1000;

/** How long a purge whose lease is in doubt waits for the store, in milliseconds. */
const ASK_WAIT_MS = 1000;

export interface KeeperOptions {
  readonly store: Pick<Purges, 'get'> & PurgeQueue;
  /** Names this start of this process, and nothing else ever. */
  readonly holder: string;
  /** After so long without a renewal, another process takes what this one holds. */
  readonly leaseMs: number;
  /** The broker of this process; see TakeOptions. */
  readonly broker?: string | undefined;
  /** Whether other processes use the same store. */
  readonly isShared: boolean;
  readonly monotonicMs: () => number;
  /** What there is a place for now; nothing once the process stops. */
  readonly places: () => { readonly takesJobs: boolean; readonly takesDryRuns: boolean } | undefined;
  /** Begins to work on a purge that was taken; takes its place at once. */
  readonly begin: (taken: TakenPurge, lease: Lease) => void;
  /** What becomes of a job of another broker on which no process works; has no effects. */
  readonly laid: (left: StrandedPurge) => UnfinishedPurge;
  /** Called with what such jobs have become, and with their brokers. */
  readonly onLaid: (jobs: readonly Pick<StrandedPurge, 'record' | 'broker'>[]) => void;
  /** What another process asks of a purge that this one holds; asked again until it is forgotten. */
  readonly grant: (id: string, wish: PurgeWish) => void;
  /** Whether something is still to be written of a purge. */
  readonly isPending: (id: string) => boolean;
}

/** Renews the leases of this process's purges, and takes more when there is a place for them. */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #held = new Map<string, Lease>();
  #looking: Promise<void> | undefined;
  #again: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** What an earlier process left is free. */
  #isFreed: boolean;
  /** All that waited was taken, as far as is known. */
  #isSated = false;
  /** Since when, and when last, the store has answered, without a failure or a long pause in between. */
  #inTouch: { readonly sinceMs: number; readonly lastMs: number } | undefined;

  constructor(options: KeeperOptions) {
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

  /** The lease of a purge whose caller waits; its record says so in the store. */
  hold(id: string): Lease {
    return this.#keep(id, 0, this.#options.monotonicMs());
  }

  /** Whether this process works on a purge. */
  holds(id: string): boolean {
    return this.#held.has(id);
  }

  /** Lets go of a purge that has ended here. */
  drop(id: string, lease: Lease): void {
    if (this.#held.get(id) === lease) this.#held.delete(id);
  }

  /** Looks when something may wait for the place that is free now. */
  lookForMore(): void {
    if (!this.#isSated) void this.look();
  }

  /** Renews leases, grants what others ask of these purges, and takes jobs for free places. Does not reject. */
  look(): Promise<void> {
    if (this.#looking !== undefined) return (this.#again ??= this.#looking.then(() => this.#lookAgain()));
    this.#looking = this.#pass().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** The same for a purge that waits for it, but not for long. */
  async inquire(): Promise<void> {
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
    for (const lease of this.#held.values()) if (lease.number > 0 && !lease.holds) lease.lapse();
    void this.look();
  }

  async #pass(): Promise<void> {
    if (this.#isClosed) return;
    const { isShared, store, holder } = this.#options;
    try {
      if (!this.#isFreed) {
        await store.releaseOthers(holder);
        // No other process is there that may take them.
        await this.#layAside({ takesLapsed: false, takesWaiting: true });
      }
      this.#isFreed = true;
      if (isShared && this.#held.size > 0) await this.#renew();
      // What waits in order may be for another process. What has lost its holder is shown as waiting, whoever takes it then.
      if (this.#isInTouch(this.#options.monotonicMs()))
        await this.#layAside({ takesLapsed: true, takesWaiting: false });
      await this.#takeAll();
    } catch {
      // The store reports its failures elsewhere, and this is tried again.
      this.#inTouch = undefined;
      this.#isSated = false;
      clearTimeout(this.#retry);
      if (!isShared && !this.#isOver())
        this.#retry = setTimeout(() => void this.look(), LOOK_EVERY_MS).unref();
    }
  }

  async #layAside(which: { readonly takesLapsed: boolean; readonly takesWaiting: boolean }): Promise<void> {
    const { store, broker, laid, onLaid } = this.#options;
    if (broker === undefined) return;
    const jobs = await store.layAside({ broker, ...which }, laid);
    if (jobs.length > 0) onLaid(jobs);
  }

  async #renew(): Promise<void> {
    const { store, holder, leaseMs, monotonicMs, grant, isPending } = this.#options;
    const sentMs = monotonicMs();
    const before = [...this.#held];
    const renewed = new Map((await store.renew({ holder, leaseMs })).map((held) => [held.id, held]));
    this.#touch(sentMs);
    for (const [id, lease] of before) {
      const row = renewed.get(id);
      if (row?.lease === lease.number) lease.renew(sentMs + leaseMs);
      // The record of a purge whose caller waits may not have been written yet.
      else if (lease.number > 0 || (await this.#hasEnded(id))) lease.take();
    }
    for (const { id, lease, wish } of renewed.values()) {
      const isOwn = this.#held.get(id)?.number === lease;
      if (isOwn && wish !== undefined) grant(id, wish);
      // It was taken, and the answer got lost.
      if (!this.#held.has(id) && !isPending(id)) await store.release({ id, lease });
    }
  }

  async #hasEnded(id: string): Promise<boolean> {
    const record = await this.#options.store.get(id);
    return record !== undefined && isFinal(record.state);
  }

  async #takeAll(): Promise<void> {
    const { store, holder, leaseMs, broker, monotonicMs, places, begin } = this.#options;
    for (;;) {
      const free = places();
      this.#isSated = free?.takesJobs === true && free.takesDryRuns;
      if (free === undefined || this.#isOver()) return;
      const sentMs = monotonicMs();
      const taken = await store.take({
        holder,
        leaseMs,
        broker,
        ...free,
        takesLapsed: this.#isInTouch(sentMs),
      });
      this.#touch(sentMs);
      if (taken === undefined) return;
      begin(taken, this.#keep(taken.record.id, taken.lease, sentMs));
    }
  }

  #keep(id: string, number: number, fromMs: number): Lease {
    const { isShared, leaseMs, monotonicMs } = this.#options;
    const lease = new Lease(number, isShared ? fromMs + leaseMs : Infinity, monotonicMs);
    this.#held.set(id, lease);
    return lease;
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
