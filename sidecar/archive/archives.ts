import { randomUUID } from 'node:crypto';
import { isDoneWithin, systemClock, type Clock } from '../shared/clock.js';
import { defined } from '../shared/defined.js';
import { isObject } from '../shared/json/json.js';
import { parseJson } from '../shared/json/lossless-json.js';
import { ArchiveReader, type ArchiveReaderOptions } from './archive-reader.js';
import {
  METADATA_NAME,
  type ArchiveCounts,
  ArchiveWriter,
  type ArchiveContent,
  type ArchivedLine,
} from './archive-writer.js';
import type { ArchiveCipher } from './cipher.js';
import { DigestTable } from './digest-table.js';
import { ArchiveUnavailableError } from './errors.js';
import { parseLine } from './lines.js';
import type { ArchiveStorage } from './storage.js';

export interface ArchivesOptions {
  readonly storage: ArchiveStorage;
  readonly cipher: ArchiveCipher;
  /** How many days archives are kept after the end of their purge. */
  readonly keepDays: number;
  /** @default the clock of the system */
  readonly clock?: Pick<Clock, 'now'>;
  readonly onFailed?: (error: ArchiveUnavailableError) => void;
  /** Called for each expired archive that cannot be removed. Must not throw. */
  readonly onNotRemoved?: (error: unknown, purge: string) => void;
}

/** Identifies an archive by its purge. */
export interface ArchiveReference {
  /** The id of the purge: a UUID, so it can be used as a folder name. */
  readonly purge: string;
  readonly target: 'entities' | 'temporal';
  /**
   * What the record says about the archive; if any of that is missing, the archive is unreadable. The list of segments
   * matters to readers only.
   */
  readonly recorded?: ArchiveReaderOptions['recorded'];
}

const PURGE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const DAY_MS = 86_400_000;

/** The check must end soon: the gateway cannot start before it, and has to say why if it fails. */
const CHECK_TIMEOUT_MS = 12_000;

/** The archives of all purges, in one folder or bucket. */
export class Archives {
  #isClosed = false;

  constructor(private readonly options: ArchivesOptions) {}

  get keepDays(): number {
    return this.options.keepDays;
  }

  /** Writes an object, reads it and removes it. @throws ArchiveUnavailableError, also if that takes too long */
  async check(timeoutMs = CHECK_TIMEOUT_MS): Promise<void> {
    if (await isDoneWithin(systemClock, timeoutMs, this.#writeAndReadBack())) return;
    const seconds = String(timeoutMs / 1000);
    throw new ArchiveUnavailableError(`The archive storage did not answer within ${seconds} seconds.`);
  }

  async #writeAndReadBack(): Promise<void> {
    const { storage } = this.options;
    const folder = `check-${randomUUID()}`;
    const bytes = Buffer.from('The gateway checks whether it can write, read and remove here.\n');
    await storage.put(`${folder}/check`, bytes);
    const read = await storage.get(`${folder}/check`);
    await storage.remove(folder);
    if (read?.equals(bytes) !== true) throw new Error('what was written there could not be read again');
  }

  /**
   * Starts writing the archive of a purge, or continues with everything that earlier processes wrote. The list in the
   * record is not used, because it is older than what a killed process has archived.
   *
   * @param epoch increases with each process that works on the purge
   * @param keysOf returns the keys and digests of what a line contains
   * @throws ArchiveUnavailableError, ArchiveUnreadableError if the existing archive cannot be read
   */
  async writer(
    of: ArchiveReference,
    epoch: number,
    keysOf: (id: string, line: string) => ArchivedLine['parts'],
  ): Promise<ArchiveWriter> {
    const { storage, cipher, keepDays, clock = systemClock, onFailed = () => {} } = this.options;
    const reader = this.reader({ ...of, recorded: defined({ segments: of.recorded?.segments }) });
    const existing = await this.#readExisting(reader, keysOf);
    const metadata = {
      format: 'ngsi-ld-gateway archive',
      version: 1,
      purge: of.purge,
      target: of.target,
      keepDays,
    };
    return new ArchiveWriter({
      storage,
      cipher,
      epoch,
      existing,
      onFailed,
      folder: of.purge,
      metadata,
      clock,
    });
  }

  /**
   * Completes the archive of a writer that died: reads what it contains, and writes the list of its segments.
   *
   * @param epoch increases with each process that works on the purge
   * @throws ArchiveUnavailableError, ArchiveUnreadableError
   */
  async complete(of: ArchiveReference, epoch: number): Promise<ArchiveCounts> {
    const writer = await this.writer(of, epoch, (id) => new Map([[id, 1]]));
    await writer.finish();
    return writer.counts;
  }

  reader({ purge, target, recorded }: ArchiveReference): ArchiveReader {
    if (!PURGE_ID.test(purge)) throw new Error('The id of a purge is expected.');
    const { storage, cipher } = this.options;
    return new ArchiveReader({
      storage,
      cipher,
      folder: purge,
      recorded,
      isTemporal: target === 'temporal',
    });
  }

  /**
   * Removes an archive. The object with its time is removed last, so that a partly removed archive can be removed later.
   *
   * @throws ArchiveUnavailableError
   */
  async erase(purge: string): Promise<void> {
    if (PURGE_ID.test(purge)) await this.options.storage.remove(purge, METADATA_NAME);
  }

  /**
   * Removes expired archives. If one cannot be removed, the others still are.
   *
   * @param isExpired whether the archive of a purge has expired; undefined for a purge without a record, whose archive is
   * removed when it is old enough
   * @throws ArchiveUnavailableError if the archives cannot be listed, and any error from isDue
   */
  async removeExpired(
    isExpired: (purge: string) => Promise<boolean | undefined>,
    nowMs: number,
  ): Promise<void> {
    const { storage, onNotRemoved = () => {} } = this.options;
    for (const purge of await storage.folders()) {
      if (this.#isClosed) return;
      if (!PURGE_ID.test(purge)) continue;
      await this.#removeIfExpired(purge, await isExpired(purge), nowMs).catch((error: unknown) => {
        if (!this.#isClosed) onNotRemoved(error, purge);
      });
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.options.storage.close();
  }

  async #removeIfExpired(purge: string, isExpired: boolean | undefined, nowMs: number): Promise<void> {
    if (isExpired ?? (await this.#isExpired(purge, nowMs))) await this.erase(purge);
  }

  /**
   * Whether an archive is old enough, by its own description: other gateways may keep archives in the same bucket, with
   * their own records.
   */
  async #isExpired(purge: string, nowMs: number): Promise<boolean> {
    const metadata = await this.options.storage.get(`${purge}/${METADATA_NAME}`);
    if (metadata === undefined) return false;
    try {
      const parsed = parseJson(metadata.toString('utf8'));
      if (!isObject(parsed)) return false;
      const { writtenAt, keepDays } = parsed;
      if (typeof writtenAt !== 'string' || typeof keepDays !== 'number') return false;
      // One more day, because the purge may have ended later.
      return Date.parse(writtenAt) + (keepDays + 1) * DAY_MS < nowMs;
    } catch {
      return false;
    }
  }

  async #readExisting(
    reader: ArchiveReader,
    keysOf: (id: string, line: string) => ArchivedLine['parts'],
  ): Promise<ArchiveContent> {
    const digests = new DigestTable();
    const entities = new DigestTable();
    let wholeEntities = 0;
    for await (const line of reader.lines()) {
      const { id } = parseLine(line);
      for (const [key, digest] of keysOf(id, line)) {
        const isNew = digests.set(key, digest);
        if (key !== id) entities.set(id, 1);
        else if (isNew) wholeEntities += 1;
      }
    }
    const { bytesRead: bytes, readSegments: segments, lastEpoch } = reader;
    return { digests, entities, wholeEntities, bytes, segments, lastEpoch };
  }
}
