import { ArchiveUnreadableError, NOT_HERE, type ArchiveReader, type Archives } from '../archive/index.js';
import { isFinal, type ArchiveSummary, type PurgeRecord, type Jobs } from '../store/index.js';
import type { Clock } from '../shared/clock.js';
import { targetOf } from './purge-record.js';
import { ArchiveInUseError, ArchiveNotFoundError, JobNotFoundError } from './errors.js';

export interface ArchiveServiceOptions {
  /** Undefined where none are kept. */
  readonly archives: Archives | undefined;
  readonly store: Pick<Jobs, 'amend'>;
  /** The record of a purge. @throws JobNotFoundError */
  readonly recordOf: (id: string) => Promise<PurgeRecord>;
  readonly clock: Pick<Clock, 'now'>;
}

/** A purge that has ended, and its archive. */
export interface ArchivedPurge {
  readonly record: PurgeRecord & { readonly archive: ArchiveSummary };
  readonly archives: Archives;
}

/** The archives of purges, for those who read, erase or restore them. */
export class ArchiveService {
  readonly #options: ArchiveServiceOptions;

  constructor(options: ArchiveServiceOptions) {
    this.#options = options;
  }

  /** Whether purges can archive what they delete. */
  get isOn(): boolean {
    return this.#options.archives !== undefined;
  }

  /**
   * Finds the archive of a purge that has ended.
   *
   * @throws JobNotFoundError, ArchiveNotFoundError, ArchiveInUseError while the purge is at work
   */
  async find(id: string): Promise<ArchivedPurge> {
    const { archives, recordOf, clock } = this.#options;
    const record = await recordOf(id);
    const { archive } = record;
    if (!isFinal(record.state)) throw new ArchiveInUseError(id, record.state);
    const isGone = archive?.erasedAt !== undefined || Date.parse(archive?.expiresAt ?? '') < clock.now();
    if (archives === undefined || archive === undefined || isGone) throw new ArchiveNotFoundError(record);
    return { archives, record: { ...record, archive } };
  }

  /**
   * Opens the archive of a purge that has ended.
   *
   * @throws as find(), ArchiveUnavailableError; ArchiveUnreadableError where nothing of it is here
   */
  async open(id: string): Promise<{ readonly reader: ArchiveReader; readonly record: PurgeRecord }> {
    const { archives, record } = await this.find(id);
    const reader = archives.reader({ purge: id, target: targetOf(record), said: record.archive });
    if ((await reader.segments()).length > 0) return { reader, record };
    throw new ArchiveUnreadableError(NOT_HERE);
  }

  /**
   * What was archived, one entity a line. The first line was read when this resolves.
   *
   * @throws as open()
   */
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

  /** Erases what was archived; the record says so. Nothing happens where there is nothing any more. @throws as find() */
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
}
