import type { Readable } from 'node:stream';
import type { Problem } from '../ngsi-ld/problem.js';
import { PurgeStoppedError, TooManyMatchesError } from '../purge/errors.js';
import type { PurgeEvent, PurgeReport } from '../purge/events.js';
import type { OnOutcome } from '../purge/item-ledger.js';
import type { PlaceKind } from '../purge/places.js';
import type { RunningPurges } from '../purge/running.js';
import {
  isFinal,
  type PurgeFilter,
  type PurgeJob,
  type PurgeRecord,
  type PurgeState,
  type Purges,
  type UnfinishedPurge,
} from '../schemas/store/purge-records.js';
import type { Clock } from '../shared/clock.js';
import { DeleteBudget } from './delete-budget.js';
import {
  CallerGoneError,
  IdsNotFoundError,
  PurgeFailedError,
  PurgeNotFoundError,
  PurgeOverError,
  QueueFullError,
} from './errors.js';
import { FairQueue } from './fair-queue.js';
import type { IdFiles, IdRecorder } from './id-files.js';
import { LivePurge } from './live-purge.js';
import { newRecord, preparedMembers, type PurgeOrder } from './new-record.js';
import { preparePurge, rateRefused, type PreparedPurge, type PurgeKinds } from './purge-kinds.js';
import { RecordWriter } from './record-writer.js';
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
}

export interface PurgeServiceOptions {
  readonly kinds: PurgeKinds;
  readonly store: Purges;
  readonly running: RunningPurges;
  readonly clock: Clock;
  /** Where ids are recorded for purges that ask for it. */
  readonly idFiles: IdFiles;
  readonly sealer: HeaderSealer;
  /** Names this process in records. */
  readonly worker: string;
  /** Whether other processes keep their purges there as well. */
  readonly isStoreShared?: boolean;
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
}

/** Statuses of refusals that are recorded. */
const RECORDED_REFUSALS: ReadonlySet<number> = new Set([400, 403, 409, 501]);

/** Refused purges that are kept, at most. */
const MAX_REFUSED = 10_000;

/** Characters of the query of a refused purge that are kept. */
const MAX_REFUSED_QUERY = 8 * 1024;

/** How often a store that is away is asked for what an earlier process left. */
const ASK_AGAIN_MS = 1000;

const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Runs purges, at once or as jobs, and keeps the record of them. */
export class PurgeService {
  readonly #options: PurgeServiceOptions;
  readonly #writer: RecordWriter;
  readonly #live = new Map<string, LivePurge>();
  readonly #queue = new FairQueue<Job>();
  #pruning: NodeJS.Timeout | undefined;
  /** Jobs that are being written, to be queued then. */
  #submitting = 0;
  #isStopping = false;
  /** The purges of this process, until those of an earlier one are known. */
  #begun: Set<string> | undefined = new Set();
  readonly #stopped = new AbortController();

  constructor(options: PurgeServiceOptions) {
    this.#options = options;
    const { store, clock, observer } = options;
    this.#writer = new RecordWriter({
      ...{ store, clock },
      onAway: (error) => observer.storeAway(error),
      onBack: () => observer.storeBack(),
      onLost: (record) => observer.recordLost(record),
    });
  }

  /** Jobs that wait for a place. */
  get queued(): number {
    return this.#queue.size;
  }

  /**
   * What an earlier process of this name left.
   *
   * @throws StoreUnavailableError
   */
  async left(): Promise<readonly UnfinishedPurge[]> {
    const { store, isStoreShared = false, worker } = this.#options;
    const unfinished = await store.unfinished();
    return unfinished.filter(
      ({ record }) => (!isStoreShared || record.worker === worker) && this.#begun?.has(record.id) !== true,
    );
  }

  /**
   * Goes on with what an earlier process left, and begins to prune the history.
   *
   * @param left undefined where the store was away: it is asked again until it tells
   */
  start(left: readonly UnfinishedPurge[] | undefined): void {
    void this.#prune();
    this.#pruning = setInterval(() => void this.#prune(), PRUNE_EVERY_MS).unref();
    if (left === undefined) void this.#takeUpLater();
    else this.#takeUpAll(left);
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
    const live = this.#track(record);
    try {
      return await this.#options.running.run(kind, gone, async (signal) => {
        await this.#begin(live);
        const report = await this.#work({ live, order, prepared }, signal);
        return { report, record: live.record };
      });
    } catch (error) {
      this.#endEarly(live, error, gone.aborted ? 'cancelled' : 'interrupted');
      const isRecorded = live.record.startedAt !== undefined;
      throw new PurgeFailedError(error, isRecorded ? live.record : undefined, live.hasBegun);
    } finally {
      this.#live.delete(record.id);
      this.#pump();
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
    if (this.#queue.size + this.#submitting >= maxQueued) throw new QueueFullError(maxQueued);
    const record: PurgeRecord = { ...draft, ...preparedMembers(prepared) };
    this.#submitting += 1;
    try {
      await store.put(record, job);
    } finally {
      this.#submitting -= 1;
    }
    this.#enqueue({ live: this.#track(record), order, prepared }, job);
    this.#pump();
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

  /** Removes what was recorded of the items of a purge. @throws PurgeNotFoundError */
  async removeIds(id: string): Promise<void> {
    await this.get(id);
    await this.#options.idFiles.remove(id);
  }

  /**
   * Cancels a purge: no new deletes, those in flight finish. One that has ended stays as it is.
   *
   * @throws PurgeNotFoundError
   */
  async cancel(id: string): Promise<PurgeRecord> {
    const live = this.#live.get(id);
    if (live === undefined) return this.get(id);
    if (this.#queue.remove((job) => job.live === live)) {
      this.#end(live, { state: 'cancelled' });
      this.#live.delete(id);
    } else if (live.record.state === 'running') {
      live.set({ state: 'cancelling' });
      live.cancelled.abort();
    }
    return live.record;
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
    if (live === undefined || live.record.state === 'cancelling')
      throw new PurgeOverError(id, (await this.get(id)).state);
    const { control } = live;
    const { isPaced, limits } = this.#prepared(live.record);
    if (typeof maxPerSecond === 'number' && !isPaced) throw rateRefused();
    if (maxPerSecond !== undefined) {
      control.pace.setPerSecond(maxPerSecond ?? undefined);
      live.set({ maxPerSecond });
    }
    if (concurrency !== undefined) {
      // What configuration and policy allowed at its start is the most.
      control.concurrency = Math.min(concurrency, limits.concurrency);
      live.set({ concurrency: control.concurrency });
    }
    return live.record;
  }

  /** The record of a purge: now, and after each change, until its end or until the signal aborts. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<PurgeRecord, void> {
    const live = this.#live.get(id);
    if (live === undefined) {
      yield await this.get(id);
      return;
    }
    for (let told: PurgeRecord | undefined; !signal.aborted;) {
      const { record } = live;
      if (record !== told) yield record;
      told = record;
      if (isFinal(record.state) || (this.#isStopping && record.state === 'queued')) return;
      if (live.record === told) await live.changed(signal);
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
  }

  #takeUpAll(left: readonly UnfinishedPurge[]): void {
    this.#begun = undefined;
    for (const { record, job } of left) this.#takeUp(record, job);
    this.#pump();
  }

  async #takeUpLater(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#options.clock.sleep(ASK_AGAIN_MS, signal).catch(() => {});
      const left = await this.left().catch(() => undefined);
      if (left === undefined || this.#hasStopped()) continue;
      this.#takeUpAll(left);
      return;
    }
  }

  /** A method, because the compiler does not see that this changes during an await. */
  #hasStopped(): boolean {
    return this.#isStopping;
  }

  #takeUp(record: PurgeRecord, job: PurgeJob | undefined): void {
    const { worker, kinds, sealer } = this.#options;
    const live = this.#track({ ...record, worker });
    if (job === undefined) {
      this.#end(live, { state: 'interrupted' });
    } else if (record.state === 'cancelling') {
      this.#end(live, { state: 'cancelled' });
    } else {
      try {
        const { reportAbove } = job;
        const order: PurgeOrder = { ...record, headers: sealer.open(job), reportAbove };
        const asked = preparePurge(kinds, order);
        const prepared = record.dryRun && !asked.dryRun ? this.#asReport(order) : asked;
        live.control.concurrency = Math.min(record.concurrency, prepared.limits.concurrency);
        const inFlight =
          record.matched - record.deleted - record.alreadyGone - record.failed - record.unknown;
        const note = `The gateway was started anew. Of ${String(Math.max(0, inFlight))} matches it was last known that they were being deleted; those that were are not in the counts.${uncertain(job, live)}`;
        const warnings = record.state === 'running' ? [...record.warnings, note].slice(-20) : record.warnings;
        const { concurrency } = live.control;
        live.set({ state: 'queued', failed: 0, unknown: 0, warnings, concurrency });
        this.#enqueue({ live, order, prepared }, job);
        return;
      } catch (error) {
        this.#endEarly(live, error, 'interrupted');
      }
    }
    this.#live.delete(record.id);
  }

  #enqueue(work: Work, job: PurgeJob): void {
    const { live, order, prepared } = work;
    const bound = leastOf(prepared.limits.maxAffected, order.reportAbove);
    const spent = Math.max(live.settledBefore, job.spent ?? 0);
    const budget =
      bound === undefined
        ? undefined
        : new DeleteBudget(bound, spent, (amount) =>
            this.#options.store.put(live.record, { ...job, spent: amount }),
          );
    this.#queue.add(live.record.tenant ?? '', { ...work, budget });
  }

  /** Starts what has a place. */
  #pump(): void {
    const { running } = this.#options;
    while (!this.#isStopping) {
      const next = this.#queue.take(({ prepared }) => running.isFree(placeOf(prepared)));
      if (next === undefined) return;
      void this.#runJob(next);
    }
  }

  async #runJob(job: Job): Promise<void> {
    const { live } = job;
    try {
      await this.#options.running.run(placeOf(job.prepared), live.cancelled.signal, async (signal) => {
        live.set({ state: 'running', startedAt: live.record.startedAt ?? this.#now() });
        this.#options.observer.started(live.record);
        await this.#workOrReport(job, signal);
      });
    } catch (error) {
      const isAborted = live.cancelled.signal.aborted;
      if (this.#isStopping && !isAborted && error instanceof PurgeStoppedError) await this.#lay(job);
      else this.#endEarly(live, error, 'interrupted');
    } finally {
      this.#live.delete(live.record.id);
      this.#pump();
    }
  }

  /** Lays a job aside that was stopped: the next start goes on with it. */
  async #lay({ live, budget }: Job): Promise<void> {
    live.set({ state: 'queued' });
    // Nothing is in flight any more. When it cannot be written, what was reserved stays spent.
    await budget?.settle(live.affectedSince).catch(() => {});
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
      await this.#work({ live, order, prepared: this.#asReport(order) }, signal);
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
    const signal = AbortSignal.any([stop, live.cancelled.signal]);
    const ids = prepared.recordsIds ? this.#options.idFiles.recorder(live.record.id) : undefined;
    const onOutcome: OnOutcome | undefined = ids && ((item, outcome) => ids.note(item, outcome));
    const control = live.control;
    try {
      for await (const event of prepared.run(
        { headers: order.headers, control, budget, onOutcome },
        signal,
      )) {
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
    if (recordRequired) await store.put(live.record);
    else await this.#writer.begin(live.record);
    observer.started(live.record);
  }

  #end(live: LivePurge, members: Partial<PurgeRecord>, error?: unknown): void {
    live.set({ ...members, endedAt: this.#now() });
    this.#options.observer.ended(live.record, error);
  }

  /** @param stopped what a purge is called that was stopped, but not cancelled by request */
  #endEarly(live: LivePurge, error: unknown, stopped: PurgeState): void {
    // A purge that was turned away before it began is reported to its caller only.
    if (live.record.startedAt === undefined && !this.#isRefusal(error)) return;
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
    const live = this.#track({ ...draft, query });
    this.#end(live, { state: 'refused', problem: this.#options.problemOf(error) }, error);
    this.#live.delete(draft.id);
    return live.record;
  }

  #track(record: PurgeRecord): LivePurge {
    this.#begun?.add(record.id);
    const live = new LivePurge(record, this.#options.clock, (changed) => this.#writer.save(changed));
    this.#live.set(record.id, live);
    return live;
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

/** What the maximum of a job is reduced by, beyond what is in its counts. */
function uncertain({ spent = 0 }: PurgeJob, { settledBefore }: LivePurge): string {
  if (spent <= settledBefore) return '';
  return ` ${String(spent - settledBefore)} that may be gone count towards its maximum.`;
}
