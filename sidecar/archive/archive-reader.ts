import { yieldToEventLoop } from '../shared/event-loop.js';
import type { ArchiveCounts } from './archive-writer.js';
import type { ArchiveCipher } from './cipher.js';
import { DigestTable } from './digest-table.js';
import { ArchiveUnreadableError } from './errors.js';
import { mergeLines, parseLine, type ArchivedEntity } from './lines.js';
import {
  segmentListEpoch,
  segmentListName,
  parseSegmentList,
  type SegmentList,
  parseSegmentName,
  sha256,
  decompressLines,
} from './segment.js';
import type { ArchiveStorage } from './storage.js';

export interface ArchiveReaderOptions {
  readonly storage: ArchiveStorage;
  readonly cipher: ArchiveCipher;
  readonly folder: string;
  /** What the record of the purge says about the archive; undefined if it says nothing. */
  readonly recorded?: Partial<Pick<ArchiveCounts, 'segments' | 'listDigest'>> | undefined;
  /** Whether the archive holds histories, in which an attribute may have several instances of one dataset. */
  readonly isTemporal: boolean;
}

export const ARCHIVE_NOT_FOUND =
  'The archive is not where this gateway keeps its archives: ARCHIVE_URL has changed, differs from that of the gateway that wrote it, or somebody removed it there.';

/** Maximum size of the lines held while waiting for the last line of their entity, in characters; others need another pass. */
const MAX_HELD_CHARS = 32 * 1024 * 1024;

/** Number of lines read in one turn of the event loop. */
const LINES_PER_TURN = 200;

/** Reads the archive of one purge. Every segment is verified as a whole before any of it is used. */
export class ArchiveReader {
  #bytesRead = 0;
  readonly #readSegments = new Map<string, string>();
  #expected: SegmentList | undefined;
  #lastEpoch = -1;
  #unlisted = 0;

  constructor(private readonly options: ArchiveReaderOptions) {}

  /**
   * Returns the names of the segments, oldest first; none if there is no archive. If the record has the digest of a
   * list of segments, other segments are ignored: someone added them, or a process that had lost the purge wrote them.
   *
   * @throws ArchiveUnavailableError; ArchiveUnreadableError if segments are missing
   */
  async segments(): Promise<readonly string[]> {
    const { storage, folder, recorded } = this.options;
    const names = (await storage.list(folder)).map((name) => name.slice(folder.length + 1));
    const found = names.flatMap((name) => {
      const place = parseSegmentName(name);
      return place === undefined ? [] : [{ name, ...place }];
    });
    await this.#requireComplete(names, found.length);
    const listed = names.flatMap((name) => segmentListEpoch(name) ?? []);
    this.#lastEpoch = Math.max(-1, ...listed, ...found.map(({ epoch }) => epoch));
    const own =
      recorded?.listDigest === undefined
        ? found
        : found.filter(({ name }) => this.#expected?.has(name) === true);
    this.#unlisted = found.length - own.length;
    const inOrder = own.sort((one, other) => one.epoch - other.epoch || one.number - other.number);
    return inOrder.map(({ name }) => `${folder}/${name}`);
  }

  /** @throws ArchiveUnreadableError if something is missing that is in the last list of segments, or in the record */
  async #requireComplete(names: readonly string[], found: number): Promise<void> {
    const { storage, folder, recorded = {} } = this.options;
    if (names.length === 0) {
      if ((recorded.segments ?? 0) > 0) throw new ArchiveUnreadableError(ARCHIVE_NOT_FOUND);
      return;
    }
    const [last] = names.flatMap((name) => segmentListEpoch(name) ?? []).sort((one, other) => other - one);
    const text = last === undefined ? undefined : await storage.get(`${folder}/${segmentListName(last)}`);
    const { segments = 0, listDigest } = recorded;
    if (listDigest !== undefined && (text === undefined || sha256(text) !== listDigest))
      throw new ArchiveUnreadableError(
        'The archive is damaged: the list of its segments is missing, or was changed.',
      );
    this.#expected = text === undefined ? undefined : parseSegmentList(text.toString('utf8'));
    const there = new Set(names);
    const missing = [...(this.#expected?.keys() ?? [])].filter((name) => !there.has(name));
    if (missing.length > 0)
      throw new ArchiveUnreadableError(
        `The archive is not whole: ${String(missing.length)} of its ${String(this.#expected?.size)} segments are missing (${missing.slice(0, 5).join(', ')}).`,
      );
    if (found < segments)
      throw new ArchiveUnreadableError(
        `The archive is incomplete: it has ${String(found)} of at least ${String(segments)} segments.`,
      );
  }

  get readSegments(): SegmentList {
    return this.#readSegments;
  }

  /** The highest epoch in the archive when it was last listed; -1 if there is none. */
  get lastEpoch(): number {
    return this.#lastEpoch;
  }

  /** The number of segments that are ignored, see segments(). */
  get unlisted(): number {
    return this.#unlisted;
  }

  /** Total stored size of the segments read so far, in bytes. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Yields all lines as they were written. @throws ArchiveUnavailableError, ArchiveUnreadableError */
  async *lines(): AsyncGenerator<string, void> {
    const { storage, cipher } = this.options;
    for (const name of await this.segments()) {
      const bytes = await storage.get(name);
      if (bytes === undefined)
        throw new ArchiveUnreadableError('The archive was erased while it was being read.');
      this.#bytesRead += bytes.length;
      const [segment, digest] = [name.slice(this.options.folder.length + 1), sha256(bytes)];
      this.#readSegments.set(segment, digest);
      if ((this.#expected?.get(segment) ?? digest) !== digest)
        throw new ArchiveUnreadableError(`The archive is damaged: segment ${name} was changed.`);
      let read = 0;
      for (const line of await decompressLines(await cipher.decrypt(bytes, name), name)) {
        yield line;
        read += 1;
        if (read % LINES_PER_TURN === 0) await yieldToEventLoop();
      }
    }
  }

  /**
   * Yields one line per entity, always in the same order; several lines of the same entity are merged.
   *
   * @throws as lines()
   */
  async *entities(): AsyncGenerator<{ readonly id: string; readonly line: string }, void> {
    const last = new DigestTable();
    const repeated = new DigestTable();
    let count = 0;
    for await (const line of this.lines()) {
      const { id } = parseLine(line);
      if (!last.set(id, count)) repeated.set(id, 1);
      count += 1;
    }
    for (
      let isFirst = true, deferred: DigestTable | undefined;
      isFirst || deferred !== undefined;
      isFirst = false
    )
      deferred = yield* this.#mergePass(last, repeated, deferred);
  }

  /**
   * @param only the entities left out by the previous pass; undefined for the first pass
   * @returns the entities left out by this pass
   */
  async *#mergePass(
    last: DigestTable,
    repeated: DigestTable,
    only: DigestTable | undefined,
  ): AsyncGenerator<{ readonly id: string; readonly line: string }, DigestTable | undefined> {
    const { isTemporal } = this.options;
    const held = new Map<string, ArchivedEntity>();
    let heldChars = 0;
    let deferred: DigestTable | undefined;
    let lineNumber = -1;
    for await (const line of this.lines()) {
      lineNumber += 1;
      const { id, entity } = parseLine(line);
      if (only !== undefined && only.get(id) === undefined) continue;
      if (repeated.get(id) === undefined) {
        yield { id, line };
        continue;
      }
      const before = held.get(id);
      if (deferred?.get(id) !== undefined) continue;
      if (before === undefined && heldChars > MAX_HELD_CHARS) {
        deferred ??= new DigestTable();
        deferred.set(id, 1);
        continue;
      }
      const merged = before === undefined ? entity : mergeLines(before, entity, isTemporal);
      heldChars += line.length;
      if (last.get(id) !== lineNumber) {
        held.set(id, merged);
        continue;
      }
      held.delete(id);
      if (held.size === 0) heldChars = 0;
      yield { id, line: JSON.stringify(merged) };
    }
    return deferred;
  }
}
