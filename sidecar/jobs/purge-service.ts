import type { Readable } from 'node:stream';
import type { Problem } from '../ngsi-ld/problem.js';
import { PurgeStoppedError, TooManyMatchesError, TooManyPurgesError } from '../purge/errors.js';
import type { PurgeEvent, PurgeReport } from '../purge/events.js';
import type { OnOutcome } from '../purge/item-ledger.js';
import type { PlaceKind } from '../purge/places.js';
import type { RunningPurges } from '../purge/running.js';
import { LeaseLostError, StoreUnavailableError } from '../schemas/store/errors.js';
import {
  isFinal,
  type PurgeClaim,
  type PurgeFilter,
  type PurgeJob,
  type PurgeNotice,
  type PurgeQueue,
  type PurgeRecord,
  type PurgeState,
  type Purges,
  type PurgeWish,
  type TakenPurge,
} from '../schemas/store/purge-records.js';
import type { Clock } from '../shared/clock.js';
import { Bell } from './bell.js';
import { DeleteBudget } from './delete-budget.js';
import {
  CallerGoneError,
  IdsNotFoundError,
  PurgeFailedError,
  PurgeNotFoundError,
  PurgeOverError,
  QueueFullError,
} from './errors.js';
import type { IdFiles, IdRecorder } from './id-files.js';
import { Keeper } from './keeper.js';
import { Lease } from './lease.js';
import { LivePurge } from './live-purge.js';
import { newRecord, preparedMembers, type PurgeOrder } from './new-record.js';
import { preparePurge, rateRefused, type PreparedPurge, type PurgeKinds } from './purge-kinds.js';
import { RecordWriter } from './record-writer.js';
import { resumed, spentBefore } from './resumption.js';
import type { HeaderSealer } from './sealed-headers.js';

export { isFinal, PURGE_STATES, type PurgeRecord } from '../schemas/store/purge-records.js';

/** Observes purges as they go, e.g. for a log and metrics. */
export interface PurgeObserver {
  started(record: PurgeRecord): void;
  event(record: PurgeRecord, event: PurgeEvent): void;
  /** @param error what ended it early, or that its caller is gone */
  ended(record: PurgeRecord, error?: unknown): void;
  /** The store of the records fails. */
  storeAway(error: unknown): void;
  storeBack(): void;
  /** A record was given up, since too many wait for the store. */
  recordLost(record: PurgeRecord): void;
  /** A purge of this process is in other hands, and stops here. */
  taken(record: PurgeRecord): void;
}

export interface PurgeServiceOptions {
  readonly kinds: PurgeKinds;
  readonly store: Purges & PurgeQueue;
  readonly running: RunningPurges;
  readonly clock: Clock;
  /** Where ids are recorded for purges that ask for it. */
  readonly idFiles: IdFiles;
  readonly sealer: HeaderSealer;
  /** Names this process in records. */
  readonly worker: string;
  /** Names this start of this process, and nothing else ever. */
  readonly holder: string;
  /** Whether other processes work on the purges of the same store; else what they left is free at the start. */
  readonly isStoreShared?: boolean;
  /** After so long without a sign, another process goes on with the jobs of this one, in milliseconds. @default 30000 */
  readonly leaseMs?: number;
  /** A clock that nobody sets, and that goes on while this process is stopped. @default that of the process */
  readonly monotonicMs?: () => number;
  /** Jobs that may wait. */
  readonly maxQueued: number;
  /** How long records are kept after their purge has ended, in days. */
  readonly historyDays: number;
  /** Whether no purge runs without a record. */
  readonly recordRequired: boolean;
  /** The problem that clients get for an error. */
  readonly problemOf: (error: unknown) => Problem;
  readonly observer: PurgeObserver;
}

/** A purge, and what it takes to run it. */
interface Work {
  readonly live: LivePurge;
  readonly order: PurgeOrder;
  readonly prepared: PreparedPurge;
}

interface Job extends Work {
  /** Where the number of deletes is bounded. */
  readonly budget: DeleteBudget | undefined;
  /** The name of another process that has worked on it before. */
  readonly before: string | undefined;
}

/** Statuses of refusals that are recorded. */
const RECORDED_REFUSALS: ReadonlySet<number> = new Set([400, 403, 409, 501]);

/** Refused purges that are kept, at most. */
const MAX_REFUSED = 10_000;

/** Characters of the query of a refused purge that are kept. */
const MAX_REFUSED_QUERY = 8 * 1024;

const LEASE_MS = 30_000;

/** The pause before a store that is away is asked again, in milliseconds. */
const ASK_AGAIN_MS = 1000;

const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Runs purges, at once or as jobs, and keeps the record of them. */
export class PurgeService {
  readonly #options: PurgeServiceOptions;
  readonly #writer: RecordWriter;
  readonly #keeper: Keeper;
  readonly #bell: Bell;
  readonly #live = new Map<string, LivePurge>();
  readonly #leaseMs: number;
  #pruning: NodeJS.Timeout | undefined;
  #queued = 0;
  #isStopping = false;
  readonly #stopped = new AbortController();

  constructor(options: PurgeServiceOptions) {
    this.#options = options;
    const { store, clock, observer } = options;
    this.#writer = new RecordWriter({
      ...{ store, clock },
      onAway: (error) => observer.storeAway(error),
      onBack: () => observer.storeBack(),
      onLost: (record) => observer.recordLost(record),
      onTaken: ({ id }, { lease }) => {
        const live = this.#live.get(id);
        if (live?.lease.number === lease) live.lease.take();
      },
    });
    this.#bell = new Bell(clock);
    const { holder, isStoreShared = false, leaseMs = LEASE_MS, running } = options;
    this.#leaseMs = leaseMs;
    this.#keeper = new Keeper({
      ...{ store, holder, leaseMs, isShared: isStoreShared },
      monotonicMs: options.monotonicMs ?? (() => performance.now()),
      places: () =>
        this.#isStopping
          ? undefined
          : { takesJobs: running.isFree('job'), takesDryRuns: running.isFree('dry run') },
      begin: (taken, lease) => this.#takeUp(taken, lease),
      grant: (id, wish) => void this.#grant(id, wish),
      isPending: (id) => this.#writer.latest(id) !== undefined,
    });
  }

  /** Jobs that wait for a place, in any process; as last known while the store is away. */
  async queued(): Promise<number> {
    this.#queued = await this.#options.store.waiting().catch(() => this.#queued);
    return this.#queued;
  }

  /** Goes on with what nobody works on, and begins to prune the history. */
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
      throw new PurgeFailedError(error, this.#recordRefusal(record, error));
    }
    record = { ...record, ...preparedMembers(prepared) };
    const kind = prepared.dryRun ? 'dry run' : 'purge';
    const lease = this.#keeper.hold(record.id);
    const live = this.#track(record, lease);
    try {
      return await this.#options.running.run(kind, gone, async (signal) => {
        await this.#begin(live);
        const report = await this.#work({ live, order, prepared }, signal);
        return { report, record: live.record };
      });
    } catch (error) {
      // A purge that was turned away before it began is reported to its caller only.
      if (live.record.startedAt !== undefined || this.#isRefusal(error))
        this.#endEarly(live, error, gone.aborted ? 'cancelled' : 'interrupted');
      const isRecorded = live.record.startedAt !== undefined;
      throw new PurgeFailedError(error, isRecorded ? live.record : undefined, live.hasBegun);
    } finally {
      this.#leave(live);
    }
  }

  /**
   * Takes an asynchronous purge: it runs when there is a place for it.
   *
   * @throws QueueFullError, JobSecretError, StoreUnavailableError; QueryRefusedError, PolicyRefusedError
   */
  async submit(order: PurgeOrder): Promise<PurgeRecord> {
    const { sealer, store, maxQueued, kinds } = this.#options;
    this.#throwIfStopping();
    const draft = this.#draft(order, 'queued');
    let prepared: PreparedPurge;
    let job: PurgeJob;
    try {
      prepared = preparePurge(kinds, order);
      job = { ...sealer.seal(order.headers), reportAbove: order.reportAbove };
    } catch (error) {
      throw new PurgeFailedError(error, this.#recordRefusal(draft, error));
    }
    const record: PurgeRecord = { ...draft, ...preparedMembers(prepared) };
    if (!(await store.add(record, job, maxQueued))) throw new QueueFullError(maxQueued);
    await this.#keeper.look();
    return record;
  }

  /** @throws PurgeNotFoundError */
  async get(id: string): Promise<PurgeRecord> {
    const known =
      this.#live.get(id)?.record ?? this.#writer.latest(id) ?? (await this.#options.store.get(id));
    if (known === undefined) throw new PurgeNotFoundError(id);
    return known;
  }

  async list(filter: PurgeFilter): Promise<{ items: readonly PurgeRecord[]; total: number }> {
    const { items, total } = await this.#options.store.list(filter);
    const latest = (one: PurgeRecord) => this.#live.get(one.id)?.record ?? this.#writer.latest(one.id) ?? one;
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
    const live = this.#live.get(id);
    if (live !== undefined) {
      cancelLive(live);
      return live.record;
    }
    const pending = this.#writer.latest(id);
    if (pending !== undefined && isFinal(pending.state)) return pending;
    const endedAt = this.#now();
    const result = await this.#options.store.ask(id, { cancel: true }, (record, isHeld) =>
      isHeld ? { ...record, state: 'cancelling' } : { ...record, state: 'cancelled', endedAt },
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
    const live = this.#live.get(id);
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
      return live.record;
    }
    const result = await this.#options.store.ask(id, wish, (kept) => ({ ...kept, ...wish }));
    if (result === undefined) throw new PurgeNotFoundError(id);
    if (result.outcome === 'over') throw new PurgeOverError(id, result.record.state);
    this.noticed({ what: 'wish', id });
    return result.record;
  }

  /** The record of a purge: now, and after each change, until its end or until the signal aborts. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<PurgeRecord, void> {
    let told: PurgeRecord | undefined;
    while (!signal.aborted) {
      const live = this.#live.get(id);
      const record = live?.record ?? (await this.#look(id, told));
      if (!isSame(record, told)) yield record;
      told = record;
      if (isFinal(record.state) || (this.#isStopping && (live === undefined || record.state === 'queued')))
        return;
      if (live === undefined) await this.#bell.changed(id, AbortSignal.any([signal, this.#stopped.signal]));
      else if (live.record === told && this.#live.get(id) === live) await live.changed(signal);
    }
  }

  /** Jobs stop, and go on at the next start. Nothing new is begun. */
  stop(): void {
    this.#isStopping = true;
    this.#stopped.abort();
    clearInterval(this.#pruning);
    // Those who watch a job that waits are let go.
    for (const live of this.#live.values()) live.wake();
  }

  /** Writes what is to be written. */
  async close(): Promise<void> {
    this.stop();
    await this.#writer.close();
    this.#keeper.close();
  }

  /** The record of a purge that this process does not work on; the last one that was told while the store is away. */
  async #look(id: string, told: PurgeRecord | undefined): Promise<PurgeRecord> {
    try {
      return await this.get(id);
    } catch (error) {
      if (told === undefined || error instanceof PurgeNotFoundError) throw error;
      return told;
    }
  }

  /** Goes on with a purge that was taken: one that waited, or that another process left. */
  #takeUp({ record, job, wish }: TakenPurge, lease: Lease): void {
    const isCancelled = record.state === 'cancelling' || wish?.cancel === true;
    if (job === undefined || isCancelled) {
      const live = this.#track(record, lease);
      this.#end(live, { state: job === undefined ? 'interrupted' : 'cancelled' });
      this.#leave(live);
      return;
    }
    try {
      void this.#runJob(this.#jobOf(record, job, lease));
    } catch (error) {
      const live = this.#track(record, lease);
      this.#endEarly(live, error, 'interrupted');
      this.#leave(live);
    }
  }

  /** @throws JobSecretError, QueryRefusedError, PolicyRefusedError for a job that cannot go on */
  #jobOf(record: PurgeRecord, job: PurgeJob, lease: Lease): Job {
    const { worker, kinds, sealer } = this.#options;
    const { reportAbove } = job;
    const order: PurgeOrder = { ...record, headers: sealer.open(job), reportAbove };
    const asked = preparePurge(kinds, order);
    const prepared = record.dryRun && !asked.dryRun ? this.#asReport(order) : asked;
    const { concurrency, maxAffected } = prepared.limits;
    const live = this.#track(resumed(record, job, worker, concurrency), lease);
    const bound = leastOf(maxAffected, reportAbove);
    const budget =
      bound === undefined
        ? undefined
        : new DeleteBudget(bound, spentBefore(record, job), (spent) =>
            this.#writeAhead(live, { ...job, spent }),
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
    const signal = AbortSignal.any([cancelled.signal, lease.lost, this.#stopped.signal]);
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

  /** Does what another process asks of a purge. */
  async #grant(id: string, wish: PurgeWish): Promise<void> {
    const live = this.#live.get(id);
    if (live === undefined) return;
    if (wish.cancel === true) {
      cancelLive(live);
      return;
    }
    live.change(wish);
    const { store } = this.#options;
    try {
      await store.put(live.record, undefined, this.#claimOf(live));
      await store.forget({ id, lease: live.lease.number, wish });
    } catch {
      // It is asked again.
    }
  }

  /** Lets go of a purge that has come to its end here. */
  #leave(live: LivePurge): void {
    const { id } = live.record;
    if (this.#live.get(id) === live) this.#live.delete(id);
    this.#keeper.drop(id, live.lease);
    live.wake();
    this.#keeper.lookForMore();
  }

  async #runJob(job: Job): Promise<void> {
    const { live } = job;
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
      if (live.lease.isTaken) this.#options.observer.taken(live.record);
      else if (this.#isToGoOn(live, error)) await this.#lay(job);
      else this.#endEarly(live, error, 'interrupted');
    } finally {
      this.#leave(live);
    }
  }

  /** The list of ids goes on where another process began it only if they have the same folder. */
  async #noteIdsElsewhere({ live, prepared, before }: Job): Promise<void> {
    const { id, warnings } = live.record;
    if (before === undefined || !prepared.recordsIds || (await this.#options.idFiles.has(id))) return;
    const note = `The ids that the gateway ${before} recorded are not in the list of ids here.`;
    live.set({ warnings: [...warnings, note] });
  }

  /** Whether a job only stops here, and is to be gone on with. */
  #isToGoOn({ cancelled, lease }: LivePurge, error: unknown): boolean {
    if (cancelled.signal.aborted) return false;
    // A purge whose caller waits may have taken the last place meanwhile.
    if (error instanceof TooManyPurgesError) return true;
    return (this.#isStopping || lease.lost.aborted) && error instanceof PurgeStoppedError;
  }

  /** Lays a job aside that was stopped: whoever has a place for it goes on with it. */
  async #lay({ live, budget }: Job): Promise<void> {
    // Nothing is in flight any more. When it cannot be written, what was reserved stays spent.
    await budget?.settle(live.affectedSince).catch(() => {});
    live.set({ state: 'queued' });
  }

  /** A purge that matches more than it should be trusted with deletes nothing, and tells what it matches. */
  async #workOrReport(job: Job, signal: AbortSignal): Promise<void> {
    const { live, order } = job;
    try {
      await this.#work(job, signal);
    } catch (error) {
      const { reportAbove } = order;
      const isReport = error instanceof TooManyMatchesError && error.maxAffected === reportAbove;
      if (!isReport || live.hasBegun) throw error;
      const note = `It matches ${error.exact ? '' : 'at least '}${String(error.matched)}, more than the ${String(reportAbove)} that its retention policy lets go without a look (maxGrowth), so nothing was deleted. Look at the matches, and raise maxGrowth or run the purge by hand.`;
      live.set({ dryRun: true, warnings: [...live.record.warnings, note] });
      await this.#work({ ...job, budget: undefined, prepared: this.#asReport(order) }, signal);
    }
  }

  #asReport(order: PurgeOrder): PreparedPurge {
    return preparePurge(this.#options.kinds, { ...order, query: `${order.query}&dryRun=true` });
  }

  /** Consumes the events of a purge to its end. */
  async #work(
    { live, order, prepared, budget }: Work & Partial<Job>,
    stop: AbortSignal,
  ): Promise<PurgeReport> {
    const { control, lease } = live;
    const signal = AbortSignal.any([stop, live.cancelled.signal, lease.lost]);
    const ids = prepared.recordsIds ? this.#options.idFiles.recorder(live.record.id) : undefined;
    const onOutcome: OnOutcome | undefined = ids && ((item, outcome) => ids.note(item, outcome));
    const beforeDelete = () =>
      lease.number > 0 ? lease.require() : lease.inquire(() => this.#keeper.inquire());
    const how = { headers: order.headers, control, budget, onOutcome, beforeDelete };
    try {
      for await (const event of prepared.run(how, signal)) {
        live.note(event);
        this.#options.observer.event(live.record, event);
        if (event.type !== 'finished') continue;
        await closeIds(live, ids);
        const { failed, unknown, warnings } = event.report;
        this.#end(live, { state: failed + unknown + warnings.length > 0 ? 'partial' : 'succeeded' });
        return event.report;
      }
    } finally {
      await closeIds(live, ids);
    }
    throw new PurgeStoppedError('The purge ended without a report.');
  }

  async #begin(live: LivePurge): Promise<void> {
    const { recordRequired, store, observer } = this.#options;
    live.set({ startedAt: this.#now() });
    const claim = this.#claimOf(live);
    if (recordRequired) await store.put(live.record, undefined, claim);
    else await this.#writer.begin(live.record, claim);
    observer.started(live.record);
  }

  #end(live: LivePurge, members: Partial<PurgeRecord>, error?: unknown): void {
    live.set({ ...members, endedAt: this.#now() });
    this.#options.observer.ended(live.record, error);
  }

  /** @param stopped what a purge is called that was stopped, but not cancelled by request */
  #endEarly(live: LivePurge, error: unknown, stopped: PurgeState): void {
    const state = this.#stateAfter(live, error, stopped);
    const problem = this.#options.problemOf(error);
    const isGone = state === 'cancelled' && !live.cancelled.signal.aborted;
    const cause = isGone
      ? new CallerGoneError('The caller went away before its answer.', { cause: error })
      : error;
    this.#end(live, { state, ...(state === 'cancelled' ? {} : { problem }) }, cause);
  }

  #stateAfter(live: LivePurge, error: unknown, stopped: PurgeState): PurgeState {
    if (live.cancelled.signal.aborted) return 'cancelled';
    if (error instanceof PurgeStoppedError) return stopped;
    return !live.hasBegun && this.#isRefusal(error) ? 'refused' : 'failed';
  }

  #isRefusal(error: unknown): boolean {
    return RECORDED_REFUSALS.has(this.#options.problemOf(error).status);
  }

  #recordRefusal(draft: PurgeRecord, error: unknown): PurgeRecord | undefined {
    if (!this.#isRefusal(error)) return undefined;
    const query = draft.query.slice(0, MAX_REFUSED_QUERY);
    const live = this.#track({ ...draft, query }, new Lease(0, Infinity, () => 0));
    this.#end(live, { state: 'refused', problem: this.#options.problemOf(error) }, error);
    this.#live.delete(draft.id);
    return live.record;
  }

  #track(record: PurgeRecord, lease: Lease): LivePurge {
    const { clock } = this.#options;
    const live = new LivePurge(record, lease, clock, (changed) => {
      if (!lease.isTaken || lease.number === 0) this.#writer.save(changed, this.#claimOf(live));
    });
    this.#live.set(record.id, live);
    return live;
  }

  /** By what right a record is written. */
  #claimOf({ lease }: LivePurge): PurgeClaim {
    if (lease.number > 0) return { lease: lease.number };
    return { lease: 0, by: { holder: this.#options.holder, leaseMs: this.#leaseMs } };
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

  async #prune(): Promise<void> {
    const { store, idFiles, historyDays, clock } = this.#options;
    // The store reports its failures elsewhere, and this is tried again.
    await store.prune(clock.now() - historyDays * DAY_MS, MAX_REFUSED).catch(() => {});
    const isKept = async (id: string) =>
      this.#live.has(id) || this.#writer.latest(id) !== undefined || (await store.get(id)) !== undefined;
    await idFiles.sweep(isKept).catch(() => {});
  }
}

/** No new deletes; those in flight finish. */
function cancelLive(live: LivePurge): void {
  if (live.record.state !== 'running') return;
  live.set({ state: 'cancelling' });
  live.cancelled.abort();
}

function isSame(one: PurgeRecord, other: PurgeRecord | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function placeOf({ dryRun }: PreparedPurge): PlaceKind {
  return dryRun ? 'dry run' : 'job';
}

function leastOf(...bounds: readonly (number | undefined)[]): number | undefined {
  const known = bounds.filter((bound) => bound !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

async function closeIds(live: LivePurge, ids: IdRecorder | undefined): Promise<void> {
  const missing = await ids?.close();
  if (missing !== undefined) live.set({ warnings: [...live.record.warnings, missing] });
}
