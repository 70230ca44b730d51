import type { Readable } from 'node:stream';
import { PurgeStoppedError, type PurgeReport } from '../purge/index.js';
import {
  isFinal,
  type PurgeFilter,
  type PurgeJob,
  type PurgeNotice,
  type PurgeRecord,
  type PurgeState,
  type PurgeWish,
  type StrandedPurge,
} from '../store/purge-records.js';
import { Bell } from './bell.js';
import { laidAside, withoutWaitNote } from './elsewhere.js';
import {
  IdsNotFoundError,
  PurgeCancelledError,
  PurgeFailedError,
  PurgeNotFoundError,
  PurgeOverError,
  QueueFullError,
} from './errors.js';
import { JobRunner } from './job-runner.js';
import { Keeper } from './keeper.js';
import { ended } from './live-purge.js';
import { newRecord, preparedMembers, type PurgeOrder } from './new-record.js';
import { preparePurge, rateRefused, type PreparedPurge } from './purge-kinds.js';
import type { PurgeServiceOptions } from './purge-options.js';
import { PurgesAtWork } from './purges-at-work.js';

export { isFinal, PURGE_STATES, type PurgeRecord } from '../store/purge-records.js';

/** Refused purges that are kept, at most. */
const MAX_REFUSED = 10_000;

/** So many more refused purges are kept until the oldest are removed, or until the next time that all is pruned. */
const REFUSED_BETWEEN_PRUNING = 1000;

const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Runs purges, at once or as jobs, and keeps the record of them. */
export class PurgeService {
  readonly #options: PurgeServiceOptions;
  readonly #atWork: PurgesAtWork;
  readonly #keeper: Keeper;
  readonly #bell: Bell;
  readonly #stopped = new AbortController();
  #pruning: NodeJS.Timeout | undefined;
  #queued = 0;
  #refusedSincePruning = 0;

  constructor(options: PurgeServiceOptions) {
    this.#options = options;
    const { store, clock, holder, isStoreShared = false, leaseMs, broker, running } = options;
    this.#bell = new Bell(clock);
    this.#atWork = new PurgesAtWork(options, {
      left: ({ record, lease }) => {
        this.#keeper.drop(record.id, lease);
        this.#keeper.lookForMore();
      },
      refused: () => this.#noteRefused(),
      inquire: () => this.#keeper.inquire(),
    });
    const jobs = new JobRunner(options, this.#atWork, this.#stopped.signal);
    this.#keeper = new Keeper({
      ...{ store, holder, leaseMs, broker, isShared: isStoreShared },
      monotonicMs: options.monotonicMs ?? (() => performance.now()),
      places: () =>
        this.#isStopping
          ? undefined
          : { takesJobs: running.isFree('job'), takesDryRuns: running.isFree('dry run') },
      begin: (taken, lease) => jobs.takeUp(taken, lease),
      laid: (left) => laidAside(left, options.worker, this.#now()),
      onLaid: (laid) => this.#noteLaid(laid),
      grant: (id, wish) => void this.#grant(id, wish),
      isPending: (id) => this.#atWork.unwritten(id) !== undefined,
    });
  }

  get #isStopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Jobs that wait for a place, in any process; as last known while the store is away. */
  async queued(): Promise<number> {
    this.#queued = await this.#options.store.waiting().catch(() => this.#queued);
    return this.#queued;
  }

  /** Goes on with what no process works on, and begins to prune the history. */
  start(): void {
    void this.#prune();
    this.#pruning = setInterval(() => void this.#prune(), PRUNE_EVERY_MS).unref();
    this.#keeper.start();
  }

  /** Something has changed in the store. */
  noticed({ what, id }: PurgeNotice): void {
    this.#bell.ring(id);
    if (what === 'waiting' || (what === 'wish' && this.#keeper.holds(id))) void this.#keeper.look();
  }

  /**
   * Runs a purge whose caller waits for its end.
   *
   * @param gone aborts when the caller goes away
   * @throws PurgeFailedError with the cause, and the record where there is one
   */
  async run(
    order: PurgeOrder,
    gone: AbortSignal,
  ): Promise<{ readonly report: PurgeReport; readonly record: PurgeRecord }> {
    let prepared: PreparedPurge;
    let record = this.#draft(order, 'running');
    try {
      prepared = preparePurge(this.#options.kinds, order);
    } catch (error) {
      throw new PurgeFailedError(error, this.#atWork.recordRefusal(record, error));
    }
    record = { ...record, ...preparedMembers(prepared) };
    const kind = prepared.dryRun ? 'dry run' : 'purge';
    const lease = this.#keeper.hold(record.id);
    const live = this.#atWork.track(record, lease);
    try {
      return await this.#options.running.run(kind, gone, async (signal) => {
        await this.#atWork.begin(live);
        const report = await this.#atWork.work({ live, order, prepared }, signal);
        return { report, record: live.record };
      });
    } catch (error) {
      // A purge that was turned away before it began is reported to its caller only.
      if (live.record.startedAt !== undefined || this.#atWork.isRefusal(error))
        this.#atWork.endEarly(live, error, gone.aborted ? 'cancelled' : 'interrupted');
      const isRecorded = live.record.startedAt !== undefined;
      const isCancelled = live.cancelled.signal.aborted && error instanceof PurgeStoppedError;
      const cause = isCancelled ? new PurgeCancelledError({ cause: error }) : error;
      throw new PurgeFailedError(cause, isRecorded ? live.record : undefined, live.hasBegun);
    } finally {
      this.#atWork.leave(live);
    }
  }

  /** What is answered to a request that was refused before it was understood: recorded as any refusal. */
  refusal(order: PurgeOrder, error: unknown): PurgeFailedError {
    return new PurgeFailedError(error, this.#atWork.recordRefusal(this.#draft(order, 'running'), error));
  }

  /**
   * Takes an asynchronous purge: it runs when there is a place for it.
   *
   * @throws QueueFullError, JobSecretError, StoreUnavailableError; QueryRefusedError, PolicyRefusedError
   */
  async submit(order: PurgeOrder): Promise<PurgeRecord> {
    const { sealer, store, maxQueued, kinds, broker } = this.#options;
    this.#throwIfStopping();
    const draft = this.#draft(order, 'queued');
    let prepared: PreparedPurge;
    let job: PurgeJob;
    try {
      prepared = preparePurge(kinds, order);
      job = { ...sealer.seal(order.headers), reportAbove: order.reportAbove };
    } catch (error) {
      throw new PurgeFailedError(error, this.#atWork.recordRefusal(draft, error));
    }
    const record: PurgeRecord = { ...draft, ...preparedMembers(prepared) };
    if (!(await store.add(record, job, maxQueued, broker))) throw new QueueFullError(maxQueued);
    await this.#keeper.look();
    return record;
  }

  /** @throws PurgeNotFoundError */
  async get(id: string): Promise<PurgeRecord> {
    const known = this.#atWork.record(id) ?? (await this.#options.store.get(id));
    if (known === undefined) throw new PurgeNotFoundError(id);
    return known;
  }

  async list(filter: PurgeFilter): Promise<{ items: readonly PurgeRecord[]; total: number }> {
    const { items, total } = await this.#options.store.list(filter);
    const latest = (one: PurgeRecord) => this.#atWork.record(one.id) ?? one;
    return { items: items.map(latest), total };
  }

  /**
   * What became of the items of a purge that asked for it, one JSON object a line.
   *
   * @throws PurgeNotFoundError, IdsNotFoundError
   */
  async ids(id: string): Promise<Readable> {
    const { worker } = await this.get(id);
    const lines = await this.#options.idFiles.read(id);
    if (lines === undefined) throw new IdsNotFoundError(id, worker);
    return lines;
  }

  /**
   * Removes what was recorded of the items of a purge.
   *
   * @throws PurgeNotFoundError, IdsNotFoundError when nothing is here, and another process ran the purge
   */
  async removeIds(id: string): Promise<void> {
    const { worker } = await this.get(id);
    const { idFiles, worker: own } = this.#options;
    if (!(await idFiles.remove(id)) && worker !== own) throw new IdsNotFoundError(id, worker);
  }

  /**
   * Cancels a purge: no new deletes, those in flight finish. One that has ended stays as it is.
   *
   * @throws PurgeNotFoundError
   */
  async cancel(id: string): Promise<PurgeRecord> {
    const live = this.#atWork.get(id);
    if (live !== undefined) {
      live.cancel();
      return this.#atWork.keep(live);
    }
    const pending = this.#atWork.unwritten(id);
    if (pending !== undefined && isFinal(pending.state)) return pending;
    const endedAt = this.#now();
    const result = await this.#options.store.ask(id, { cancel: true }, (record, isHeld) =>
      isHeld
        ? { ...record, state: 'cancelling' }
        : ended({ ...record, state: 'cancelled', endedAt, warnings: withoutWaitNote(record.warnings) }),
    );
    if (result === undefined) return this.get(id);
    const { record, outcome } = result;
    if (outcome === 'done') this.#options.observer.ended(record);
    this.noticed({ what: 'wish', id });
    return outcome === 'over' ? this.get(id) : record;
  }

  /**
   * Changes how hard a purge works, within its policy.
   *
   * @throws PurgeNotFoundError, PurgeOverError when it has ended, QueryRefusedError for a rate that cannot be kept
   */
  async change(
    id: string,
    { maxPerSecond, concurrency }: { readonly maxPerSecond?: number | null; readonly concurrency?: number },
  ): Promise<PurgeRecord> {
    const live = this.#atWork.get(id);
    const record = live?.record ?? (await this.get(id));
    if (isFinal(record.state) || record.state === 'cancelling') throw new PurgeOverError(id, record.state);
    const { isPaced, limits } = this.#prepared(record);
    if (typeof maxPerSecond === 'number' && !isPaced) throw rateRefused();
    const wish: PurgeWish = {
      ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
      // What configuration and policy allowed at its start is the most.
      ...(concurrency === undefined ? {} : { concurrency: Math.min(concurrency, limits.concurrency) }),
    };
    if (live !== undefined) {
      live.change(wish);
      return this.#atWork.keep(live);
    }
    const result = await this.#options.store.ask(id, wish, (kept) => ({ ...kept, ...wish }));
    if (result === undefined) throw new PurgeNotFoundError(id);
    if (result.outcome === 'over') throw new PurgeOverError(id, result.record.state);
    this.noticed({ what: 'wish', id });
    return result.record;
  }

  /** The record of a purge: now, and after each change, until its end or until the signal aborts. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<PurgeRecord, void> {
    let seen: PurgeRecord | undefined;
    while (!signal.aborted) {
      const live = this.#atWork.get(id);
      const record = live?.record ?? (await this.#look(id, seen));
      if (!isSame(record, seen)) yield record;
      seen = record;
      if (isFinal(record.state) || (this.#isStopping && (live === undefined || record.state === 'queued')))
        return;
      if (live === undefined) await this.#bell.changed(id, AbortSignal.any([signal, this.#stopped.signal]));
      else if (live.record === seen && this.#atWork.get(id) === live) await live.changed(signal);
    }
  }

  /** Jobs stop, and go on at the next start. Nothing new is begun. */
  stop(): void {
    this.#stopped.abort();
    clearInterval(this.#pruning);
    // Watchers of a queued job are released.
    for (const live of this.#atWork.all()) live.wake();
  }

  /** Whether this process works on a purge, or has yet to give one back. */
  get isAtWork(): boolean {
    return this.#atWork.all().length > 0;
  }

  /** Resolves when this process works on no purge. */
  idle(): Promise<void> {
    return this.#atWork.idle();
  }

  /** Writes what is to be written. */
  async close(): Promise<void> {
    this.stop();
    await this.#atWork.close();
    this.#keeper.close();
  }

  /** The record of a purge that this process does not work on; the last one that was seen while the store is away. */
  async #look(id: string, seen: PurgeRecord | undefined): Promise<PurgeRecord> {
    try {
      return await this.get(id);
    } catch (error) {
      if (seen === undefined || error instanceof PurgeNotFoundError) throw error;
      return seen;
    }
  }

  /** Jobs of other brokers were laid aside, or have ended since that was asked for. */
  #noteLaid(laid: readonly Pick<StrandedPurge, 'record' | 'broker'>[]): void {
    const { observer } = this.#options;
    for (const { record } of laid) {
      if (isFinal(record.state)) observer.ended(record);
      this.#bell.ring(record.id);
    }
    const waiting = laid.filter(({ record }) => !isFinal(record.state));
    if (waiting.length > 0) observer.elsewhere(waiting);
  }

  /** Does what another process asks of a purge. */
  async #grant(id: string, wish: PurgeWish): Promise<void> {
    const live = this.#atWork.get(id);
    if (live === undefined) return;
    if (wish.cancel === true) {
      live.cancel();
      return;
    }
    live.change(wish);
    const { store } = this.#options;
    try {
      await store.put(live.record, undefined, this.#atWork.claimOf(live));
      await store.forget({ id, lease: live.lease.number, wish });
    } catch {
      // It is asked again.
    }
  }

  #draft(order: PurgeOrder, state: PurgeState): PurgeRecord {
    return newRecord(order, { state, worker: this.#options.worker, createdAt: this.#now() });
  }

  #prepared({ target, query, policy }: PurgeRecord): PreparedPurge {
    return preparePurge(this.#options.kinds, { target, query, policy });
  }

  #throwIfStopping(): void {
    if (this.#isStopping)
      throw new PurgeStoppedError(
        'The gateway is shutting down and takes no new purges; nothing was deleted.',
      );
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }

  /** A flood of refused purges does not fill the store until the next pruning. */
  #noteRefused(): void {
    this.#refusedSincePruning += 1;
    if (this.#refusedSincePruning >= REFUSED_BETWEEN_PRUNING) void this.#pruneRecords();
  }

  async #pruneRecords(): Promise<void> {
    const { store, historyDays, clock } = this.#options;
    this.#refusedSincePruning = 0;
    // The store reports its failures elsewhere, and this is tried again.
    await store.prune(clock.now() - historyDays * DAY_MS, MAX_REFUSED).catch(() => {});
  }

  async #prune(): Promise<void> {
    const { store, idFiles } = this.#options;
    await this.#pruneRecords();
    const isKept = async (id: string) =>
      this.#atWork.record(id) !== undefined || (await store.get(id)) !== undefined;
    await idFiles.sweep(isKept).catch(() => {});
  }
}

function isSame(one: PurgeRecord, other: PurgeRecord | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
