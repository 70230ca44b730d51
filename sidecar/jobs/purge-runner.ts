import {
  archivedKeys,
  outcomeOf,
  PurgeStoppedError,
  type OnOutcome,
  type PurgeArchive,
  type PurgeReport,
} from '../purge/index.js';
import { isFinal, type PurgeRecord, type PurgeState } from '../store/index.js';
import type { DeleteBudget } from './delete-budget.js';
import { CallerGoneError } from './errors.js';
import type { HistoryPruner } from './history.js';
import type { IdRecorder } from './id-files.js';
import type { Lease } from './lease.js';
import { LivePurge } from './live-purge.js';
import type { PreparedPurge } from './purge-kinds.js';
import type { PurgeServiceOptions } from './service-options.js';
import { shortened } from './purge-record.js';
import { RecordWriter } from './record-writer.js';
import type { JobRegistry } from './registry.js';

const DAY_MS = 86_400_000;

/** A purge that runs here, and what it takes to run it. */
export interface Work {
  readonly live: LivePurge;
  readonly prepared: PreparedPurge;
  /** Where the number of deletes is bounded. */
  readonly budget?: DeleteBudget | undefined;
}

/** Runs purges, and keeps their records while they run and when they end. */
export class PurgeRunner {
  readonly #options: PurgeServiceOptions;
  readonly #registry: JobRegistry;
  readonly #history: Pick<HistoryPruner, 'noteRefused'>;
  readonly #writer: RecordWriter;

  constructor(
    options: PurgeServiceOptions,
    registry: JobRegistry,
    history: Pick<HistoryPruner, 'noteRefused'>,
  ) {
    this.#options = options;
    this.#registry = registry;
    this.#history = history;
    const { store, clock, observer } = options;
    this.#writer = new RecordWriter({
      ...{ store, clock },
      onAway: (error) => observer.storeAway(error),
      onBack: () => observer.storeBack(),
      onLost: (record) => observer.recordLost(record),
      onTaken: ({ id }, { lease }) => {
        const live = registry.get(id);
        if (live?.lease.number === lease) live.lease.take();
      },
    });
  }

  /** What is to be written of a purge; undefined when all is written. */
  unwritten(id: string): PurgeRecord | undefined {
    return this.#writer.latest(id);
  }

  /** The record of a purge as far as this process knows more than the store. */
  record(id: string): PurgeRecord | undefined {
    return this.#registry.get(id)?.record ?? this.#writer.latest(id);
  }

  /** Writes what is to be written. */
  close(): Promise<void> {
    return this.#writer.close();
  }

  /** From now on, a purge runs in this process, and each change of its record is written. */
  enter(record: PurgeRecord, lease: Lease): LivePurge {
    const live = new LivePurge(record, lease, this.#options.clock, (changed) => {
      if (!lease.isTaken || lease.number === 0) this.#writer.save(changed, lease.claim);
    });
    this.#registry.enter(live);
    return live;
  }

  /**
   * Begins a purge whose caller waits: its record is written before its first request.
   *
   * @throws StoreUnavailableError where it needs a record, and none can be written
   */
  async begin(live: LivePurge): Promise<void> {
    const { recordRequired, store, observer } = this.#options;
    live.set({ startedAt: this.#now() });
    if (recordRequired) await store.put(live.record, undefined, live.lease.claim);
    else await this.#writer.writeNow(live.record, live.lease.claim);
    observer.started(live.record);
  }

  /**
   * Runs a purge to its end.
   *
   * @param stopped aborts when the purge has to stop
   * @throws what the engine throws
   */
  async run({ live, prepared, budget }: Work, stopped: AbortSignal = live.stopped): Promise<PurgeReport> {
    const { control, lease } = live;
    const ids = prepared.recordsIds ? this.#options.idFiles.recorder(live.record.id) : undefined;
    const onOutcome: OnOutcome | undefined = ids && ((item, outcome) => ids.note(item, outcome));
    const archive = await this.#openArchive(live, prepared);
    const beforeDelete = () => lease.check();
    const events = prepared.run({ control, budget, onOutcome, archive, beforeDelete }, stopped);
    try {
      for await (const event of events) {
        live.note(event);
        if (archive !== undefined) live.set({ archive: this.#archiveOf(archive) });
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
      if (archive !== undefined) live.set({ archive: this.#archiveOf(archive) });
      await closeIds(live, ids);
    }
    throw new PurgeStoppedError('The purge ended without a report.');
  }

  /** @throws ArchiveUnavailableError, ArchiveUnreadableError where it is required, and cannot be begun */
  async #openArchive(live: LivePurge, prepared: PreparedPurge): Promise<PurgeArchive | undefined> {
    const { archives } = this.#options;
    if (archives === undefined || prepared.archive === 'none') return undefined;
    const { id, target } = live.record;
    const writer = await archives.writer(
      { purge: id, target },
      live.lease.number,
      archivedKeys(prepared.unit),
    );
    return { writer, isRequired: prepared.archive === 'required' };
  }

  /** What the record says of an archive. It expires some days after the end of the purge: after now, as of now. */
  #archiveOf({ writer }: PurgeArchive): PurgeRecord['archive'] {
    const { archives, clock, historyDays } = this.#options;
    const { entities, bytes } = writer.counts;
    if (archives === undefined || bytes === 0) return undefined;
    const keptMs = Math.min(archives.keepDays, historyDays) * DAY_MS;
    return { entities, bytes, expiresAt: new Date(clock.now() + keptMs).toISOString() };
  }

  /** Writes what was requested of a purge, so that it outlasts a crash. @returns what was written */
  async keep(live: LivePurge): Promise<PurgeRecord> {
    const { record } = live;
    if (!isFinal(record.state)) await this.#writer.writeNow(record, live.lease.claim);
    return record;
  }

  /** @param error what ended it early, or that its caller is gone */
  end(live: LivePurge, members: Partial<PurgeRecord>, error?: unknown): void {
    live.set({ ...members, endedAt: this.#now() });
    this.#options.observer.ended(live.record, error);
  }

  /** @param stopped what a purge is called that was stopped, but not cancelled by request */
  endEarly(live: LivePurge, error: unknown, stopped: PurgeState): void {
    const state = stateAfter(live, error, stopped);
    const problem = this.#options.problemOf(error);
    const isGone = state === 'cancelled' && !live.isCancelled;
    const cause = isGone
      ? new CallerGoneError('The caller went away before its answer.', { cause: error })
      : error;
    const record = state === 'refused' ? shortened(live.record) : live.record;
    this.end(live, { ...record, state, ...(state === 'cancelled' ? {} : { problem }) }, cause);
    if (state === 'refused') this.#history.noteRefused();
  }

  /** Writes the record of a purge that was refused, and tells of it. */
  refuse(record: PurgeRecord, error: unknown): void {
    this.#writer.save(record, { lease: 0 });
    this.#options.observer.ended(record, error);
    this.#history.noteRefused();
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

function stateAfter(live: LivePurge, error: unknown, stopped: PurgeState): PurgeState {
  const outcome = live.isCancelled ? 'cancelled' : outcomeOf(error);
  if (outcome === 'stopped') return stopped;
  return outcome === 'refused' && live.hasBegun ? 'failed' : outcome;
}

async function closeIds(live: LivePurge, ids: IdRecorder | undefined): Promise<void> {
  const missing = await ids?.close();
  if (missing !== undefined) live.set({ warnings: [...live.record.warnings, missing] });
}
