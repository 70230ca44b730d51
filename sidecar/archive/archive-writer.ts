import type { Clock } from '../shared/clock.js';
import type { ArchiveCipher } from './cipher.js';
import { type DigestTable, digestOf } from './digest-table.js';
import { ArchiveUnavailableError } from './errors.js';
import {
  segmentListName,
  compressLines,
  parseSegmentName,
  type SegmentList,
  segmentName,
  sha256,
  formatSegmentList,
} from './segment.js';
import type { ArchiveStorage } from './storage.js';

/** What is archived of one entity, as one line. */
export interface ArchivedLine {
  readonly entityId: string;
  readonly text: string;
  /** The keys of what may be deleted once the line is durable, each with a digest of its content. */
  readonly parts: ReadonlyMap<string, number>;
}

/** What an archive contains so far. */
export interface ArchiveCounts {
  /** Number of entities, each counted once, however often it was archived. */
  readonly entities: number;
  /** Size as stored. */
  readonly bytes: number;
  readonly segments: number;
  /** SHA-256 of the list of segments, in hex; set once the list is written. */
  readonly listDigest?: string;
}

export interface ArchiveWriterOptions {
  readonly storage: ArchiveStorage;
  readonly cipher: ArchiveCipher;
  /** The folder for the segments: the id of the purge. */
  readonly folder: string;
  /** Increases with each process that works on the purge, so that segment names of different processes never collide. */
  readonly epoch: number;
  /** The description of the archive, without the time at which it is written. */
  readonly metadata: object;
  readonly clock: Pick<Clock, 'now'>;
  /** What earlier processes have archived. */
  readonly existing: ArchiveContent;
  /** Called for each segment that could not be stored. */
  readonly onFailed: (error: ArchiveUnavailableError) => void;
}

/** The durable content of an archive, by key. */
export interface ArchiveContent {
  /** Digests by key; 0 if the archive only has an outdated version. */
  readonly digests: DigestTable;
  /** The entities of archived parts. A purge archives either whole entities, whose keys are their ids, or parts of entities. */
  readonly entities: DigestTable;
  readonly wholeEntities: number;
  readonly bytes: number;
  readonly segments: SegmentList;
  /** The highest epoch of the processes that wrote it; -1 if there is none. */
  readonly lastEpoch: number;
}

/** A segment is closed when it has this many lines or characters. */
const MAX_LINES = 4000;
const MAX_CHARS = 8 * 1024 * 1024;

/** Maximum number of segments being stored at the same time, besides the one being filled. */
const MAX_STORING = 2;

/** After this many failed segments in a row, the archive is abandoned. */
const MAX_FAILED = 3;

/** How often a part may change before it is durable; beyond this, it changes faster than it can be archived. */
const MAX_VERSIONS = 20;

/** The age at which the description is written again, in milliseconds. */
const DESCRIBE_EVERY_MS = 3_600_000;

interface Segment {
  readonly lines: string[];
  readonly parts: Map<string, Part>;
  chars: number;
}

interface Part {
  readonly entityId: string;
  readonly digest: number;
}

/**
 * Writes the archive of one purge, segment by segment. What it reports as archived is durable, in the version added
 * last. Its memory is bounded: the segments in progress, plus sixteen bytes per part.
 */
export class ArchiveWriter {
  readonly #options: ArchiveWriterOptions;
  readonly #salt: Buffer;
  readonly #digests: DigestTable;
  readonly #entities: DigestTable;
  #wholeEntities: number;
  /** Parts that are not durable yet, in the version added last. */
  readonly #pending = new Map<string, Part>();
  /** How often parts have changed since they were last durable. */
  readonly #versions = new Map<string, number>();
  #bytes: number;
  /** The stored segments, with their SHA-256. */
  readonly #segments: Map<string, string>;
  #listDigest: string | undefined;
  #openSegment = newSegment();
  #storing = new Set<Promise<void>>();
  /** Not lower than those of earlier processes. */
  readonly #epoch: number;
  /** The number of the next segment. */
  #number: number;
  #describedMs = -Infinity;
  #failedInARow = 0;
  #failure: ArchiveUnavailableError | undefined;

  constructor(options: ArchiveWriterOptions) {
    this.#options = options;
    this.#salt = options.cipher.salt();
    this.#digests = options.existing.digests;
    this.#entities = options.existing.entities;
    this.#wholeEntities = options.existing.wholeEntities;
    this.#bytes = options.existing.bytes;
    this.#segments = new Map(options.existing.segments);
    // A database that was restored, or copied, may give a process the number of an earlier one, or a lower one.
    const { epoch, existing } = options;
    this.#epoch = existing.lastEpoch > epoch ? existing.lastEpoch + 1 : epoch;
    const same = [...this.#segments.keys()].map(parseSegmentName).filter((one) => one?.epoch === this.#epoch);
    this.#number = Math.max(-1, ...same.map((one) => one?.number ?? -1)) + 1;
  }

  get counts(): ArchiveCounts {
    return {
      entities: this.#wholeEntities + this.#entities.size,
      bytes: this.#bytes,
      segments: this.#segments.size,
      ...(this.#listDigest === undefined ? {} : { listDigest: this.#listDigest }),
    };
  }

  /** Why the last failed segment could not be stored. */
  get failure(): ArchiveUnavailableError | undefined {
    return this.#failure;
  }

  /** Whether writing was abandoned because several segments in a row could not be stored. */
  get hasGivenUp(): boolean {
    return this.#failedInARow >= MAX_FAILED;
  }

  /** Whether the archive durably has a part, in the version added last. */
  has(key: string): boolean {
    return !this.#pending.has(key) && (this.#digests.get(key) ?? 0) !== 0;
  }

  /** Whether archiving a part again would add nothing. */
  isCurrent(key: string, digest: number): boolean {
    return (this.#pending.get(key)?.digest ?? this.#digests.get(key)) === digest;
  }

  /** Marks a part as not archived in its current state: what the archive has of it is outdated or incomplete. */
  invalidate(key: string): void {
    this.#pending.delete(key);
    if (this.#digests.get(key) !== undefined) this.#digests.set(key, 0);
  }

  /** Adds lines to the archive. They are durable after flush(). */
  async add(...lines: readonly ArchivedLine[]): Promise<void> {
    for (const line of lines) {
      if (!this.#append(line) || !this.#isFull()) continue;
      while (this.#storing.size >= MAX_STORING) await Promise.race(this.#storing);
      // Another caller may have closed the segment in the meantime.
      if (this.#isFull()) this.#closeSegment();
    }
  }

  /** Makes everything that was added durable, as far as possible. Never throws: use `has` to check the result. */
  async flush(): Promise<void> {
    if (this.#openSegment.lines.length > 0) this.#closeSegment();
    while (this.#storing.size > 0) await Promise.all(this.#storing);
  }

  /**
   * Writes the list of segments; nothing may be added afterwards. Never throws: without the list, a missing segment is
   * still noticed by the number of segments.
   */
  async finish(): Promise<void> {
    await this.flush();
    const { storage, folder, onFailed } = this.#options;
    if (this.#segments.size === 0 || this.#listDigest !== undefined) return;
    const text = formatSegmentList(this.#segments);
    try {
      await storage.put(`${folder}/${segmentListName(this.#epoch)}`, Buffer.from(text));
      this.#listDigest = sha256(text);
    } catch (error) {
      onFailed(toUnavailableError(error));
    }
  }

  #isFull(): boolean {
    return this.#openSegment.lines.length >= MAX_LINES || this.#openSegment.chars >= MAX_CHARS;
  }

  /** Adds a line to the open segment. @returns whether there was anything to add */
  #append({ entityId, text, parts }: ArchivedLine): boolean {
    const fresh = [...parts].filter(([key, digest]) => !this.isCurrent(key, digest));
    if (fresh.length === 0) return false;
    if (this.hasGivenUp) {
      // The durable version is now outdated.
      for (const [key] of fresh) if (this.#digests.get(key) !== undefined) this.#digests.set(key, 0);
      return false;
    }
    for (const [key, digest] of fresh) {
      if (this.#changesTooFast(key)) continue;
      const part = { digest, entityId };
      this.#pending.set(key, part);
      this.#openSegment.parts.set(key, part);
    }
    this.#openSegment.lines.push(text);
    this.#openSegment.chars += text.length;
    return true;
  }

  /** Whether a part has changed too often before it was durable. If so, the archive no longer counts as having it. */
  #changesTooFast(key: string): boolean {
    const isChange = this.#digests.get(key) !== undefined || this.#pending.has(key);
    if (!isChange) return false;
    const versions = (this.#versions.get(key) ?? 0) + 1;
    if (versions > 1 || this.#versions.size < 100_000) this.#versions.set(key, versions);
    if (versions <= MAX_VERSIONS || this.#digests.get(key) === 0) return false;
    this.#pending.delete(key);
    this.#digests.set(key, 0);
    return true;
  }

  #closeSegment(): void {
    const segment = this.#openSegment;
    this.#openSegment = newSegment();
    const stored = this.#storeSegment(segment, this.#number).finally(() => this.#storing.delete(stored));
    this.#number += 1;
    this.#storing.add(stored);
  }

  async #storeSegment({ lines, parts }: Segment, number: number): Promise<void> {
    const { onFailed } = this.#options;
    let isStored = false;
    try {
      await this.#putSegment(segmentName({ epoch: this.#epoch, number }), lines);
      this.#failedInARow = 0;
      isStored = true;
    } catch (error) {
      this.#failedInARow += 1;
      this.#failure = toUnavailableError(error);
      onFailed(this.#failure);
    }
    for (const [key, part] of parts) {
      // A later version is still to be stored, perhaps with the same content.
      if (this.#pending.get(key) !== part) continue;
      this.#pending.delete(key);
      if (!isStored && this.#digests.get(key) === undefined) continue;
      const isNew = this.#digests.set(key, isStored ? part.digest : 0);
      if (key !== part.entityId) this.#entities.set(part.entityId, 1);
      else if (isNew) this.#wholeEntities += 1;
    }
  }

  async #putSegment(name: string, lines: readonly string[]): Promise<void> {
    const { storage, cipher, folder } = this.#options;
    await this.#describe();
    const path = `${folder}/${name}`;
    const bytes = await cipher.encrypt(await compressLines(lines), path, this.#salt);
    await storage.put(path, bytes);
    this.#bytes += bytes.length;
    this.#segments.set(name, sha256(bytes));
  }

  /**
   * Writes the description before the first segment, and again from time to time: gateways that do not know the purge
   * remove its archive by the age of the description.
   */
  async #describe(): Promise<void> {
    const { storage, folder, metadata, clock } = this.#options;
    const nowMs = clock.now();
    if (nowMs - this.#describedMs < DESCRIBE_EVERY_MS) return;
    const text = JSON.stringify({ ...metadata, writtenAt: new Date(nowMs).toISOString() });
    await storage.put(`${folder}/${METADATA_NAME}`, Buffer.from(`${text}\n`));
    this.#describedMs = nowMs;
  }
}

function newSegment(): Segment {
  return { lines: [], parts: new Map(), chars: 0 };
}

/** The object that describes an archive. */
export const METADATA_NAME = 'archive.json';

/** Makes the line of a whole entity. @param text as received from the broker */
export function entityLine(entityId: string, text: string): ArchivedLine {
  return { entityId, text, parts: new Map([[entityId, digestOf(text)]]) };
}

function toUnavailableError(error: unknown): ArchiveUnavailableError {
  if (error instanceof ArchiveUnavailableError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new ArchiveUnavailableError(`A segment of the archive cannot be written: ${why}`, { cause: error });
}
