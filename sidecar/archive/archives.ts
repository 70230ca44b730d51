import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { defined } from '../shared/defined.js';
import { isObject } from '../shared/json/json.js';
import { parseJson } from '../shared/json/lossless-json.js';
import { ArchiveReader, type ArchiveReaderOptions } from './archive-reader.js';
import {
  ABOUT,
  type ArchiveCounts,
  ArchiveWriter,
  type Archived,
  type ArchivedLine,
} from './archive-writer.js';
import type { ArchiveCipher } from './cipher.js';
import { DigestTable } from './digest-table.js';
import { ArchiveUnavailableError } from './errors.js';
import { readLine } from './lines.js';
import type { ArchiveStorage } from './storage.js';

export interface ArchivesOptions {
  readonly storage: ArchiveStorage;
  readonly cipher: ArchiveCipher;
  /** Archives are kept so long after the end of their purge. */
  readonly keepDays: number;
  readonly onFailed?: (error: ArchiveUnavailableError) => void;
  /** Called for each archive that is due and cannot be removed. Must not throw. */
  readonly onNotRemoved?: (error: unknown, purge: string) => void;
}

/** Of which purge an archive is. */
export interface ArchiveOf {
  /** The id of the purge: a UUID, so that it can be the name of a folder. */
  readonly purge: string;
  readonly target: 'entities' | 'temporal';
  /** What its record says of it: what is missing of that makes it unreadable. The list of segments counts for readers only. */
  readonly said?: ArchiveReaderOptions['said'];
}

const PURGE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const DAY_MS = 86_400_000;

/** Somebody waits for the gateway to start, or for a clear line that says why it does not. */
const CHECK_MS = 12_000;

/** The archives of all purges, in one folder or bucket. */
export class Archives {
  readonly #options: ArchivesOptions;
  #isClosed = false;

  constructor(options: ArchivesOptions) {
    this.#options = options;
  }

  get keepDays(): number {
    return this.#options.keepDays;
  }

  /** Writes something, reads it and removes it. @throws ArchiveUnavailableError, also when that takes too long */
  async check(withinMs = CHECK_MS): Promise<void> {
    const timer = new AbortController();
    const late = setTimeout(withinMs, undefined, { signal: timer.signal, ref: false }).then(() => {
      const seconds = String(withinMs / 1000);
      throw new ArchiveUnavailableError(
        `The place of the archives did not answer within ${seconds} seconds.`,
      );
    });
    late.catch(() => {});
    try {
      await Promise.race([this.#tryOut(), late]);
    } finally {
      timer.abort();
    }
  }

  async #tryOut(): Promise<void> {
    const { storage } = this.#options;
    const folder = `check-${randomUUID()}`;
    const bytes = Buffer.from('The gateway checks whether it can write, read and remove here.\n');
    await storage.put(`${folder}/check`, bytes);
    const read = await storage.get(`${folder}/check`);
    await storage.remove(folder);
    if (read?.equals(bytes) !== true) throw new Error('what was written there cannot be read');
  }

  /**
   * Begins to write the archive of a purge, or goes on with all that earlier processes wrote: the list that the record knows of is
   * older than what was archived by a process that was killed.
   *
   * @param epoch grows with each process that works on the purge
   * @param keysOf what a line of it stands for
   * @throws ArchiveUnavailableError, ArchiveUnreadableError when what is there already cannot be read
   */
  async writer(
    of: ArchiveOf,
    epoch: number,
    keysOf: (id: string, line: string) => ArchivedLine['parts'],
  ): Promise<ArchiveWriter> {
    const { storage, cipher, keepDays, onFailed = () => {} } = this.#options;
    const reader = this.reader({ ...of, said: defined({ segments: of.said?.segments }) });
    const before = await this.#archived(reader, keysOf);
    const about = {
      format: 'ngsi-ld-gateway archive',
      version: 1,
      purge: of.purge,
      target: of.target,
      keepDays,
      createdAt: new Date().toISOString(),
    };
    return new ArchiveWriter({
      storage,
      cipher,
      epoch,
      before,
      onFailed,
      folder: of.purge,
      about: `${JSON.stringify(about)}\n`,
    });
  }

  /**
   * What an archive holds, by reading it, whose writer died; its segments are listed from then on.
   *
   * @param epoch grows with each process that works on the purge
   * @throws ArchiveUnavailableError, ArchiveUnreadableError
   */
  async settle(of: ArchiveOf, epoch: number): Promise<ArchiveCounts> {
    const writer = await this.writer(of, epoch, (id) => new Map([[id, 1]]));
    await writer.finish();
    return writer.counts;
  }

  reader({ purge, target, said }: ArchiveOf): ArchiveReader {
    if (!PURGE_ID.test(purge)) throw new Error('The id of a purge is expected.');
    const { storage, cipher } = this.#options;
    return new ArchiveReader({ storage, cipher, folder: purge, said, isTemporal: target === 'temporal' });
  }

  /**
   * What says how old an archive is goes last: the rest of one that was removed in part is removed later.
   *
   * @throws ArchiveUnavailableError
   */
  async erase(purge: string): Promise<void> {
    if (PURGE_ID.test(purge)) await this.#options.storage.remove(purge, ABOUT);
  }

  /**
   * Removes archives that are due. One that cannot be removed does not keep others from it.
   *
   * @param isDue whether the archive of a purge is due; undefined for a purge without a record, whose archive is removed when it
   * is old enough
   * @throws ArchiveUnavailableError where they cannot be listed, and what isDue throws
   */
  async sweep(isDue: (purge: string) => Promise<boolean | undefined>, nowMs: number): Promise<void> {
    const { storage, onNotRemoved = () => {} } = this.#options;
    for (const purge of await storage.folders()) {
      if (this.#isClosed) return;
      if (!PURGE_ID.test(purge)) continue;
      await this.#removeIfDue(purge, await isDue(purge), nowMs).catch((error: unknown) => {
        if (!this.#isClosed) onNotRemoved(error, purge);
      });
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#options.storage.close();
  }

  async #removeIfDue(purge: string, isDue: boolean | undefined, nowMs: number): Promise<void> {
    if (isDue ?? (await this.#isOld(purge, nowMs))) await this.erase(purge);
  }

  /** Others may keep archives in the same bucket, with a record of their own: what an archive says of itself decides. */
  async #isOld(purge: string, nowMs: number): Promise<boolean> {
    const about = await this.#options.storage.get(`${purge}/${ABOUT}`);
    if (about === undefined) return false;
    try {
      const said = parseJson(about.toString('utf8'));
      if (!isObject(said)) return false;
      const { createdAt, keepDays } = said;
      if (typeof createdAt !== 'string' || typeof keepDays !== 'number') return false;
      // Its purge may have taken a while.
      return Date.parse(createdAt) + (keepDays + 1) * DAY_MS < nowMs;
    } catch {
      return false;
    }
  }

  async #archived(
    reader: ArchiveReader,
    keysOf: (id: string, line: string) => ArchivedLine['parts'],
  ): Promise<Archived> {
    const digests = new DigestTable();
    const entities = new DigestTable();
    let wholes = 0;
    for await (const line of reader.lines()) {
      const { id } = readLine(line);
      for (const [key, digest] of keysOf(id, line)) {
        const isNew = digests.set(key, digest);
        if (key !== id) entities.set(id, 1);
        else if (isNew) wholes += 1;
      }
    }
    return { digests, entities, wholes, bytes: reader.bytesRead, segments: reader.read };
  }
}
