import type { Readable } from 'node:stream';
import { outcomeOf, type PurgeReport } from '../purge/index.js';
import {
  type ControlRequest,
  isFinal,
  type PurgeFilter,
  type PurgeNotice,
  type PurgeRecord,
  type StrandedPurge,
} from '../store/index.js';
import {
  IdsNotFoundError,
  PurgeCancelledError,
  PurgeFailedError,
  PurgeNotFoundError,
  PurgeOverError,
  QueueFullError,
} from './errors.js';
import { HistoryPruner } from './history.js';
import { JobRunner } from './job-runner.js';
import { LeaseKeeper } from './lease-keeper.js';
import { Notifier } from './notifier.js';
import { preparePurge, rateRefused, type NewPurge, type PreparedPurge } from './purge-kinds.js';
import type { PurgeServiceOptions } from './service-options.js';
import { PurgeRunner } from './purge-runner.js';
import { JobRegistry } from './registry.js';
import { cancelled, newRecord, refusedRecord, requeued } from './purge-record.js';

export { isFinal, PURGE_STATES, type PurgeRecord } from '../store/index.js';

/** Runs purges, while their callers wait or as jobs, and keeps their records. */
export class PurgeService {
  readonly #options: PurgeServiceOptions;
  readonly #registry: JobRegistry;
  readonly #runner: PurgeRunner;
  readonly #history: HistoryPruner;
  readonly #keeper: LeaseKeeper;
  readonly #notifier: Notifier;
  #queued = 0;

  constructor(options: PurgeServiceOptions) {
    this.#options = options;
    const { store, clock, holder, isStoreShared = false, leaseMs, broker } = options;
    this.#notifier = new Notifier(clock);
    this.#registry = new JobRegistry(options.maxRunning, () => this.#keeper.lookForMore());
    this.#history = new HistoryPruner(options, (id) => this.#runner.record(id) !== undefined);
    this.#runner = new PurgeRunner(options, this.#registry, this.#history);
    const jobs = new JobRunner(options, this.#registry, this.#runner);
    this.#keeper = new LeaseKeeper({
      ...{ registry: this.#registry, store, holder, leaseMs, broker, isShared: isStoreShared },
      monotonicMs: options.monotonicMs ?? (() => performance.now()),
      begin: (taken, lease) => jobs.begin(taken, lease),
      requeued: (left) => requeued(left, options.worker, this.#now()),
      onRequeued: (changed) => this.#noteRequeued(changed),
      grant: (id, request) => void this.#grant(id, request),
      isPending: (id) => this.#runner.unwritten(id) !== undefined,
    });
  }

  /** Jobs that wait for a place, in any process; as last known while the store is away. */
  async queued(): Promise<number> {
    this.#queued = await this.#options.store.waiting().catch(() => this.#queued);
    return this.#queued;
  }

  /** Purges that work in this process. */
  get running(): number {
    return this.#registry.places;
  }

  /** Resumes what no process works on, and begins to prune the history. */
  start(): void {
    this.#history.start();
    this.#keeper.start();
  }

  /** Something has changed in the store. */
  noticed({ what, id }: PurgeNotice): void {
    this.#notifier.notify(id);
    if (what === 'waiting' || (what === 'wish' && this.#registry.get(id) !== undefined))
      void this.#keeper.look();
  }

  /**
   * Runs a purge whose caller waits for its end.
   *
   * @param gone aborts when the caller goes away
   * @throws PurgeFailedError with the cause and the record; PurgeStoppedError, TooManyPurgesError when it has not begun
   */
  async run(
    asked: NewPurge,
    gone: AbortSignal,
  ): Promise<{ readonly report: PurgeReport; readonly record: PurgeRecord }> {
    const prepared = this.#prepare(asked);
    const record = newRecord(asked, prepared, { state: 'running', ...this.#start() });
    const live = this.#runner.enter(record, this.#keeper.lease());
    try {
      this.#registry.takePlace(live, prepared.dryRun ? 'dry run' : 'purge');
      await this.#runner.begin(live);
      const report = await this.#runner.run({ live, prepared }, AbortSignal.any([live.stopped, gone]));
      return { report, record: live.record };
    } catch (error) {
      // One that could not begin is reported to its caller only.
      if (live.record.startedAt === undefined) throw error;
      this.#runner.endEarly(live, error, gone.aborted ? 'cancelled' : 'interrupted');
      const isCancelled = live.isCancelled && outcomeOf(error) === 'stopped';
      const cause = isCancelled ? new PurgeCancelledError({ cause: error }) : error;
      throw new PurgeFailedError(cause, live.record, live.hasBegun);
    } finally {
      this.#registry.leave(live);
    }
  }

  /**
   * Takes an asynchronous purge: it runs when there is a place for it.
   *
   * @throws PurgeFailedError for one that is refused; QueueFullError, PurgeStoppedError, StoreUnavailableError
   */
  async submit(asked: NewPurge): Promise<PurgeRecord> {
    const { sealer, store, maxQueued, broker } = this.#options;
    this.#registry.requireOpen();
    const prepared = this.#prepare(asked);
    const sealed = this.#orRefuse(asked, () => sealer.seal(asked.headers));
    const record = newRecord(asked, prepared, { state: 'queued', ...this.#start() });
    const job = { ...sealed, reportAbove: asked.reportAbove };
    if (!(await store.add(record, job, maxQueued, broker))) throw new QueueFullError(maxQueued);
    await this.#keeper.look();
    return record;
  }

  /** Records a purge that was refused, perhaps before it was understood. @returns what its caller is answered */
  refusal(asked: NewPurge, error: unknown): PurgeFailedError {
    const record = refusedRecord(asked, this.#options.problemOf(error), this.#start());
    this.#runner.refuse(record, error);
    return new PurgeFailedError(error, record);
  }

  /** @throws PurgeNotFoundError */
  async get(id: string): Promise<PurgeRecord> {
    const known = this.#runner.record(id) ?? (await this.#options.store.get(id));
    if (known === undefined) throw new PurgeNotFoundError(id);
    return known;
  }

  async list(filter: PurgeFilter): Promise<{ items: readonly PurgeRecord[]; total: number }> {
    const { items, total } = await this.#options.store.list(filter);
    const latest = (one: PurgeRecord) => this.#runner.record(one.id) ?? one;
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
    const live = this.#registry.get(id);
    if (live !== undefined) {
      live.cancel();
      return this.#runner.keep(live);
    }
    const pending = this.#runner.unwritten(id);
    if (pending !== undefined && isFinal(pending.state)) return pending;
    const now = this.#now();
    const result = await this.#options.store.ask(id, { cancel: true }, (kept, isHeld) =>
      isHeld ? { ...kept, state: 'cancelling' } : cancelled(kept, now),
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
    const live = this.#registry.get(id);
    const record = live?.record ?? (await this.get(id));
    if (isFinal(record.state) || record.state === 'cancelling') throw new PurgeOverError(id, record.state);
    const { isPaced, limits } = preparePurge(this.#options.kinds, { ...record, headers: {} });
    if (typeof maxPerSecond === 'number' && !isPaced) throw rateRefused();
    const request: ControlRequest = {
      ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
      // Never more than configuration and policy allow.
      ...(concurrency === undefined ? {} : { concurrency: Math.min(concurrency, limits.concurrency) }),
    };
    if (live !== undefined) {
      live.change(request);
      return this.#runner.keep(live);
    }
    const result = await this.#options.store.ask(id, request, (kept) => ({ ...kept, ...request }));
    if (result === undefined) throw new PurgeNotFoundError(id);
    if (result.outcome === 'over') throw new PurgeOverError(id, result.record.state);
    this.noticed({ what: 'wish', id });
    return result.record;
  }

  /** The record of a purge: now, and after each change, until its end or until the signal aborts. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<PurgeRecord, void> {
    let seen: PurgeRecord | undefined;
    while (!signal.aborted) {
      const live = this.#registry.get(id);
      const record = live?.record ?? (await this.#look(id, seen));
      if (!isSame(record, seen)) yield record;
      seen = record;
      const isStopping = this.#registry.stopping.aborted;
      if (isFinal(record.state) || (isStopping && (live === undefined || record.state === 'queued'))) return;
      if (live === undefined)
        await this.#notifier.changed(id, AbortSignal.any([signal, this.#registry.stopping]));
      else if (live.record === seen && this.#registry.get(id) === live) await live.changed(signal);
    }
  }

  /** Stops all purges, and refuses new ones. Jobs go back into the queue. */
  stop(): void {
    this.#history.stop();
    this.#registry.stop();
  }

  /** Resolves when no purge runs in this process. */
  idle(): Promise<void> {
    return this.#registry.idle();
  }

  /** Writes the records that are not yet written. */
  async close(): Promise<void> {
    this.stop();
    await this.#runner.close();
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

  /** Jobs of other brokers went back into the queue, or have ended since that was requested. */
  #noteRequeued(changed: readonly Pick<StrandedPurge, 'record' | 'broker'>[]): void {
    const { observer } = this.#options;
    for (const { record } of changed) {
      if (isFinal(record.state)) observer.ended(record);
      this.#notifier.notify(record.id);
    }
    const waiting = changed.filter(({ record }) => !isFinal(record.state));
    if (waiting.length > 0) observer.elsewhere(waiting);
  }

  /** Does what another process requests of a purge. */
  async #grant(id: string, request: ControlRequest): Promise<void> {
    const live = this.#registry.get(id);
    if (live === undefined) return;
    if (request.cancel === true) {
      live.cancel();
      return;
    }
    live.change(request);
    const { store } = this.#options;
    try {
      await store.put(live.record, undefined, live.lease.claim);
      await store.forget({ id, lease: live.lease.number, request });
    } catch {
      // The store has not forgotten the request, so it comes again.
    }
  }

  /** @throws PurgeFailedError for a purge that is refused */
  #prepare(asked: NewPurge): PreparedPurge {
    return this.#orRefuse(asked, () => preparePurge(this.#options.kinds, asked));
  }

  /** Records a refusal. */
  #orRefuse<Result>(asked: NewPurge, prepare: () => Result): Result {
    try {
      return prepare();
    } catch (error) {
      throw outcomeOf(error) === 'refused' ? this.refusal(asked, error) : error;
    }
  }

  #start(): Pick<PurgeRecord, 'worker' | 'createdAt'> {
    return { worker: this.#options.worker, createdAt: this.#now() };
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

function isSame(one: PurgeRecord, other: PurgeRecord | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
