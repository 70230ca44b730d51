import { isFinal } from '../store/index.js';
import { CLOCK_SLACK_MS, type JobServiceOptions } from './service-options.js';

const MAX_REFUSED = 10_000;

/** After this many refused purges, the oldest are removed without waiting for the next regular pruning. */
const REFUSED_BETWEEN_PRUNING = 1000;

const PRUNE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

type PrunerOptions = Pick<
  JobServiceOptions,
  'store' | 'idFiles' | 'archives' | 'historyDays' | 'clock' | 'brokerAheadMs' | 'isBrokerUp'
>;

/** Removes records that are too old or too many, and the id lists and archives of purges that are no longer kept. */
export class HistoryPruner {
  readonly #options: PrunerOptions;
  readonly #isRunning: (id: string) => boolean;
  #timer: NodeJS.Timeout | undefined;
  #refused = 0;

  /** @param isRunning whether this process knows the purge, which may not be in the store yet */
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

  /** Called for each refused purge, so that a flood of them does not fill the store until the next pruning. */
  noteRefused(): void {
    this.#refused += 1;
    if (this.#refused >= REFUSED_BETWEEN_PRUNING) void this.#pruneRecords(0);
  }

  async #prune(): Promise<void> {
    const { store, idFiles, archives, clock, historyDays } = this.#options;
    await this.#pruneRecords(await this.#oldestKeptMs());
    let isTrusted: Promise<boolean> | undefined;
    // A purge without a record may have one in another database: that of a gateway with the same folder, or the former one.
    const isKept = async (id: string, writtenMs: number) =>
      this.#isRunning(id) ||
      writtenMs >= clock.now() - historyDays * DAY_MS ||
      (await store.get(id)) !== undefined ||
      !(await (isTrusted ??= this.#isClockTrusted()));
    await idFiles.sweep(isKept).catch(() => {});
    const isExpired = async (id: string) => {
      const due = await this.#isArchiveDue(id);
      return due === false || !(await (isTrusted ??= this.#isClockTrusted())) ? false : due;
    };
    // What cannot be removed now is tried again at the next pruning.
    await archives?.removeExpired(isExpired, clock.now()).catch(() => {});
  }

  /** Whether the archive of a purge is to be removed; undefined if the purge has no record. */
  async #isArchiveDue(id: string): Promise<boolean | undefined> {
    const { store, clock } = this.#options;
    if (this.#isRunning(id)) return false;
    const record = await store.get(id);
    if (record?.target !== 'entities' && record?.target !== 'temporal') return undefined;
    const { state, archive } = record;
    if (!isFinal(state)) return false;
    if (archive === undefined || Date.parse(archive.expiresAt) >= clock.now()) return false;
    return !(await this.#beingRestored()).includes(id);
  }

  /** The ids of purges with an unfinished restore. Their records and archives are kept until the restore has ended. */
  async #beingRestored(): Promise<readonly string[]> {
    const jobs = await this.#options.store.unfinished();
    return jobs.flatMap(({ record }) => (record.target === 'restore' ? (record.restoreOf ?? []) : []));
  }

  async #pruneRecords(endedBeforeMs: number): Promise<void> {
    this.#refused = 0;
    // The store reports its own failures, and the next pruning tries again.
    await this.#options.store.prune(endedBeforeMs, MAX_REFUSED).catch(() => {});
  }

  /**
   * The time before which an ended record is too old, in milliseconds; 0 if no record is too old, or if this is unknown.
   * The records of purges that are being restored count as not too old.
   */
  async #oldestKeptMs(): Promise<number> {
    const { store, historyDays, clock } = this.#options;
    let until = clock.now() - historyDays * DAY_MS;
    try {
      const { items } = await store.list({ until, limit: 1, offset: 0 });
      if (items.length === 0 || !(await this.#isClockTrusted())) return 0;
      for (const id of await this.#beingRestored()) {
        const endedMs = Date.parse((await store.get(id))?.endedAt ?? '');
        if (endedMs < until) until = endedMs;
      }
      return until;
    } catch {
      return 0;
    }
  }

  /**
   * Whether the clock can be used to measure ages: a clock that is ahead would remove all records and archives at once.
   * Asks the broker first, since the clock may have been changed after the broker's last answer.
   */
  async #isClockTrusted(): Promise<boolean> {
    const { isBrokerUp, brokerAheadMs } = this.#options;
    if ((await isBrokerUp?.()) === false) return false;
    return (brokerAheadMs?.() ?? 0) <= CLOCK_SLACK_MS;
  }
}
