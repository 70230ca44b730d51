import { PurgeStoppedError, type PurgeReport, type OnOutcome } from '../purge/index.js';
import { isFinal, type PurgeClaim, type PurgeRecord, type PurgeState } from '../store/purge-records.js';
import type { DeleteBudget } from './delete-budget.js';
import { CallerGoneError } from './errors.js';
import type { IdRecorder } from './id-files.js';
import { Lease } from './lease.js';
import { LivePurge } from './live-purge.js';
import type { PurgeOrder } from './new-record.js';
import type { PreparedPurge } from './purge-kinds.js';
import type { PurgeServiceOptions } from './purge-options.js';
import { RecordWriter } from './record-writer.js';

/** A purge, and what it takes to run it. */
export interface Work {
  readonly live: LivePurge;
  readonly order: PurgeOrder;
  readonly prepared: PreparedPurge;
  /** Where the number of deletes is bounded. */
  readonly budget?: DeleteBudget | undefined;
}

/** What the service does when something happens to a running purge. */
export interface AtWorkHooks {
  /** A purge has come to its end here. */
  left(live: LivePurge): void;
  /** The record of a refused purge is to be kept. */
  refused(): void;
  /** Asks the store whether a purge is still this process's own; does not reject. */
  inquire(): Promise<void>;
}

/** Statuses of refusals that are recorded. */
const RECORDED_REFUSALS: ReadonlySet<number> = new Set([400, 403, 409, 501]);

/** Characters that are kept of a refused purge: anybody who may ask for purges may have many refused. */
const MAX_REFUSED = { query: 8 * 1024, tenant: 256, link: 4096 } as const;

/** The purges that this process works on: their records, their work, and how they end. */
export class PurgesAtWork {
  readonly #options: PurgeServiceOptions;
  readonly #hooks: AtWorkHooks;
  readonly #writer: RecordWriter;
  readonly #live = new Map<string, LivePurge>();
  readonly #waiting: (() => void)[] = [];

  constructor(options: PurgeServiceOptions, hooks: AtWorkHooks) {
    this.#options = options;
    this.#hooks = hooks;
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
  }

  get(id: string): LivePurge | undefined {
    return this.#live.get(id);
  }

  all(): readonly LivePurge[] {
    return [...this.#live.values()];
  }

  /** What is to be written of a purge; undefined when all is written. */
  unwritten(id: string): PurgeRecord | undefined {
    return this.#writer.latest(id);
  }

  /** The record of a purge as far as this process knows more than the store. */
  record(id: string): PurgeRecord | undefined {
    return this.#live.get(id)?.record ?? this.#writer.latest(id);
  }

  /** Writes what is to be written. */
  close(): Promise<void> {
    return this.#writer.close();
  }

  /** Lets go of a purge that has come to its end here. */
  leave(live: LivePurge): void {
    const { id } = live.record;
    if (this.#live.get(id) === live) this.#live.delete(id);
    live.wake();
    this.#hooks.left(live);
    if (this.#live.size > 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when there are none. */
  async idle(): Promise<void> {
    if (this.#live.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Consumes the events of a purge to its end. */
  async work({ live, order, prepared, budget }: Work, stop: AbortSignal): Promise<PurgeReport> {
    const { control, lease } = live;
    const signal = AbortSignal.any([stop, live.cancelled.signal, lease.lost]);
    const ids = prepared.recordsIds ? this.#options.idFiles.recorder(live.record.id) : undefined;
    const onOutcome: OnOutcome | undefined = ids && ((item, outcome) => ids.note(item, outcome));
    const beforeDelete = () =>
      lease.number > 0 ? lease.require() : lease.inquire(() => this.#hooks.inquire());
    const how = { headers: order.headers, control, budget, onOutcome, beforeDelete };
    try {
      for await (const event of prepared.run(how, signal)) {
        live.note(event);
        this.#options.observer.event(live.record, event);
        if (event.type !== 'finished') continue;
        await closeIds(live, ids);
        // Of the record: what an earlier process left unknown counts as well.
        const { failed, unknown } = live.record;
        const isWhole = failed + unknown + event.report.warnings.length === 0;
        this.end(live, { state: isWhole ? 'succeeded' : 'partial' });
        return event.report;
      }
    } finally {
      await closeIds(live, ids);
    }
    throw new PurgeStoppedError('The purge ended without a report.');
  }

  /** A purge whose caller waits begins. @throws StoreUnavailableError where it needs a record, and none can be written */
  async begin(live: LivePurge): Promise<void> {
    const { recordRequired, store, observer } = this.#options;
    live.set({ startedAt: this.#now() });
    const claim = this.claimOf(live);
    if (recordRequired) await store.put(live.record, undefined, claim);
    else await this.#writer.writeNow(live.record, claim);
    observer.started(live.record);
  }

  /** Writes what was asked of a purge, so that it holds after a crash as well. @returns what was written */
  async keep(live: LivePurge): Promise<PurgeRecord> {
    const { record } = live;
    if (!isFinal(record.state)) await this.#writer.writeNow(record, this.claimOf(live));
    return record;
  }

  /** @param error what ended it early, or that its caller is gone */
  end(live: LivePurge, members: Partial<PurgeRecord>, error?: unknown): void {
    const isRefused = members.state === 'refused';
    live.set({ ...members, ...(isRefused ? shortened(live.record) : {}), endedAt: this.#now() });
    this.#options.observer.ended(live.record, error);
    if (isRefused) this.#hooks.refused();
  }

  /** @param stopped what a purge is called that was stopped, but not cancelled by request */
  endEarly(live: LivePurge, error: unknown, stopped: PurgeState): void {
    const state = this.#stateAfter(live, error, stopped);
    const problem = this.#options.problemOf(error);
    const isGone = state === 'cancelled' && !live.cancelled.signal.aborted;
    const cause = isGone
      ? new CallerGoneError('The caller went away before its answer.', { cause: error })
      : error;
    this.end(live, { state, ...(state === 'cancelled' ? {} : { problem }) }, cause);
  }

  #stateAfter(live: LivePurge, error: unknown, stopped: PurgeState): PurgeState {
    if (live.cancelled.signal.aborted) return 'cancelled';
    if (error instanceof PurgeStoppedError) return stopped;
    return !live.hasBegun && this.isRefusal(error) ? 'refused' : 'failed';
  }

  /** Whether a request with such an error was refused, rather than failed. */
  isRefusal(error: unknown): boolean {
    return RECORDED_REFUSALS.has(this.#options.problemOf(error).status);
  }

  /** @returns the record, where such an error makes one */
  recordRefusal(draft: PurgeRecord, error: unknown): PurgeRecord | undefined {
    if (!this.isRefusal(error)) return undefined;
    const live = this.track(draft, new Lease(0, Infinity, () => 0));
    this.end(live, { state: 'refused', problem: this.#options.problemOf(error) }, error);
    this.#live.delete(draft.id);
    return live.record;
  }

  /** A purge is in the hands of this process from here on, and each change of it is written. */
  track(record: PurgeRecord, lease: Lease): LivePurge {
    const { clock } = this.#options;
    const live = new LivePurge(record, lease, clock, (changed) => {
      if (!lease.isTaken || lease.number === 0) this.#writer.save(changed, this.claimOf(live));
    });
    this.#live.set(record.id, live);
    return live;
  }

  /** By what right a record is written. */
  claimOf({ lease }: LivePurge): PurgeClaim {
    if (lease.number > 0) return { lease: lease.number };
    const { holder, leaseMs } = this.#options;
    return { lease: 0, by: { holder, leaseMs } };
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

/** What a client may make long. */
function shortened({ query, tenant, link }: PurgeRecord): Partial<PurgeRecord> {
  return {
    query: query.slice(0, MAX_REFUSED.query),
    ...(tenant === undefined ? {} : { tenant: tenant.slice(0, MAX_REFUSED.tenant) }),
    ...(link === undefined ? {} : { link: link.slice(0, MAX_REFUSED.link) }),
  };
}

async function closeIds(live: LivePurge, ids: IdRecorder | undefined): Promise<void> {
  const missing = await ids?.close();
  if (missing !== undefined) live.set({ warnings: [...live.record.warnings, missing] });
}
