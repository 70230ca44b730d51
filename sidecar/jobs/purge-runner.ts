import {
  archivedKeys,
  PurgeStoppedError,
  type OnOutcome,
  type PurgeArchive,
  type PurgeReport,
} from '../purge/index.js';
import type { PurgeRecord } from '../store/index.js';
import type { DeleteBudget } from './delete-budget.js';
import type { IdRecorder } from './id-files.js';
import type { Lease } from './live-job.js';
import { LivePurge } from './live-purge.js';
import type { PreparedPurge } from './purge-kinds.js';
import type { RecordKeeper } from './record-keeper.js';
import { targetOf } from './purge-record.js';
import type { PurgeServiceOptions } from './service-options.js';

const DAY_MS = 86_400_000;

/** A purge that runs here, and what it takes to run it. */
export interface Work {
  readonly live: LivePurge;
  readonly prepared: PreparedPurge;
  /** Where the number of deletes is bounded. */
  readonly budget?: DeleteBudget | undefined;
}

/** Runs purges, those whose callers wait and those that are jobs. */
export class PurgeRunner {
  readonly #options: PurgeServiceOptions;
  readonly #records: RecordKeeper;

  constructor(options: PurgeServiceOptions, records: RecordKeeper) {
    this.#options = options;
    this.#records = records;
  }

  /** From now on, a purge runs in this process. */
  enter(record: PurgeRecord, lease: Lease): LivePurge {
    const { clock } = this.#options;
    return this.#records.enter(lease, (onChange) => new LivePurge(record, lease, clock, onChange));
  }

  /**
   * Begins a purge whose caller waits: its record is written before its first request.
   *
   * @throws StoreUnavailableError where it needs a record, and none can be written
   */
  async begin(live: LivePurge): Promise<void> {
    const { recordRequired, store, observer, clock } = this.#options;
    live.set({ startedAt: new Date(clock.now()).toISOString() });
    if (recordRequired) await store.put(live.record, undefined, live.lease.claim);
    else await this.#records.writeNow(live);
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
        this.#records.end(live, isWhole ? 'succeeded' : 'partial');
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
      { purge: id, target: targetOf({ target }) },
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
}

async function closeIds(live: LivePurge, ids: IdRecorder | undefined): Promise<void> {
  const missing = await ids?.close();
  if (missing !== undefined) live.set({ warnings: [...live.record.warnings, missing] });
}
