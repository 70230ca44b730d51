import { access, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Item, ItemOutcome } from '../purge/index.js';
import { errorCode } from '../shared/errors.js';
import { makeFolders } from '../shared/make-folders.js';

/** Maximum size of one file in bytes: some five million ids. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** Maximum number of bytes that wait for a slow disk. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** No line is longer. */
const MAX_LINE_BYTES = 1024 * 1024;

const EXTENSION = '.ndjson';
const PURGE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where the ids of purges are recorded. */
export type IdLists = Pick<IdFiles, 'recorder' | 'read' | 'has' | 'remove' | 'sweep'>;

/**
 * The outcomes of the items of purges with `record=ids`: one file per purge, one JSON object per line. If an item has
 * several lines, the last one is valid.
 */
export class IdFiles {
  readonly #folder: string;

  /** @param folder created together with the first file, accessible to its owner only */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns a recorder that appends to what an earlier process wrote. */
  recorder(purge: string): IdRecorder {
    return new IdRecorder(() => this.#create(purge));
  }

  /** Reads the whole lines that are there now. @returns undefined if nothing was recorded, or the file was removed */
  async read(purge: string): Promise<Readable | undefined> {
    if (!PURGE_ID.test(purge)) return undefined;
    let file: FileHandle;
    try {
      file = await open(this.#pathOf(purge), 'r');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    try {
      const { whole } = await lengthOf(file);
      if (whole > 0) return file.createReadStream({ end: whole - 1 });
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return Readable.from([]);
  }

  /** Whether ids of this purge were recorded here. */
  async has(purge: string): Promise<boolean> {
    return access(this.#pathOf(purge)).then(
      () => true,
      () => false,
    );
  }

  /** Removes the ids of a purge. @returns whether there were any */
  async remove(purge: string): Promise<boolean> {
    if (!PURGE_ID.test(purge)) return false;
    try {
      await rm(this.#pathOf(purge));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /**
   * Removes the files of purges that are no longer kept.
   *
   * @param isKept gets the purge, and when its file was last written, in milliseconds
   * @throws the error of a file that cannot be removed, after all others were tried
   */
  async sweep(isKept: (purge: string, writtenMs: number) => Promise<boolean>): Promise<void> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const failures: unknown[] = [];
    for (const name of names) {
      const purge = name.slice(0, -EXTENSION.length);
      if (!name.endsWith(EXTENSION) || !PURGE_ID.test(purge)) continue;
      try {
        const { mtimeMs } = await stat(this.#pathOf(purge));
        if (!(await isKept(purge, mtimeMs))) await this.remove(purge);
      } catch (error) {
        if (!isMissing(error)) failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #create(purge: string): Promise<FileHandle> {
    makeFolders(this.#folder, 0o700);
    const file = await open(this.#pathOf(purge), 'a+', 0o600);
    try {
      await removeTornLine(file);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  #pathOf(purge: string): string {
    return join(this.#folder, `${purge}${EXTENSION}`);
  }
}

/** Writes the lines of one purge in the background. A slow or full disk loses lines, but never stops the purge. */
export class IdRecorder {
  readonly #open: () => Promise<FileHandle>;
  readonly #closes: boolean;
  #lines: string[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #lost = 0;
  #failure: unknown;

  /**
   * @param open called before the first line is written
   * @param options `closes`: whether the file is closed after the last line
   */
  constructor(open: () => Promise<FileHandle>, { closes = true } = {}) {
    this.#open = open;
    this.#closes = closes;
  }

  note({ entityId, attribute, datasetId, instanceId }: Item, outcome: ItemOutcome): void {
    const line = `${JSON.stringify({ entityId, attribute, datasetId, instanceId, outcome })}\n`;
    const bytes = Buffer.byteLength(line);
    const isTooMuch = this.#bytes + bytes > MAX_FILE_BYTES || this.#waitingBytes + bytes > MAX_WAITING_BYTES;
    if (isTooMuch || this.#failure !== undefined) {
      this.#lost += 1;
      return;
    }
    this.#bytes += bytes;
    this.#waitingBytes += bytes;
    this.#lines.push(line);
    this.#writing ??= this.#writeAll();
  }

  /**
   * Writes the remaining lines.
   *
   * @returns a sentence about missing lines, if there are any and it was not returned before
   */
  async close(): Promise<string | undefined> {
    await this.#writing;
    if (this.#closes) await this.#file?.close().catch((error: unknown) => (this.#failure ??= error));
    this.#file = undefined;
    const [failure, lost] = [this.#failure, this.#lost];
    this.#lost = 0;
    this.#failure = undefined;
    if (failure === undefined && lost === 0) return undefined;
    const why = failure === undefined ? 'there are too many' : 'they could not be written';
    return `The recorded ids are incomplete: ${why}.`;
  }

  /** Opens the file; its existing content counts towards the maximum size. */
  async #opened(): Promise<FileHandle> {
    const file = (this.#file = await this.#open());
    this.#bytes = (await file.stat()).size + this.#waitingBytes;
    if (this.#bytes > MAX_FILE_BYTES) {
      this.#lost += this.#lines.length;
      this.#lines = [];
      this.#waitingBytes = 0;
    }
    return file;
  }

  async #writeAll(): Promise<void> {
    // Lines of the same turn of the event loop are written together.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      const file = this.#file ?? (await this.#opened());
      while (this.#lines.length > 0) {
        const text = this.#lines.join('');
        this.#lines = [];
        await file.appendFile(text);
        this.#waitingBytes -= Buffer.byteLength(text);
      }
    } catch (error) {
      this.#failure ??= error;
      this.#lines = [];
      this.#waitingBytes = 0;
    }
    this.#writing = undefined;
  }
}

/** Removes a last line that is not whole: the next line would be appended to it. */
export async function removeTornLine(file: FileHandle): Promise<void> {
  const { size, whole } = await lengthOf(file);
  if (whole < size) await file.truncate(whole);
}

/**
 * Returns the size of a file, and how much of it are whole lines: after a crash, on a full disk, or while it is being
 * written, the last line may not be whole.
 */
export async function lengthOf(file: FileHandle): Promise<{ readonly size: number; readonly whole: number }> {
  const { size } = await file.stat();
  const length = Math.min(size, MAX_LINE_BYTES);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
  const end = buffer.lastIndexOf('\n') + 1;
  return { size, whole: end > 0 || length === size ? size - length + end : size };
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
}
