import { SCHEMA_LIMITS } from '../json-schema/limits.js';
import { RepositoryTooLargeError } from './errors.js';
import { isRead, isUrl, readPath } from './file-paths.js';

/** Limits of one import. */
export interface RepositoryLimits {
  /** Maximum size in bytes, as sent. */
  readonly packedBytes: number;
  /** Maximum size of the whole content in bytes, including files that are not read. */
  readonly unpackedBytes: number;
  /** Maximum number of files, and of folders. */
  readonly files: number;
}

export const MAX_FILES = 20_000;
const MAX_EXPANSION = 8;

/** Derives the limits from IMPORT_LIMIT_BYTES. */
export function limitsOf(packedBytes: number): RepositoryLimits {
  return { packedBytes, unpackedBytes: MAX_EXPANSION * packedBytes, files: MAX_FILES };
}

/** A file to read, as it was sent. */
export interface RepositoryFile {
  /** Path below the root of the repository, or the URL of a shared document. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface RefusedFile {
  readonly path: string;
  /** A full sentence. */
  readonly reason: string;
  /** The line at fault, starting at 1, if there is one. */
  readonly line?: number;
  /** The file is refused only if a model uses it, and ignored otherwise. */
  readonly onlyIfUsed?: true;
}

/** The files of an import, before their content is read. */
export interface Repository {
  /** In the order of their paths, without duplicates. */
  readonly files: readonly RepositoryFile[];
  readonly refused: readonly RefusedFile[];
  /** Number of files that are not JSON by name, or belong to tools. */
  readonly ignored: number;
}

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

/** Maximum size of a schema or shared document, in bytes. */
export const MAX_FILE_BYTES = SCHEMA_LIMITS.bytes;

/** Maximum length of a path in a report, in characters. */
const MAX_SHOWN = 300;

/**
 * Collects the entries of an archive or the parts of a form, within limits, and keeps the files that an import reads.
 */
export class RepositoryCollector {
  readonly #files = new Map<string, Uint8Array>();
  readonly #refused: RefusedFile[] = [];
  readonly #seen = new Set<string>();
  #entries = 0;
  #folders = 0;
  #bytes = 0;
  #ignored = 0;

  constructor(private readonly limits: RepositoryLimits) {}

  /**
   * Counts an entry and checks its path.
   *
   * @param name as sent
   * @param size in bytes, according to the archive
   * @returns the path if the content is needed
   * @throws RepositoryTooLargeError
   */
  enter(name: string, kind: EntryKind, size = 0): string | undefined {
    const { files } = this.limits;
    if (kind === 'folder') this.#folders += 1;
    else this.#entries += 1;
    if (this.#entries > files || this.#folders > files)
      throw new RepositoryTooLargeError(`It has more than ${files} files or folders.`);
    const read = readPath(name);
    if ('fault' in read) this.refuse(name, read.fault);
    if ('fault' in read || kind === 'folder' || read.path === '') return undefined;
    const { path } = read;
    if (kind === 'link') this.refuse(path, 'it is a link, and links are not followed');
    else if (kind === 'other') this.refuse(path, 'it is neither a file nor a folder');
    else if (!isRead(path)) this.#ignored += 1;
    else if (this.#isFirst(path)) {
      if (size <= MAX_FILE_BYTES) return path;
      this.#tooLarge(path);
    }
    return undefined;
  }

  /** Does the same as {@link enter} for a document with a URL. */
  enterUrl(url: string): string | undefined {
    this.#entries += 1;
    if (this.#entries > this.limits.files)
      throw new RepositoryTooLargeError(`It has more than ${this.limits.files} files.`);
    return this.#isFirst(url) ? url : undefined;
  }

  /** Whether no entry before had this path; otherwise refuses all of them. */
  #isFirst(path: string): boolean {
    const isFirst = !this.#seen.has(path);
    this.#seen.add(path);
    if (isFirst) return true;
    this.#files.delete(path);
    this.refuse(path, 'it occurs more than once');
    return false;
  }

  /** Counts the unpacked bytes of any entry. @throws RepositoryTooLargeError */
  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.limits.unpackedBytes)
      throw new RepositoryTooLargeError(
        `Unpacked, it has more than ${this.limits.unpackedBytes} bytes (${MAX_EXPANSION} times IMPORT_LIMIT_BYTES).`,
      );
  }

  /** Keeps the content of a path that `enter` returned. */
  keep(path: string, bytes: Uint8Array): void {
    if (bytes.length > MAX_FILE_BYTES) this.#tooLarge(path);
    else this.#files.set(path, bytes);
  }

  /** Refuses a path that `enter` returned, or a name. @param fault completes "It is refused: …" */
  refuse(name: string, fault: string, onlyIfUsed = false): void {
    const path = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
    const reason = `${fault[0]?.toUpperCase()}${fault.slice(1)}.`;
    this.#refused.push({ path, reason, ...(onlyIfUsed ? { onlyIfUsed } : {}) });
  }

  result(): Repository {
    const files = [...this.#files].map(([path, bytes]) => ({ path, bytes }));
    files.sort(byPath);
    return { files, refused: this.#refused, ignored: this.#ignored };
  }

  #tooLarge(path: string): void {
    this.refuse(path, `it has more than ${MAX_FILE_BYTES} bytes`, !isUrl(path));
  }
}

/** Compares paths by code units, regardless of the locale. */
export function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}
