import { randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type IdLists, IdRecorder, lengthOf, removeTornLine } from './id-files.js';

const CHUNK_BYTES = 64 * 1024;

/**
 * The recorded ids of a process that keeps nothing: in temporary files that lose their names as soon as they are open, so that
 * nothing is left of them however the process ends. The file of a purge stays open until it is removed.
 */
export class NamelessIdFiles implements IdLists {
  readonly #files = new Map<string, Promise<FileHandle>>();

  recorder(purge: string): IdRecorder {
    return new IdRecorder(() => this.#openOnce(purge), { closes: false });
  }

  async read(purge: string): Promise<Readable | undefined> {
    const file = await this.#files.get(purge);
    return file && Readable.from(chunksOf(file, (await lengthOf(file)).whole), { objectMode: false });
  }

  async has(purge: string): Promise<boolean> {
    return this.#files.has(purge);
  }

  async remove(purge: string): Promise<boolean> {
    const file = this.#files.get(purge);
    if (file === undefined) return false;
    this.#files.delete(purge);
    await (await file).close();
    return true;
  }

  /** Removes the files of purges that are no longer kept. */
  async sweep(isKept: (purge: string, writtenMs: number) => Promise<boolean>): Promise<void> {
    for (const purge of this.#files.keys()) if (!(await isKept(purge, 0))) await this.remove(purge);
  }

  /** Removes all files. */
  async close(): Promise<void> {
    for (const purge of this.#files.keys()) await this.remove(purge);
  }

  async #openOnce(purge: string): Promise<FileHandle> {
    const opening = this.#files.get(purge) ?? openNameless();
    this.#files.set(purge, opening);
    try {
      const file = await opening;
      await removeTornLine(file);
      return file;
    } catch (error) {
      this.#files.delete(purge);
      throw error;
    }
  }
}

async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `ngsi-ld-gateway-${randomUUID()}`);
  const file = await open(path, 'ax+', 0o600);
  await rm(path);
  return file;
}

/** Reads the beginning of a file that stays open. */
async function* chunksOf(file: FileHandle, length: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < length;) {
    const size = Math.min(CHUNK_BYTES, length - at);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
