import { isFinal } from '../store/index.js';
import { CLOCK_SLACK_MS, type JobServiceOptions } from './service-options.js';

/** Refused purges that are kept, at most. */
const MAX_REFUSED = 10_000;

/** So many more refused purges are kept until the oldest are removed, or until the next time that all is pruned. */
const REFUSED_BETWEEN_PRUNING = 1000;

const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

type PrunerOptions = Pick<
  JobServiceOptions,
  'store' | 'idFiles' | 'archives' | 'historyDays' | 'clock' | 'brokerAheadMs'
>;

/** Removes records that are too old or too many, and the lists of ids of purges that nobody knows any more. */
export class HistoryPruner {
  readonly #options: PrunerOptions;
  readonly #isRunning: (id: string) => boolean;
  #timer: NodeJS.Timeout | undefined;
  #refused = 0;

  /** @param isRunning whether this process knows a purge that may not be in the store yet */
  constructor(options: PrunerOptions, isRunning: (id: string) => boolean) {
    this.#options = options;
    this.#isRunning = isRunning;
  }

  start(): void {
    void this.#prune();
    this.#timer = setInterval(() => void this.#prune(), PRUNE_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One more was refused: a flood of them does not fill the store until the next pruning. */
  noteRefused(): void {
    this.#refused += 1;
    if (this.#refused >= REFUSED_BETWEEN_PRUNING) void this.#pruneRecords();
  }

  async #prune(): Promise<void> {
    const { store, idFiles, archives, clock } = this.#options;
    await this.#pruneRecords();
    const isKept = async (id: string) => this.#isRunning(id) || (await store.get(id)) !== undefined;
    await idFiles.sweep(isKept).catch(() => {});
    if (!this.#isClockTrusted()) return;
    // What cannot be removed now is tried again.
    await archives?.sweep(async (id) => this.#isArchiveDue(id), clock.now()).catch(() => {});
  }

  /** Whether the archive of a purge goes; undefined where the purge is not in the record. */
  async #isArchiveDue(id: string): Promise<boolean | undefined> {
    const { store, clock } = this.#options;
    if (this.#isRunning(id)) return false;
    const record = await store.get(id);
    if (record?.target !== 'entities' && record?.target !== 'temporal') return undefined;
    const { state, archive } = record;
    if (!isFinal(state)) return false;
    return archive !== undefined && Date.parse(archive.expiresAt) < clock.now();
  }

  async #pruneRecords(): Promise<void> {
    const { store, historyDays, clock } = this.#options;
    this.#refused = 0;
    const endedBeforeMs = this.#isClockTrusted() ? clock.now() - historyDays * DAY_MS : 0;
    // The store reports its failures elsewhere, and this is tried again.
    await store.prune(endedBeforeMs, MAX_REFUSED).catch(() => {});
  }

  /** Whether ages may be measured by the clock: one that is ahead would remove all records and archives at once. */
  #isClockTrusted(): boolean {
    return (this.#options.brokerAheadMs?.() ?? 0) <= CLOCK_SLACK_MS;
  }
}
