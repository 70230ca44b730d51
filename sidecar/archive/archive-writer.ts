import type { ArchiveCipher } from './cipher.js';
import { type DigestTable, digestOf } from './digest-table.js';
import { ArchiveUnavailableError } from './errors.js';
import { listName, packLines, type SegmentList, segmentName, sha256, writeList } from './segment.js';
import type { ArchiveStorage } from './storage.js';

/** What is archived of one entity, in one line. */
export interface ArchivedLine {
  readonly entityId: string;
  /** The line; empty where other lines have all that the keys stand for. */
  readonly text: string;
  /** What may be deleted once the line is durable, with a digest of what it holds. */
  readonly parts: ReadonlyMap<string, number>;
  /** Of parts that earlier lines have: `failures` when the first of those was added. They are lost if any segment was since. */
  readonly since?: number;
}

/** What an archive holds so far. */
export interface ArchiveCounts {
  /** Each counted once, however often it was archived. */
  readonly entities: number;
  /** As stored. */
  readonly bytes: number;
  readonly segments: number;
  /** SHA-256 of the list of segments, in hex; where there is one. */
  readonly listDigest?: string;
}

export interface ArchiveWriterOptions {
  readonly storage: ArchiveStorage;
  readonly cipher: ArchiveCipher;
  /** Where the segments go: the id of the purge. */
  readonly folder: string;
  /** Grows with each process that works on the purge: their segments never have the same names. */
  readonly epoch: number;
  /** Written before the first segment. */
  readonly about: string;
  /** What earlier processes have archived. */
  readonly before: Archived;
  /** Called for each segment that could not be stored. */
  readonly onFailed: (error: ArchiveUnavailableError) => void;
}

/** What is durable, by key. */
export interface Archived {
  /** Digests by key; 0 for what is there in an earlier version. */
  readonly digests: DigestTable;
  /** Those of parts. A purge archives either whole entities, whose keys are their ids, or parts of entities. */
  readonly entities: DigestTable;
  /** Number of entities that were archived whole. */
  readonly wholes: number;
  readonly bytes: number;
  readonly segments: SegmentList;
}

/** A segment is closed at so many lines or characters. */
const MAX_LINES = 4000;
const MAX_CHARS = 8 * 1024 * 1024;

/** Segments that are stored at a time, beside the one that is filled. */
const MAX_STORING = 2;

/** Segments in a row that cannot be stored, before the archive is given up. */
const MAX_FAILED = 3;

/** How often the same part may change before it is durable: then it changes faster than it can be archived. */
const MAX_VERSIONS = 20;

interface Segment {
  readonly lines: string[];
  readonly parts: Map<string, Part>;
  chars: number;
}

interface Part {
  readonly entityId: string;
  readonly digest: number;
  readonly since: number | undefined;
}

/**
 * Writes the archive of one purge, segment by segment. What it says to have is durable, in the version that was added last. Its
 * memory is bounded by the segments under way, and sixteen bytes for each part.
 */
export class ArchiveWriter {
  readonly #options: ArchiveWriterOptions;
  readonly #salt: Buffer;
  readonly #digests: DigestTable;
  readonly #entities: DigestTable;
  #wholes: number;
  /** The digests of what is not durable yet. */
  readonly #pending = new Map<string, number>();
  /** How often parts have changed since they were durable. */
  readonly #versions = new Map<string, number>();
  #bytes: number;
  /** Those that are stored. */
  readonly #segments: Map<string, string>;
  #listDigest: string | undefined;
  #open = newSegment();
  #storing = new Set<Promise<void>>();
  #last: Promise<void> = Promise.resolve();
  #number = 0;
  #isDescribed = false;
  #failed = 0;
  #failedInARow = 0;
  #failure: ArchiveUnavailableError | undefined;

  constructor(options: ArchiveWriterOptions) {
    this.#options = options;
    this.#salt = options.cipher.salt();
    this.#digests = options.before.digests;
    this.#entities = options.before.entities;
    this.#wholes = options.before.wholes;
    this.#bytes = options.before.bytes;
    this.#segments = new Map(options.before.segments);
  }

  get counts(): ArchiveCounts {
    return {
      entities: this.#wholes + this.#entities.size,
      bytes: this.#bytes,
      segments: this.#segments.size,
      ...(this.#listDigest === undefined ? {} : { listDigest: this.#listDigest }),
    };
  }

  /** Segments that could not be stored. */
  get failures(): number {
    return this.#failed;
  }

  /** Why a segment could not be stored; of the last one. */
  get failure(): ArchiveUnavailableError | undefined {
    return this.#failure;
  }

  /** Nothing more is tried: several segments in a row could not be stored. */
  get hasGivenUp(): boolean {
    return this.#failedInARow >= MAX_FAILED;
  }

  /** Whether the archive has a part durably, as it was when it was added last. */
  has(key: string): boolean {
    return !this.#pending.has(key) && (this.#digests.get(key) ?? 0) !== 0;
  }

  /** Whether it would add nothing to archive a part again. */
  knows(key: string, digest: number): boolean {
    return (this.#pending.get(key) ?? this.#digests.get(key)) === digest;
  }

  /** A part is not archived as it is now, whatever the archive has of it: what is there is from before, or not all of it. */
  forget(key: string): void {
    this.#pending.delete(key);
    if (this.#digests.get(key) !== undefined) this.#digests.set(key, 0);
  }

  /** Archives lines. They are durable after seal(). */
  async add(...lines: readonly ArchivedLine[]): Promise<void> {
    for (const line of lines) {
      if (!this.#fill(line) || !this.#isFull()) continue;
      while (this.#storing.size >= MAX_STORING) await Promise.race(this.#storing);
      // Another caller may have closed it meanwhile.
      if (this.#isFull()) this.#close();
    }
  }

  /** Makes all that was added durable, as far as it can be. Never throws: `has` tells what came of it. */
  async seal(): Promise<void> {
    if (this.#open.parts.size > 0) this.#close();
    while (this.#storing.size > 0) await Promise.all(this.#storing);
  }

  /**
   * Writes the list of segments, once nothing more is added. Never throws: without the list, a missing segment is still noticed
   * by their number.
   */
  async finish(): Promise<void> {
    await this.seal();
    const { storage, folder, epoch, onFailed } = this.#options;
    if (this.#segments.size === 0 || this.#listDigest !== undefined) return;
    const text = writeList(this.#segments);
    try {
      await storage.put(`${folder}/${listName(epoch)}`, Buffer.from(text));
      this.#listDigest = sha256(text);
    } catch (error) {
      onFailed(asUnavailable(error));
    }
  }

  #isFull(): boolean {
    return this.#open.lines.length >= MAX_LINES || this.#open.chars >= MAX_CHARS;
  }

  /** Adds a line to the segment that is open. @returns whether there was anything to add */
  #fill({ entityId, text, parts, since }: ArchivedLine): boolean {
    const fresh = [...parts].filter(([key, digest]) => !this.knows(key, digest));
    if (fresh.length === 0) return false;
    if (this.hasGivenUp) {
      // What is durable is not what there is now.
      for (const [key] of fresh) if (this.#digests.get(key) !== undefined) this.#digests.set(key, 0);
      return false;
    }
    for (const [key, digest] of fresh) {
      if (this.#changesTooFast(key)) continue;
      this.#pending.set(key, digest);
      this.#open.parts.set(key, { digest, entityId, since });
    }
    if (text !== '') this.#open.lines.push(text);
    this.#open.chars += text.length;
    return true;
  }

  /** Whether a part has changed again and again before it was durable. Then the archive does not count as having it. */
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

  #close(): void {
    const segment = this.#open;
    this.#open = newSegment();
    const stored = this.#store(segment, this.#number, this.#last).finally(() => this.#storing.delete(stored));
    this.#number += 1;
    this.#last = stored;
    this.#storing.add(stored);
  }

  /** @param before the segment before this one: what this one completes may be in it */
  async #store(segment: Segment, number: number, before: Promise<void>): Promise<void> {
    const { epoch, onFailed } = this.#options;
    let isStored = false;
    try {
      if (segment.lines.length > 0) await this.#put(segmentName({ epoch, number }), segment.lines);
      await before;
      this.#failedInARow = 0;
      isStored = true;
    } catch (error) {
      await before;
      this.#failed += 1;
      this.#failedInARow += 1;
      this.#failure = asUnavailable(error);
      onFailed(this.#failure);
    }
    for (const [key, { digest, entityId, since = this.#failed }] of segment.parts) {
      // A later version is on its way.
      if (this.#pending.get(key) !== digest) continue;
      this.#pending.delete(key);
      const isDurable = isStored && since === this.#failed;
      if (!isDurable && this.#digests.get(key) === undefined) continue;
      const isNew = this.#digests.set(key, isDurable ? digest : 0);
      if (key !== entityId) this.#entities.set(entityId, 1);
      else if (isNew) this.#wholes += 1;
    }
  }

  async #put(name: string, lines: readonly string[]): Promise<void> {
    const { storage, cipher, folder, about } = this.#options;
    if (!this.#isDescribed) await storage.put(`${folder}/${ABOUT}`, Buffer.from(about));
    this.#isDescribed = true;
    const path = `${folder}/${name}`;
    const bytes = await cipher.encrypt(await packLines(lines), path, this.#salt);
    await storage.put(path, bytes);
    this.#bytes += bytes.length;
    this.#segments.set(name, sha256(bytes));
  }
}

function newSegment(): Segment {
  return { lines: [], parts: new Map(), chars: 0 };
}

/** The object that says what an archive is. */
export const ABOUT = 'archive.json';

/** A line of a whole entity. @param text as the broker gave it */
export function wholeEntity(entityId: string, text: string): ArchivedLine {
  return { entityId, text, parts: new Map([[entityId, digestOf(text)]]) };
}

function asUnavailable(error: unknown): ArchiveUnavailableError {
  if (error instanceof ArchiveUnavailableError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new ArchiveUnavailableError(`A segment of the archive cannot be written: ${why}`, { cause: error });
}
