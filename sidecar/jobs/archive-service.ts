import {
  ArchiveUnreadableError,
  ARCHIVE_NOT_FOUND,
  type ArchiveCounts,
  type ArchiveReader,
} from '../archive/index.js';
import { archivedKeys, type PurgeArchive, unlessStopped } from '../purge/index.js';
import { GatewayError } from '../shared/errors.js';
import { isFinal, type PurgeRecord } from '../store/index.js';
import { ArchiveInUseError, ArchiveNotFoundError, JobNotFoundError } from './errors.js';
import type { LiveJob } from './live-job.js';
import type { PreparedPurge } from './purge-kinds.js';
import { targetOf } from './purge-record.js';
import type { JobServiceOptions } from './service-options.js';

/** The archives of purges: written by running purges; read, erased and restored later. */
export class ArchiveService {
  readonly #options: Pick<JobServiceOptions, 'archives' | 'store' | 'clock' | 'historyDays'>;
  readonly #recordOf: (id: string) => Promise<PurgeRecord>;

  /** @param recordOf returns the record of a purge; throws JobNotFoundError */
  constructor(
    options: Pick<JobServiceOptions, 'archives' | 'store' | 'clock' | 'historyDays'>,
    recordOf: (id: string) => Promise<PurgeRecord>,
  ) {
    this.#options = options;
    this.#recordOf = recordOf;
  }

  /** Whether purges can archive what they delete. */
  get isOn(): boolean {
    return this.#options.archives !== undefined;
  }

  /**
   * Finds the archive of a purge that has ended.
   *
   * @param isInUse whether the archive is being restored; if so, it is kept although it may have expired
   * @throws JobNotFoundError, ArchiveNotFoundError, ArchiveInUseError while the purge is running
   */
  async find(id: string, isInUse = false) {
    const { archives, clock } = this.#options;
    const record = await this.#recordOf(id);
    const { archive } = record;
    if (!isFinal(record.state)) throw new ArchiveInUseError(id, record.state);
    const hasExpired = !isInUse && Date.parse(archive?.expiresAt ?? '') < clock.now();
    const isGone = archive?.erasedAt !== undefined || hasExpired;
    if (archives === undefined || archive === undefined || isGone) throw new ArchiveNotFoundError(record);
    return { archives, record: { ...record, archive } };
  }

  /**
   * Opens the archive of a purge that has ended.
   *
   * @param isInUse as in find()
   * @throws as find(), ArchiveUnavailableError; ArchiveUnreadableError if no part of the archive is found
   */
  async open(
    id: string,
    isInUse = false,
  ): Promise<{ readonly reader: ArchiveReader; readonly record: PurgeRecord }> {
    const { archives, record } = await this.find(id, isInUse);
    const reader = archives.reader(archiveOf(record));
    if ((await reader.segments()).length > 0) return { reader, record };
    throw new ArchiveUnreadableError(ARCHIVE_NOT_FOUND);
  }

  /** Reads an archive, one entity per line. Resolves after the first line has been read. @throws as open() */
  async read(id: string): Promise<AsyncIterable<string>> {
    const { reader } = await this.open(id);
    const lines = reader.entities();
    const first = await lines.next();
    return (async function* () {
      if (first.done === true) return;
      yield `${first.value.line}\n`;
      for await (const { line } of lines) yield `${line}\n`;
    })();
  }

  /** Erases an archive, and notes that in the record. @throws as find() */
  async erase(id: string): Promise<void> {
    const { store, clock } = this.#options;
    const { archives } = await this.find(id);
    await archives.erase(id);
    const erasedAt = new Date(clock.now()).toISOString();
    const amended = await store.amend(id, (record) =>
      record.archive === undefined ? record : { ...record, archive: { ...record.archive, erasedAt } },
    );
    if (amended === undefined) throw new JobNotFoundError('purge', id);
  }

  /**
   * Begins the archive of a purge, or continues the one that an earlier process began.
   *
   * @returns undefined if nothing will be archived
   * @throws ArchiveUnavailableError, ArchiveUnreadableError if the archive is required and cannot be begun
   */
  async begin(
    live: LiveJob<PurgeRecord>,
    { archive, unit }: Pick<PreparedPurge, 'archive' | 'unit'>,
  ): Promise<PurgeArchive | undefined> {
    const { archives } = this.#options;
    if (archives === undefined) return undefined;
    const isRequired = archive === 'required';
    try {
      const writer = await archives.writer(archiveOf(live.record), live.lease.number, archivedKeys(unit));
      return { isRequired, writer };
    } catch (error) {
      if (isRequired || !(error instanceof GatewayError)) throw error;
      live.warn(`Nothing was archived. ${error.message}`);
      return undefined;
    }
  }

  /** Writes the list of segments. A purge that has to stop does not wait for it. */
  async finish(live: LiveJob<PurgeRecord>, { writer }: PurgeArchive, stopped: AbortSignal): Promise<void> {
    // If the lease is taken, the process that continues the purge lists the segments of both.
    if (!live.lease.isTaken) await unlessStopped(writer.finish(), stopped).catch(() => {});
    this.note(live, writer.counts);
  }

  /**
   * Notes what an earlier process archived, since it may have been killed before it could do so itself. Never throws:
   * if the archive cannot be read, a warning in the record says so.
   */
  async settle(live: LiveJob<PurgeRecord>): Promise<void> {
    const { archives } = this.#options;
    if (archives === undefined || live.record.dryRun) return;
    try {
      const counts = await archives.complete(archiveOf(live.record), live.lease.number);
      if (counts.bytes > 0) this.note(live, counts);
    } catch (error) {
      const why = error instanceof GatewayError ? ` ${error.message}` : '';
      live.warn(`What was archived could not be counted.${why}`);
    }
  }

  /**
   * Notes in the record what is archived. The archive expires some days after the end of the purge; until then, the
   * date is counted from now.
   */
  note(live: LiveJob<PurgeRecord>, counts: ArchiveCounts): void {
    const { archives, clock, historyDays } = this.#options;
    if (archives === undefined || counts.bytes === 0) {
      live.set({ archive: undefined });
      return;
    }
    const keptMs = Math.min(archives.keepDays, historyDays) * DAY_MS;
    live.set({ archive: { ...counts, expiresAt: new Date(clock.now() + keptMs).toISOString() } });
  }
}

const DAY_MS = 86_400_000;

/** Identifies an archive, with what the record of its purge says about it. */
function archiveOf(record: PurgeRecord) {
  return { purge: record.id, target: targetOf(record), recorded: record.archive };
}
